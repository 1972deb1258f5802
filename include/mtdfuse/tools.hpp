// The room `tools`: the programs beside the daemon. They use the rooms up to mtd, never fuse.
#pragma once

#include <string>
#include <vector>

namespace mtdfuse::tools {

// mtdfuse-image create | info. Exit status 0 done, 1 failed, 2 usage.
[[nodiscard]] int image_main(const std::vector<std::string>& arguments);

// mtdfuse-speedtest: the works of Linux's mtd_speedtest on a device in memory, time first, with the
// same work as plain memory operations beside it. Exit status 0 done, 1 failed, 2 usage.
[[nodiscard]] int speedtest_main(const std::vector<std::string>& arguments);

} // namespace mtdfuse::tools
