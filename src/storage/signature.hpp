// What libblkid recognises, and whether that may stay on something used as a flash.
#pragma once

#include <mtdfuse/storage.hpp>

namespace mtdfuse::storage {

struct Signature {
    std::string found; // "ext4 file system"; empty for nothing
    bool belongs_on_flash = true;
};

// `path` is for messages. EIO when the device cannot be read.
[[nodiscard]] Result<Signature> probe_descriptor(int fd, const std::string& path);

} // namespace mtdfuse::storage
