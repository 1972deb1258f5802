// The works that mtdfuse-speedtest times. Each is done twice: by a device and, as its limit, by
// plain memory operations on as much RAM.
#pragma once

#include <array>

#include <mtdfuse/mtd.hpp>

namespace mtdfuse::tools {

// mtd_speedtest of Linux uses the erase block, the page and two pages; 512 is its page on devices
// that write single bytes.
inline constexpr std::uint64_t kEraseBlockBytes = 128 * kKiB;
inline constexpr std::uint64_t kRandomReadBytes = 4096;

enum class Action { read, write, erase, random_read };

struct Work {
    std::string_view name;
    Action action;
    std::uint64_t piece_bytes; // of one call
};

// In the order of a round: the erases find data, then nothing; the reads find what was written.
inline constexpr std::array kWorks{
    Work{"write_128k", Action::write, kEraseBlockBytes},
    Work{"read_128k", Action::read, kEraseBlockBytes},
    Work{"write_512", Action::write, 512},
    Work{"read_512", Action::read, 512},
    Work{"write_1k", Action::write, 1024},
    Work{"read_1k", Action::read, 1024},
    Work{"random_read_4k", Action::random_read, kRandomReadBytes},
    Work{"erase_data", Action::erase, kEraseBlockBytes},
    Work{"erase_erased", Action::erase, 2 * kEraseBlockBytes},
};

// The bytes a pass works with: new data for writes, a buffer for reads, offsets for random reads.
struct Material {
    std::span<const std::byte> data; // as long as the device
    std::span<std::byte> buffer;     // at least one piece
    std::span<const std::uint64_t> random_offsets_bytes;
};

// One pass over the whole device. An error is the device's own.
[[nodiscard]] Status run_on_device(const Work& work, mtd::Device& device, const Material& material);

// The same work on `ram` by memcpy (read), memcmp and memcpy (write), memset or a scan (erase).
void run_on_memory(const Work& work, std::span<std::byte> ram, const Material& material);

// EIO naming the first byte of the device that is not `expected`'s.
[[nodiscard]] Status check_contents(mtd::Device& device, std::span<const std::byte> expected,
                                    std::span<std::byte> buffer);

} // namespace mtdfuse::tools
