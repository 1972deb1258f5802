#include "block_device.hpp"

#include "signature.hpp"

#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace mtdfuse::storage {

namespace {

// Where the device is mounted, by itself or under a daemon; empty if it is not. Some file systems
// (btrfs) show a device number of their own, hence the look at the source.
Result<std::string> mount_of(const std::string& path, const MountTable& mounts) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0)
        return fail_errno(fmt::format("cannot examine '{}'", path));
    const auto table = mounts();
    if (!table)
        return tl::make_unexpected(table.error());
    for (const MountEntry& mount : *table) {
        const bool same_number = mount.device_major == major(about.st_rdev) &&
                                 mount.device_minor == minor(about.st_rdev);
        if (same_number || mount.source == path)
            return mount.mount_point;
    }
    return std::string();
}

} // namespace

Result<UniqueFd> claim_device(const std::string& path, bool read_only,
                              const Surroundings& surroundings) {
    const int access = (read_only ? O_RDONLY : O_RDWR) | O_EXCL | O_CLOEXEC | O_NOCTTY;
    const auto deadline = std::chrono::steady_clock::now() + surroundings.exclusive_wait;
    for (;;) {
        UniqueFd fd(::open(path.c_str(), access));
        if (fd)
            return fd;
        if (errno != EBUSY)
            return fail_errno(fmt::format("cannot open '{}' for exclusive use", path));
        const auto mount_point = mount_of(path, surroundings.mounts);
        if (!mount_point)
            return tl::make_unexpected(mount_point.error());
        if (!mount_point->empty())
            return fail(EBUSY, fmt::format("'{}' is mounted at '{}': unmount it first", path,
                                           *mount_point));
        if (std::chrono::steady_clock::now() >= deadline)
            return fail(EBUSY, fmt::format("'{}' is in use: a partition of it is mounted, or it is "
                                           "swap, part of a RAID or volume group, or held by "
                                           "another program; lsblk '{}' shows which",
                                           path, path));
        std::this_thread::sleep_for(kRetryInterval);
    }
}

Status check_contents(int fd, const std::string& path, bool force, Log& log) {
    const auto signature = probe_descriptor(fd, path);
    if (!signature && !force)
        return fail(signature.error().number,
                    fmt::format("{}: --force uses it without looking", signature.error().context));
    if (!signature || signature->belongs_on_flash)
        return {};
    if (!force)
        return fail(EEXIST, fmt::format("'{}' holds data ({}) that does not belong on flash: wipe "
                                        "it (wipefs -a), or use it all the same with --force",
                                        path, signature->found));
    log.warning(fmt::format("'{}' holds data ({}): used all the same because of --force", path,
                            signature->found));
    return {};
}

} // namespace mtdfuse::storage
