// Where the daemon's messages go: the terminal until it detaches (or for good in the foreground),
// and beside it a file, else syslog.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <mtdfuse/base.hpp>

namespace spdlog {
class logger;
}

namespace mtdfuse::daemon {

struct LogOptions {
    bool foreground = false;
    bool debug = false;
    std::optional<std::string> file;
    std::string syslog_socket = "/dev/log";
};

// Thread-safe. The terminal gets "mtdfuse: MESSAGE"; in the background warnings and errors only.
// Detaching needs no word to the log: stderr is then /dev/null.
class DaemonLog final : public Log {
public:
    // The errno of a log file that cannot be opened. `terminal` is borrowed, normally stderr.
    [[nodiscard]] static Result<std::unique_ptr<DaemonLog>> open(const LogOptions& options,
                                                                 int terminal);
    ~DaemonLog() override;

    void write(Severity severity, std::string_view message) override;

private:
    explicit DaemonLog(std::unique_ptr<spdlog::logger> logger);
    std::unique_ptr<spdlog::logger> logger_;
};

} // namespace mtdfuse::daemon
