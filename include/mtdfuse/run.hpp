// The room `run`: what mtdfuse-run needs to find its device. It includes base only.
#pragma once

#include <mtdfuse/base.hpp>

namespace mtdfuse::run {

// The one mtdfuse mount among `mounts`, or the one at `wanted` where that is not empty. Errors are
// sentences that say what to do: ENOENT none mounted or not at `wanted`, EEXIST several (all are
// listed).
[[nodiscard]] Result<std::string> choose_mount(const std::vector<MountEntry>& mounts,
                                               const std::string& wanted);

} // namespace mtdfuse::run
