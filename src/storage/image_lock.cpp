// A daemon holds the lock from its start to its end, its mount is seen from a little later to a
// little earlier. So a lock without a mount belongs to a daemon that starts or ends: worth waiting.
#include "image_lock.hpp"

#include <cerrno>
#include <thread>

#include <fmt/format.h>
#include <sys/file.h>

namespace mtdfuse::storage {

namespace {

// True if taken, false if another holds it.
Result<bool> try_lock(int fd, const std::string& path, LockMode mode) {
    const int operation = (mode == LockMode::shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
    while (::flock(fd, operation) != 0) {
        if (errno == EWOULDBLOCK)
            return false;
        if (errno != EINTR)
            return fail_errno(fmt::format("cannot lock '{}'", path));
    }
    return true;
}

Status refuse_if_served(const MountTable& mounts, const std::string& path) {
    const auto mount_point = serving_mount(mounts, path);
    if (!mount_point)
        return tl::make_unexpected(mount_point.error());
    if (mount_point->empty())
        return {};
    return fail(EBUSY, fmt::format("'{}' is in use by the mtdfuse mounted at '{}': unmount that "
                                   "first (fusermount3 -u '{}')",
                                   path, *mount_point, *mount_point));
}

} // namespace

Result<std::string> serving_mount(const MountTable& mounts, const std::string& path) {
    const auto table = mounts();
    if (!table)
        return tl::make_unexpected(table.error());
    for (const MountEntry& mount : *table)
        if (mount.fs_type == "fuse.mtdfuse" && mount.source == path)
            return mount.mount_point;
    return std::string();
}

Status lock_image(int fd, const std::string& path, LockMode mode, std::chrono::milliseconds wait,
                  const MountTable& mounts, Log& log) {
    const auto deadline = std::chrono::steady_clock::now() + wait;
    for (bool first = true;; first = false) {
        const auto taken = try_lock(fd, path, mode);
        if (!taken)
            return tl::make_unexpected(taken.error());
        if (*taken)
            return {};
        if (auto free = refuse_if_served(mounts, path); !free)
            return free;
        if (std::chrono::steady_clock::now() >= deadline)
            return fail(EBUSY,
                        fmt::format("'{}' is still locked by another process after {} ms; no "
                                    "mount of it is seen from here: fuser -v '{}' names the "
                                    "process",
                                    path, wait.count(), path));
        if (first)
            log.info(fmt::format("waiting up to {} ms for the process that still holds '{}'",
                                 wait.count(), path));
        std::this_thread::sleep_for(kRetryInterval);
    }
}

} // namespace mtdfuse::storage
