// The room `run`: what mtdfuse-run stands on - which mount is meant, which paths lead to it, which
// system calls of a program it is asked about. It includes base and wire.hpp.
#pragma once

#include <optional>

#include <mtdfuse/base.hpp>

namespace mtdfuse::run {

// The one mtdfuse mount among `mounts`, or the one at `wanted` where that is not empty. Errors are
// sentences that say what to do: ENOENT none mounted or not at `wanted`, EEXIST several (all are
// listed).
[[nodiscard]] Result<std::string> choose_mount(const std::vector<MountEntry>& mounts,
                                               const std::string& wanted);

// Where below the mount a program finds what it looks for at `path`, an absolute path whose links
// are resolved; doubled slashes, `.` and `..` are allowed. Everything below /dev that begins with
// mtd leads to the mount, also what is not there: a real flash device must not be reached. Nothing
// for a path that is not about MTD devices.
[[nodiscard]] std::optional<std::string> path_in_mount(std::string_view path);

} // namespace mtdfuse::run
