// From the name a user gives to an open file whose kind and access are settled.
#pragma once

#include <mtdfuse/storage.hpp>

namespace mtdfuse::storage {

struct ImageFile {
    std::string path; // absolute, symbolic links resolved
    UniqueFd fd;
    bool read_only;
    bool block_device;
};

[[nodiscard]] Result<ImageFile> open_image_file(const std::string& path, bool read_only, Log& log);

struct ImageExtent {
    std::uint64_t size_bytes;
    std::uint64_t block_bytes; // as Backing::block_bytes
};

// EINVAL for an empty one.
[[nodiscard]] Result<ImageExtent> measure(int fd, const ImageFile& file);

} // namespace mtdfuse::storage
