// The bounds that every Backing keeps.
#pragma once

#include <mtdfuse/storage.hpp>

namespace mtdfuse::storage {

// EINVAL unless [at, at + length_bytes) lies within `size_bytes`; no sum overflows.
[[nodiscard]] Status check_range(ByteOffset at, std::uint64_t length_bytes,
                                 std::uint64_t size_bytes);

[[nodiscard]] std::uint64_t total_bytes(std::span<const std::span<const std::byte>> segments);

} // namespace mtdfuse::storage
