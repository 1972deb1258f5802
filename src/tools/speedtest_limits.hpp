// The memory operations that limit the works: as fast as memory allows, not more general than that.
#pragma once

#include <mtdfuse/base.hpp>

namespace mtdfuse::tools {

// Both are as long. `length_bytes` of the spans are multiples of 512.
[[nodiscard]] bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b);
[[nodiscard]] bool all_ff(std::span<const std::byte> bytes);
// Starts on 16 bytes.
void stream_ff(std::span<std::byte> bytes);

} // namespace mtdfuse::tools
