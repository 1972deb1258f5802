// Compares what a kernel showed in sysfs and /proc/mtd with the files of a mount.
#pragma once

#include <mtdfuse/base.hpp>

namespace mtdfuse::replay {

// `recorded` holds `name: value` lines, a value may go on for further lines (uevent); before them,
// if at all, /proc/mtd as it was. Each name must be a file in `sysfs_folder` that holds the value
// and a newline; /proc/mtd must be `proc_mtd`, where that is not empty.
// Prints what differs and the counts; true when all is equal.
[[nodiscard]] Result<bool> compare_attributes(const std::string& recorded,
                                              const std::string& sysfs_folder,
                                              const std::string& proc_mtd);

} // namespace mtdfuse::replay
