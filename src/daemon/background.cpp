#include "background.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <mtdfuse/daemon.hpp>

namespace mtdfuse::daemon {

namespace {

// Waits until the child says that the mount answers, or has ended.
int wait_for(pid_t child, const UniqueFd& from_child) {
    char ready = 0;
    ssize_t got = -1;
    do {
        got = ::read(from_child.get(), &ready, 1);
    } while (got < 0 && errno == EINTR);
    if (got == 1)
        return kExitSuccess;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    if (WIFSIGNALED(status))
        fmt::print(stderr,
                   "mtdfuse: the daemon was killed by signal {} before the mount answered\n",
                   WTERMSIG(status));
    return kExitFailure;
}

} // namespace

Result<Background> Background::fork_off() {
    std::array<int, 2> ends = {-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return fail_errno("a pipe for the start in the background cannot be made");
    UniqueFd from_child(ends[0]), to_parent(ends[1]);
    const pid_t child = ::fork();
    if (child < 0)
        return fail_errno("the daemon cannot be forked into the background (try -f)");
    Background background;
    if (child == 0) {
        background.to_parent_ = std::move(to_parent);
        return background;
    }
    to_parent.reset();
    background.parent_status_ = wait_for(child, from_child);
    return background;
}

Status Background::ready() const {
    if (!to_parent_)
        return {};
    const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null)
        return fail_errno("/dev/null cannot be opened");
    if (::setsid() < 0 || ::chdir("/") != 0)
        return fail_errno("the daemon cannot leave its session");
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::dup2(null.get(), fd) < 0)
            return fail_errno("the daemon cannot leave its terminal");
    }
    const char ready = 1;
    // A parent that was killed meanwhile is the signal watch's concern.
    [[maybe_unused]] const ssize_t told = ::write(to_parent_.get(), &ready, 1);
    return {};
}

} // namespace mtdfuse::daemon
