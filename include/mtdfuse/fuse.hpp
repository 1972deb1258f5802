// The room `fuse`: the front end. libfuse's low-level requests in, one reply per request out; the
// wall where every Error and every exception becomes an errno; invalidation of the kernel's pages
// before an erase is answered. Handlers hold no lock while replying.
#pragma once

#include <functional>
#include <memory>

#include <mtdfuse/tree.hpp>

namespace mtdfuse::fuse {

struct MountOptions {
    std::string mount_point; // absolute
    std::string source;      // what mount(8) shows: the image's path or "none"
    bool allow_other = false;
    bool debug = false;                    // libfuse's own trace on stderr
    bool single_thread = false;            // -s
    std::vector<std::string> kernel_words; // further words for the kernel: noatime, noexec, ...
};

// A mount. The caller serves it from one thread; stop() may come from any.
class Session {
public:
    // Mounts. The kernel's first request is answered by serve(). Errors: what mount(2) or
    // fusermount3 said, in words.
    [[nodiscard]] static Result<std::unique_ptr<Session>>
    mount(const tree::Tree& tree, const MountOptions& options, Log& log);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    // Unmounts if serve() was ended by stop(); calls still waiting get ENOTCONN.
    ~Session();

    // Answers requests until the file system is unmounted or stop() is called. `on_ready` is called
    // once, when the kernel's INIT has been answered: from then on the mount answers.
    [[nodiscard]] Status serve(const std::function<void()>& on_ready);
    void stop();

    // requests, refused requests, invalidations, open handles.
    void collect_metrics(std::vector<Metric>& into) const;

private:
    explicit Session(std::unique_ptr<class SessionState> state);
    std::unique_ptr<class SessionState> state_;
};

} // namespace mtdfuse::fuse
