// Mount, serve, stop, unmount.
//
// The order of the end is what keeps it from hanging: first no invalidation may be under way (it
// may wait for a worker), then the workers leave, then the notifier answers what is left, then the
// connection is closed, which wakes every caller. The mutex guards ending_ and failure_.

#include <mtdfuse/fuse.hpp>

#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include "context.hpp"
#include "limited_log.hpp"
#include "mount_words.hpp"
#include "workers.hpp"

namespace mtdfuse::fuse {

namespace {

// More than the requests that can wait for each other: only an invalidation waits for a worker,
// and it waits in the notifier.
constexpr unsigned kWorkers = 10;

struct DestroySession {
    void operator()(fuse_session* session) const { fuse_session_destroy(session); }
};
using SessionHandle = std::unique_ptr<fuse_session, DestroySession>;

fuse_lowlevel_ops operations() {
    fuse_lowlevel_ops table{};
    table.init = [](void*, fuse_conn_info* connection) { InitReply::negotiate(*connection); };
    add_directory_operations(table);
    add_file_operations(table);
    add_refusals(table);
    return table;
}

ssize_t send_to_kernel(int fd, struct iovec* parts, int count, void* context) {
    return static_cast<Context*>(context)->init_reply.send(fd, parts, count);
}

ssize_t receive_from_kernel(int fd, void* buffer, std::size_t length_bytes, void*) {
    return read(fd, buffer, length_bytes);
}

} // namespace

class SessionState {
public:
    SessionState(const tree::Tree& tree, const MountOptions& options, Log& log)
        : log_(log, clock_), context_(tree, log_), mount_point_(options.mount_point),
          workers_(options.single_thread ? 1 : kWorkers) {}
    SessionState(const SessionState&) = delete;
    SessionState& operator=(const SessionState&) = delete;
    ~SessionState();

    Status mount(const MountOptions& options);
    Status serve(const std::function<void()>& on_ready);
    void stop();
    void collect_metrics(std::vector<Metric>& into) const;

private:
    void work(bool until_init);
    void wait_until(const std::function<bool()>& condition);
    void end(int number);
    void invalidate(const mtd::Device& device);

    const SteadyClock clock_;
    LimitedLog log_;
    Context context_;
    const std::string mount_point_;
    const unsigned workers_;
    SessionHandle session_;
    bool mounted_ = false;

    std::mutex mutex_;
    std::condition_variable changed_;
    bool ending_ = false;
    int failure_ = 0; // errno that ended a worker
};

SessionState::~SessionState() {
    if (mounted_) {
        fuse_session_unmount(session_.get());
    }
}

Status SessionState::mount(const MountOptions& options) {
    std::string program = "mtdfuse";
    std::string option = "-o";
    std::string words = mount_words(options);
    char* arguments[] = {program.data(), option.data(), words.data(), nullptr};
    fuse_args args = {3, arguments, 0};
    const fuse_lowlevel_ops table = operations();
    session_.reset(fuse_session_new(&args, &table, sizeof table, &context_));
    fuse_opt_free_args(&args);
    if (!session_) {
        return fail(EINVAL, fmt::format("the mount options are refused: {}", words));
    }
    context_.session = session_.get();
    if (access(options.mount_point.c_str(), F_OK) != 0) {
        return fail_errno(fmt::format("cannot mount on {}{}", options.mount_point,
                                      errno == ENOTCONN ? " (a daemon died there: clear it with "
                                                          "fusermount3 -u or umount)"
                                                        : ""));
    }
    errno = 0;
    if (fuse_session_mount(session_.get(), options.mount_point.c_str()) != 0) {
        const int number = errno != 0 ? errno : EIO;
        return fail(number, fmt::format("cannot mount on {}: {}", options.mount_point,
                                        geteuid() == 0 ? errno_text(number)
                                                       : "fusermount3 refused, see its message"));
    }
    mounted_ = true;
    const fuse_custom_io io = {send_to_kernel, receive_from_kernel, nullptr, nullptr};
    if (const int result =
            fuse_session_custom_io(session_.get(), &io, fuse_session_fd(session_.get()));
        result != 0) {
        return fail(-result, "libfuse refused the connection to the kernel");
    }
    return {};
}

Status SessionState::serve(const std::function<void()>& on_ready) {
    context_.notifier =
        std::make_unique<Notifier>([this](const mtd::Device& device) { invalidate(device); });
    {
        // libfuse settles its buffer size while it answers FUSE_INIT: until then one thread reads.
        const Workers first(1, [this] { work(true); });
        wait_until([this] { return ending_ || context_.init_reply.answered(); });
        if (!context_.init_reply.answered()) {
            fuse_session_exit(session_.get());
        }
    }
    if (context_.init_reply.answered()) {
        const Workers workers(workers_, [this] { work(false); });
        on_ready();
        wait_until([this] { return ending_; });
        context_.notifier->stop_invalidating();
        fuse_session_exit(session_.get());
    }
    context_.notifier.reset();
    const std::lock_guard lock(mutex_);
    if (failure_ != 0) {
        return fail(failure_, fmt::format("the connection of {} to the kernel failed: {}",
                                          mount_point_, errno_text(failure_)));
    }
    return {};
}

void SessionState::wait_until(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, condition);
}

void SessionState::work(bool until_init) {
    fuse_buf buffer{};
    while (!fuse_session_exited(session_.get()) &&
           !(until_init && context_.init_reply.answered())) {
        const int received = fuse_session_receive_buf(session_.get(), &buffer);
        if (received > 0) {
            fuse_session_process_buf(session_.get(), &buffer);
        } else if (received != -EINTR && received != -EAGAIN) {
            end(-received); // 0: unmounted, or told to leave
            break;
        }
    }
    std::free(buffer.mem);
    const std::lock_guard lock(mutex_); // else serve() could miss that INIT was answered
    changed_.notify_all();
}

void SessionState::end(int number) {
    {
        const std::lock_guard lock(mutex_);
        failure_ = failure_ != 0 ? failure_ : number;
        ending_ = true;
    }
    changed_.notify_all();
}

void SessionState::stop() {
    end(0);
}

void SessionState::invalidate(const mtd::Device& device) {
    context_.counters.invalidations.add();
    for (const tree::Inode inode : context_.tree.nodes_of(device)) {
        const int result = fuse_lowlevel_notify_inval_inode(session_.get(), inode, 0, 0);
        // ENOENT: the kernel knows no such inode now, so it has no pages of it. ENODEV: unmounted.
        if (result != 0 && result != -ENOENT && result != -ENODEV) {
            context_.log.warning(fmt::format("cached pages of mtd{} may be stale: {}",
                                             device.index(), errno_text(-result)));
        }
    }
}

void SessionState::collect_metrics(std::vector<Metric>& into) const {
    const Counters& counters = context_.counters;
    into.push_back({"requests_total", "Requests of the kernel.", MetricKind::counter,
                    counters.requests.value()});
    into.push_back({"refused_requests_total", "Requests answered with an error.",
                    MetricKind::counter, counters.refused.value()});
    into.push_back({"invalidations_total", "Times the kernel was told to drop cached pages.",
                    MetricKind::counter, counters.invalidations.value()});
    into.push_back(
        {"open_handles", "Open files of the mount.", MetricKind::gauge, context_.handles.count()});
}

Result<std::unique_ptr<Session>> Session::mount(const tree::Tree& tree, const MountOptions& options,
                                                Log& log) {
    auto state = std::make_unique<SessionState>(tree, options, log);
    if (const Status mounted = state->mount(options); !mounted) {
        return tl::unexpected(mounted.error());
    }
    return std::unique_ptr<Session>(new Session(std::move(state)));
}

Session::Session(std::unique_ptr<SessionState> state) : state_(std::move(state)) {}

Session::~Session() = default;

Status Session::serve(const std::function<void()>& on_ready) {
    return state_->serve(on_ready);
}

void Session::stop() {
    state_->stop();
}

void Session::collect_metrics(std::vector<Metric>& into) const {
    state_->collect_metrics(into);
}

} // namespace mtdfuse::fuse
