// open_image with its surroundings as parameters, so that a test can put a mount beside it.
#pragma once

#include <mtdfuse/storage.hpp>

namespace mtdfuse::storage {

using MountTable = std::function<Result<std::vector<MountEntry>>()>;

struct Surroundings {
    MountTable mounts = read_mountinfo;
    // The kernel gives an ending daemon's exclusive use back some milliseconds after its lock.
    std::chrono::milliseconds exclusive_wait{1000};
};

[[nodiscard]] Result<Image> open_image(const std::string& path, const OpenOptions& options,
                                       Log& log, const Surroundings& surroundings);

// Between two attempts at a lock that another process holds.
inline constexpr std::chrono::milliseconds kRetryInterval{20};

// Where the mtdfuse is mounted that serves the image at `path` (resolved); empty if none is seen.
[[nodiscard]] Result<std::string> serving_mount(const MountTable& mounts, const std::string& path);

} // namespace mtdfuse::storage
