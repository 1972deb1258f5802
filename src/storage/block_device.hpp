// What makes a real block device safe to use: nobody else does, and it holds nothing precious.
#pragma once

#include "image.hpp"

namespace mtdfuse::storage {

// A second descriptor on the device at `path` with exclusive use (O_EXCL). EBUSY.
[[nodiscard]] Result<UniqueFd> claim_device(const std::string& path, bool read_only,
                                            const Surroundings& surroundings);

// EEXIST if something is found that does not belong on flash, unless `force`.
[[nodiscard]] Status check_contents(int fd, const std::string& path, bool force, Log& log);

} // namespace mtdfuse::storage
