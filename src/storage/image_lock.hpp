// One daemon per image.
#pragma once

#include "image.hpp"

namespace mtdfuse::storage {

enum class LockMode { shared, exclusive };

// Takes flock(2) on `fd`, to be held until its last descriptor is closed. Waits up to `wait` for a
// holder of which no mount is seen. EBUSY.
[[nodiscard]] Status lock_image(int fd, const std::string& path, LockMode mode,
                                std::chrono::milliseconds wait, const MountTable& mounts, Log& log);

} // namespace mtdfuse::storage
