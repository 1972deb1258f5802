// The bytes of a trace: what is written follows from a seed, what is read is told by its CRC-32.
#pragma once

#include <mtdfuse/base.hpp>

namespace mtdfuse::replay {

// Byte i is the top byte of a 32-bit mix of seed + i * 2654435761: xor with itself shifted right by
// 15, times 2246822519. Defined by the traces' recorder.
void fill_pattern(std::span<std::byte> bytes, std::uint32_t seed);

// CRC-32 as zlib has it: reflected polynomial 0xEDB88320, start and end inverted.
[[nodiscard]] std::uint32_t crc32(std::span<const std::byte> bytes);

} // namespace mtdfuse::replay
