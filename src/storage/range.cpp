#include "range.hpp"

#include <cerrno>

#include <fmt/format.h>

namespace mtdfuse::storage {

Status check_range(ByteOffset at, std::uint64_t length_bytes, std::uint64_t size_bytes) {
    if (at.value > size_bytes || length_bytes > size_bytes - at.value)
        return fail(EINVAL, fmt::format("{} bytes at {} do not lie within the image's {} bytes",
                                        length_bytes, at.value, size_bytes));
    return {};
}

std::uint64_t total_bytes(std::span<const std::span<const std::byte>> segments) {
    std::uint64_t total = 0;
    for (const auto& segment : segments)
        total += segment.size();
    return total;
}

} // namespace mtdfuse::storage
