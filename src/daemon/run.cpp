// The program from the command line to the exit status. The order of work is the order of
// run_device(); signals are watched from before the image is touched until after it is written
// back.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "assembly.hpp"
#include "background.hpp"
#include "daemon_log.hpp"
#include "mount_point.hpp"
#include "signals.hpp"

namespace mtdfuse::daemon {

namespace {

int complain(int status, std::string_view sentence) {
    fmt::print(stderr, "mtdfuse: {}\n", sentence);
    if (status == kExitUsage)
        fmt::print(stderr, "try 'mtdfuse --help'\n");
    return status;
}

// A descriptor that opens as 0, 1 or 2 would be mistaken for the terminal later.
void occupy_standard_streams() {
    int fd = 0;
    do {
        fd = ::open("/dev/null", O_RDWR); // without O_CLOEXEC: children inherit them
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        ::close(fd);
}

// A log that lay in the image would destroy it; one in the mount point would be hidden by the
// mount, and keep the next start from an empty directory.
Status check_log_place(const Options& options, const std::string& mount_point) {
    namespace fs = std::filesystem;
    if (!options.log_file)
        return {};
    std::error_code ignored;
    if (fs::equivalent(*options.log_file, options.image, ignored))
        return fail(EINVAL, fmt::format("--log '{}' is the image itself: give another file",
                                        *options.log_file));
    const fs::path place = fs::weakly_canonical(fs::absolute(*options.log_file, ignored), ignored);
    const auto [end, unused] = std::mismatch(mount_point.begin(), mount_point.end(),
                                             place.native().begin(), place.native().end());
    if (end == mount_point.end() && place.native().substr(mount_point.size()).starts_with('/'))
        return fail(EINVAL, fmt::format("--log '{}' lies in the mount point '{}', which would "
                                        "hide it: give a place outside",
                                        *options.log_file, mount_point));
    return {};
}

// One daemon, from its log to its end.
class Run {
public:
    Run(const Options& options, std::string mount_point, const Background& background, Log& log)
        : options_(options), background_(background), log_(log),
          mount_point_(std::move(mount_point)), ending_(log, effects()) {}

    Status run();

private:
    EndingEffects effects();
    Status mount();
    Status serve();
    void ready();

    const Options& options_;
    const Background& background_;
    Log& log_;
    SteadyClock clock_;
    const std::string mount_point_;
    bool answered_ = false; // the mount, and the parent knows
    Ending ending_;
    // Destroyed in reverse: the mount, then the watch, then what both look at.
    std::unique_ptr<Assembly> assembly_;
    std::unique_ptr<SignalWatch> watch_;
    std::unique_ptr<fuse::Session> session_;
};

EndingEffects Run::effects() {
    return {[this] { session_->stop(); }, [this] { return assembly_->cache->dirty_bytes(); },
            [this] { detach_mount(mount_point_); }, [] { ::_exit(kExitFailure); }};
}

Status Run::run() {
    auto watch = SignalWatch::start(ending_, log_, clock_, background_.parent_fd());
    if (!watch)
        return tl::make_unexpected(watch.error());
    watch_ = std::move(*watch);
    if (auto fuse = check_fuse_device(); !fuse)
        return fuse;
    auto assembly = Assembly::build(options_, log_);
    if (!assembly)
        return tl::make_unexpected(assembly.error());
    assembly_ = std::move(*assembly);
    if (auto mounted = mount(); !mounted)
        return mounted;
    return serve();
}

Status Run::mount() {
    ending_.on(Event::mount_begins);
    fuse::MountOptions mount_options;
    mount_options.mount_point = mount_point_;
    mount_options.source = assembly_->source;
    mount_options.allow_other = options_.allow_other;
    mount_options.debug = options_.debug;
    mount_options.single_thread = options_.single_thread;
    mount_options.kernel_words = options_.kernel_words;
    auto session = fuse::Session::mount(*assembly_->tree, mount_options, log_);
    if (!session)
        return tl::make_unexpected(session.error());
    session_ = std::move(*session);
    assembly_->session = session_.get();
    return {};
}

void Run::ready() {
    log_.info(fmt::format("{}, on {}", assembly_->description(), mount_point_));
    watch_->release_parent();
    if (auto detached = background_.ready(); !detached) {
        log_.error(detached.error().context);
        session_->stop();
        return;
    }
    answered_ = true;
}

Status Run::serve() {
    ending_.on(Event::mounted);
    Status served = session_->serve([this] { ready(); });
    ending_.on(Event::served);
    // No request can come any more. Written back before it is unmounted: who sees the mount gone
    // finds everything in the image.
    Status synced = assembly_->sync_for_good();
    ending_.on(Event::unmount_begins);
    assembly_->session = nullptr;
    session_.reset();
    if (!synced) {
        if (!served)
            log_.error(served.error().context);
        return synced;
    }
    if (served && !answered_)
        return fail(EINTR, "ended before the mount answered");
    return served;
}

int run_daemon(const Options& options) {
    occupy_standard_streams();
    Background background;
    if (!options.foreground) {
        auto forked = Background::fork_off();
        if (!forked)
            return complain(kExitFailure, forked.error().context);
        background = std::move(*forked);
        if (const auto status = background.parent_status())
            return *status;
    }
    auto mount_point = check_mount_point(options.mount_point);
    if (!mount_point)
        return complain(kExitFailure, mount_point.error().context);
    if (auto place = check_log_place(options, *mount_point); !place)
        return complain(kExitFailure, place.error().context);
    block_signals();
    LogOptions log_options;
    log_options.foreground = options.foreground;
    log_options.debug = options.debug;
    log_options.file = options.log_file;
    const auto log = DaemonLog::open(log_options, STDERR_FILENO);
    if (!log)
        return complain(kExitFailure, log.error().context);
    try {
        Run run(options, std::move(*mount_point), background, **log);
        if (auto done = run.run(); !done) {
            (*log)->error(done.error().context);
            return kExitFailure;
        }
    } catch (const std::bad_alloc&) {
        (*log)->error("out of memory");
        return kExitFailure;
    } catch (const std::exception& unexpected) {
        (*log)->error(fmt::format("ended by an unexpected error: {}", unexpected.what()));
        return kExitFailure;
    }
    return kExitSuccess;
}

} // namespace

int run(const std::vector<std::string>& arguments) {
    try {
        const auto line = parse_command_line(arguments);
        if (!line)
            return complain(kExitUsage, line.error().context);
        if (line->options)
            return run_daemon(*line->options);
        if (std::fputs(line->text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
            return complain(kExitFailure, "standard output cannot be written");
        return kExitSuccess;
    } catch (const std::exception& unexpected) {
        return complain(kExitFailure, unexpected.what());
    }
}

} // namespace mtdfuse::daemon
