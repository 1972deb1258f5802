#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include "image_tool.hpp"

namespace mtdfuse::tools {

namespace {

constexpr std::size_t kChunkBytes = kMiB;

// Holds SIGINT, SIGTERM and SIGHUP back while it lives, so that a half-made file can be removed;
// taken() tells of one that came. Ends with the mask of before.
class HeldSignals {
public:
    HeldSignals() {
        ::sigemptyset(&set_);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP})
            ::sigaddset(&set_, signal);
        ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
    }
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;
    ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

    [[nodiscard]] bool taken() const {
        const timespec at_once = {0, 0};
        return ::sigtimedwait(&set_, nullptr, &at_once) > 0;
    }

private:
    sigset_t set_ = {}, before_ = {};
};

// Before anything is written: a mistyped size would else fill the disk before it fails.
Status check_free_space(int fd, const ImageCommand& command) {
    struct statvfs system = {};
    if (::fstatvfs(fd, &system) != 0)
        return fail_errno(fmt::format("image '{}' was not made: its file system cannot be asked "
                                      "for free space",
                                      command.path));
    const std::uint64_t free_bytes = std::uint64_t{system.f_bavail} * system.f_frsize;
    if (*command.size_bytes > free_bytes)
        return fail(ENOSPC, fmt::format("image '{}' was not made: --size {} needs {} bytes, its "
                                        "file system has {} free",
                                        command.path, format_size(*command.size_bytes),
                                        *command.size_bytes, free_bytes));
    return {};
}

Status fill(int fd, const ImageCommand& command, const HeldSignals& signals,
            const Progress& progress) {
    const std::vector<std::byte> erased(kChunkBytes, std::byte{0xFF});
    const std::uint64_t size_bytes = *command.size_bytes;
    std::uint64_t done_bytes = 0;
    while (done_bytes < size_bytes) {
        if (signals.taken())
            return fail(EINTR,
                        fmt::format("image '{}' was not made: ended by a signal", command.path));
        const std::size_t wanted = std::min<std::uint64_t>(kChunkBytes, size_bytes - done_bytes);
        const ssize_t written = ::write(fd, erased.data(), wanted);
        if (written < 0 && errno != EINTR)
            return fail_errno(fmt::format("image '{}' was not made, writing stopped after {} of {} "
                                          "bytes",
                                          command.path, done_bytes, size_bytes));
        done_bytes += written > 0 ? static_cast<std::uint64_t>(written) : 0;
        progress(done_bytes, size_bytes);
    }
    if (::fsync(fd) != 0)
        return fail_errno(fmt::format("image '{}' was not made, it cannot be put on stable storage",
                                      command.path));
    return {};
}

} // namespace

Status create_image(const ImageCommand& command, const Progress& progress) {
    constexpr mode_t kPermissions = 0666; // less the umask
    const HeldSignals signals;
    const UniqueFd fd(
        ::open(command.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kPermissions));
    if (!fd && errno == EEXIST)
        return fail(EEXIST, fmt::format("'{}' exists and is left alone: give a new path, or remove "
                                        "it first",
                                        command.path));
    if (!fd && errno == ENOENT)
        return fail(ENOENT,
                    fmt::format("'{}' cannot be made: its directory does not exist", command.path));
    if (!fd)
        return fail_errno(fmt::format("'{}' cannot be made", command.path));
    Status filled = check_free_space(fd.get(), command);
    if (filled)
        filled = fill(fd.get(), command, signals, progress);
    if (!filled)
        ::unlink(command.path.c_str());
    return filled;
}

} // namespace mtdfuse::tools
