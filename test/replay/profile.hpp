// The devices whose traces can be replayed, as the recorded kernel had them.
#pragma once

#include <array>

#include <mtdfuse/base.hpp>

namespace mtdfuse::replay {

struct Profile {
    std::string_view id; // the word of --device, and the folder of its traces
    std::string_view mtd_name;
    std::uint64_t size_bytes;
    std::uint32_t erasesize_bytes;
    std::byte initial;
    // The recorder's unit for page-sized cases: 512 on devices that write single bytes.
    std::size_t unit_bytes;
};

inline constexpr std::array kProfiles{
    Profile{"block2mtd-64k", "block2mtd: /dev/ram0", 4 << 20, 64 << 10, std::byte{0x00}, 512},
    Profile{"mtdram", "mtdram test device", 4 << 20, 128 << 10, std::byte{0xff}, 512},
};

} // namespace mtdfuse::replay
