#include "data.hpp"

#include <array>

namespace mtdfuse::replay {
namespace {

constexpr std::array<std::uint32_t, 256> make_crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t index = 0; index < table.size(); ++index) {
        std::uint32_t remainder = index;
        for (int bit = 0; bit < 8; ++bit) {
            const bool odd = (remainder & 1U) != 0;
            remainder >>= 1U;
            remainder ^= odd ? 0xEDB88320U : 0U;
        }
        table[index] = remainder;
    }
    return table;
}
constexpr std::array<std::uint32_t, 256> kCrcTable = make_crc_table();

} // namespace

void fill_pattern(std::span<std::byte> bytes, std::uint32_t seed) {
    std::uint32_t position = seed;
    for (std::byte& byte : bytes) {
        const std::uint32_t mixed = (position ^ (position >> 15U)) * 2246822519U;
        byte = static_cast<std::byte>(mixed >> 24U);
        position += 2654435761U;
    }
}

std::uint32_t crc32(std::span<const std::byte> bytes) {
    std::uint32_t crc = ~0U;
    for (const std::byte byte : bytes) {
        crc = kCrcTable[(crc ^ static_cast<std::uint32_t>(byte)) & 0xffU] ^ (crc >> 8U);
    }
    return ~crc;
}

} // namespace mtdfuse::replay
