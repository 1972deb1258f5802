#include "mount_point.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace mtdfuse::daemon {

namespace {

// A daemon that is just ending closes its connection to the kernel a moment before its mount goes:
// what looks stale may be gone at once, and only what stays is.
int stat_errno(const std::string& path, struct stat& found) {
    constexpr auto kPatience = std::chrono::seconds(1);
    constexpr auto kInterval = std::chrono::milliseconds(20);
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (::stat(path.c_str(), &found) != 0) {
        const int number = errno;
        const bool cut_off = number == ENOTCONN || number == ECONNABORTED;
        if (!cut_off || std::chrono::steady_clock::now() >= deadline)
            return number;
        std::this_thread::sleep_for(kInterval);
    }
    return 0;
}

Status check_directory(const std::string& path) {
    struct stat found = {};
    if (const int number = stat_errno(path, found); number != 0) {
        if (number == ENOENT)
            return fail(number, fmt::format("mount point '{}' does not exist: make it with mkdir "
                                            "-p '{}'",
                                            path, path));
        if (number == ENOTCONN || number == ECONNABORTED)
            return fail(number, fmt::format("mount point '{}' is a stale mount, its daemon is "
                                            "gone: clear it with fusermount3 -u '{}'",
                                            path, path));
        return fail(number, fmt::format("mount point '{}' cannot be reached: {}", path,
                                        errno_text(number)));
    }
    if (!S_ISDIR(found.st_mode))
        return fail(ENOTDIR, fmt::format("mount point '{}' is no directory: give an empty "
                                         "directory",
                                         path));
    return {};
}

Status check_not_ours(const std::string& real) {
    const auto mounts = read_mountinfo();
    if (!mounts)
        return tl::make_unexpected(mounts.error());
    for (const MountEntry& mount : *mounts) {
        if (mount.mount_point == real && mount.fs_type == "fuse.mtdfuse")
            return fail(EBUSY, fmt::format("mount point '{}' is busy, it shows the device over "
                                           "'{}' already: unmount it with fusermount3 -u '{}', or "
                                           "give another directory",
                                           real, mount.source, real));
    }
    return {};
}

Status check_empty(const std::string& real) {
    std::error_code error;
    const std::filesystem::directory_iterator first(real, error);
    if (error)
        return fail(error.value(), fmt::format("mount point '{}' cannot be listed: {}", real,
                                               errno_text(error.value())));
    if (first != std::filesystem::directory_iterator())
        return fail(ENOTEMPTY, fmt::format("mount point '{}' is not empty, it holds '{}': give an "
                                           "empty directory",
                                           real, first->path().filename().string()));
    if (::geteuid() != 0 && ::access(real.c_str(), W_OK) != 0)
        return fail(EACCES, fmt::format("mount point '{}' cannot be written by you, which mounting "
                                        "needs: give a directory of your own",
                                        real));
    return {};
}

} // namespace

Result<std::string> check_mount_point(const std::string& path) {
    if (auto directory = check_directory(path); !directory)
        return tl::make_unexpected(directory.error());
    const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr),
                                                          [](void* text) { ::free(text); });
    if (!resolved)
        return fail_errno(fmt::format("mount point '{}' cannot be resolved", path));
    std::string real = resolved.get();
    if (auto free = check_not_ours(real); !free)
        return tl::make_unexpected(free.error());
    if (auto empty = check_empty(real); !empty)
        return tl::make_unexpected(empty.error());
    return real;
}

Status check_fuse_device() {
    const UniqueFd fuse(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
    if (fuse)
        return {};
    const int number = errno;
    if (number == ENOENT || number == ENODEV || number == ENXIO)
        return fail(number, "/dev/fuse is missing: load the module with modprobe fuse, or start "
                            "the container with --device /dev/fuse --cap-add SYS_ADMIN");
    if (number == EACCES || number == EPERM)
        return fail(number, "/dev/fuse may not be opened: give read and write permission on it, or "
                            "start the container with --device /dev/fuse --cap-add SYS_ADMIN");
    return fail(number, fmt::format("/dev/fuse cannot be opened: {}", errno_text(number)));
}

void detach_mount(const std::string& mount_point) {
    if (::umount2(mount_point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0 || errno != EPERM)
        return;
    std::string program = "fusermount3", flags = "-uz", end = "--", path = mount_point;
    std::array<char*, 5> arguments = {program.data(), flags.data(), end.data(), path.data(),
                                      nullptr};
    pid_t child = 0;
    if (::posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ) == 0)
        ::waitpid(child, nullptr, 0);
}

} // namespace mtdfuse::daemon
