// Whether a directory can be mounted on, asked before anything else is touched.
#pragma once

#include <string>

#include <mtdfuse/base.hpp>

namespace mtdfuse::daemon {

// The absolute path, links resolved, of an empty directory that no mtdfuse is mounted on. Else a
// sentence that says what would be right: ENOENT, ENOTDIR, ENOTEMPTY, EBUSY (a device is shown
// there already), ENOTCONN (left by a daemon that was killed), EACCES.
[[nodiscard]] Result<std::string> check_mount_point(const std::string& path);

// ENOENT, ENODEV, EACCES with what to do about it.
[[nodiscard]] Status check_fuse_device();

// Takes the mount out of the tree without waiting for anybody, so that a daemon that gives up
// leaves no stale mount. Where it fails there is nothing left to do about it.
void detach_mount(const std::string& mount_point);

} // namespace mtdfuse::daemon
