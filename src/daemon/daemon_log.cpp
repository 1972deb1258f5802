#include "daemon_log.hpp"

#include <cerrno>
#include <mutex>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/syslog_sink.h>

namespace mtdfuse::daemon {

namespace {

// One write(2) per line, so that lines of several daemons in one file never mix. spdlog's own file
// sink makes missing directories, which would hide a mistyped path.
class FdSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit FdSink(int borrowed) : fd_(borrowed) {}
    explicit FdSink(UniqueFd owned) : owned_(std::move(owned)), fd_(owned_.get()) {}

private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        // A log that cannot be written must not stop the device; there is nowhere to say so.
        [[maybe_unused]] const ssize_t written = ::write(fd_, line.data(), line.size());
    }
    void flush_() override {}

    const UniqueFd owned_;
    const int fd_;
};

constexpr spdlog::level::level_enum level_of(Severity severity) {
    switch (severity) {
    case Severity::debug:
        return spdlog::level::debug;
    case Severity::info:
        return spdlog::level::info;
    case Severity::warning:
        return spdlog::level::warn;
    case Severity::error:
        break;
    }
    return spdlog::level::err;
}

Result<spdlog::sink_ptr> open_file_sink(const std::string& path) {
    constexpr mode_t kPermissions = 0640;
    // Not blocking, or a FIFO without a reader would hold up the start for ever.
    UniqueFd fd(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, kPermissions));
    if (!fd)
        return fail_errno(fmt::format("log file '{}' cannot be opened for appending", path));
    struct stat found = {};
    if (::fstat(fd.get(), &found) != 0)
        return fail_errno(fmt::format("log file '{}' cannot be looked at", path));
    if (!S_ISREG(found.st_mode) && !S_ISCHR(found.st_mode))
        return fail(EINVAL, fmt::format("log file '{}' is neither a regular file nor a character "
                                        "device: give a file for --log",
                                        path));
    auto sink = std::make_shared<FdSink>(std::move(fd));
    sink->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z mtdfuse[%P] %l: %v");
    return sink;
}

} // namespace

DaemonLog::DaemonLog(std::unique_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {}
DaemonLog::~DaemonLog() = default;

Result<std::unique_ptr<DaemonLog>> DaemonLog::open(const LogOptions& options, int terminal) {
    std::vector<spdlog::sink_ptr> sinks = {std::make_shared<FdSink>(terminal)};
    sinks[0]->set_pattern("mtdfuse: %v");
    sinks[0]->set_level(options.foreground ? spdlog::level::trace : spdlog::level::warn);
    bool silent = false;
    if (options.file) {
        auto file = open_file_sink(*options.file);
        if (!file)
            return tl::make_unexpected(file.error());
        sinks.push_back(std::move(*file));
    } else if (!options.foreground) {
        silent = ::access(options.syslog_socket.c_str(), W_OK) != 0;
        if (!silent)
            sinks.push_back(std::make_shared<spdlog::sinks::syslog_sink_mt>("mtdfuse", LOG_PID,
                                                                            LOG_DAEMON, false));
    }
    auto logger = std::make_unique<spdlog::logger>("mtdfuse", sinks.begin(), sinks.end());
    logger->set_level(options.debug ? spdlog::level::debug : spdlog::level::info);
    std::unique_ptr<DaemonLog> log(new DaemonLog(std::move(logger)));
    if (silent)
        log->warning(fmt::format("there is no {} and no --log: once in the background, refusals "
                                 "stand only in ctl/mtd0/last_error and counters in metrics",
                                 options.syslog_socket));
    return log;
}

void DaemonLog::write(Severity severity, std::string_view message) {
    logger_->log(level_of(severity), spdlog::string_view_t(message.data(), message.size()));
}

} // namespace mtdfuse::daemon
