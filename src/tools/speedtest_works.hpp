// The works that mtdfuse-speedtest times. Each is done twice: by a device and, as its limit, by
// plain memory operations on as much RAM.
#pragma once

#include <array>
#include <memory>

#include <mtdfuse/mtd.hpp>

namespace mtdfuse::tools {

// mtd_speedtest of Linux uses the erase block, the page and two pages; 512 is its page on devices
// that write single bytes.
inline constexpr std::uint64_t kEraseBlockBytes = 128 * kKiB;
inline constexpr std::uint64_t kRandomReadBytes = 4096;

enum class Action { read, write, write_same, erase, random_read };

struct Work {
    std::string_view name;
    Action action;
    std::uint64_t piece_bytes; // of one call
    std::string_view limit;    // what the memory does instead, in words
    unsigned threads = 1;      // each does the whole pass
};

// In the order of a round: the erases find data, then nothing; the reads find what was written.
inline constexpr std::array kWorks{
    Work{"write_128k", Action::write, kEraseBlockBytes, "copy"},
    Work{"write_same_128k", Action::write_same, kEraseBlockBytes, "compare"},
    Work{"read_128k", Action::read, kEraseBlockBytes, "copy"},
    Work{"write_512", Action::write, 512, "copy"},
    Work{"read_512", Action::read, 512, "copy"},
    Work{"write_1k", Action::write, 1024, "copy"},
    Work{"read_1k", Action::read, 1024, "copy"},
    Work{"random_read_4k", Action::random_read, kRandomReadBytes, "copy"},
    Work{"random_read_4k_x2", Action::random_read, kRandomReadBytes, "copy", 2},
    Work{"erase_data", Action::erase, kEraseBlockBytes, "fill"},
    Work{"erase_erased", Action::erase, 2 * kEraseBlockBytes, "scan"},
};
inline constexpr unsigned kMostThreads = 2;

// What a work is done on: a whole device, or the cache alone. A transfer is whole or an error.
class Target {
public:
    Target() = default;
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;
    virtual ~Target() = default;

    [[nodiscard]] virtual std::uint64_t size_bytes() const = 0;
    [[nodiscard]] virtual Status read(std::uint64_t at_bytes, std::span<std::byte> into) = 0;
    [[nodiscard]] virtual Status write(std::uint64_t at_bytes, std::span<const std::byte> from) = 0;
    [[nodiscard]] virtual Status erase(std::uint64_t at_bytes, std::uint64_t length_bytes) = 0;
};

// The argument must outlive the target.
[[nodiscard]] std::unique_ptr<Target> make_target(mtd::Device& device);
[[nodiscard]] std::unique_ptr<Target> make_target(cache::Mapping& mapping);

// What is written: like mtd_speedtest one buffer for the whole device, which the CPU's caches hold,
// but each of kShifts erase blocks begins a page further on in it, so that none passes for its
// neighbour.
inline constexpr std::uint64_t kShifts = 16;
inline constexpr std::uint64_t kShiftBytes = 4096;
inline constexpr std::uint64_t kDataBytes = kEraseBlockBytes + (kShifts - 1) * kShiftBytes;

// What `data` has for the piece at `at_bytes`, which is in one erase block.
[[nodiscard]] std::span<const std::byte> data_at(std::span<const std::byte> data,
                                                 std::uint64_t at_bytes, std::uint64_t piece_bytes);

// The bytes a pass works with: data for writes, a buffer for reads, offsets for random reads.
struct Material {
    std::span<const std::byte> data;                        // kDataBytes
    std::array<std::span<std::byte>, kMostThreads> buffers; // each of at least one piece
    std::span<const std::uint64_t> random_offsets_bytes;
};

// One pass. An error is the target's own.
[[nodiscard]] Status run_on_target(const Work& work, Target& target, const Material& material);

// The same work on `ram`: memcpy, the fastest compare or scan of this CPU's base instructions, or
// stores past the caches.
void run_on_memory(const Work& work, std::span<std::byte> ram, const Material& material);

// EIO naming the first byte of the target that is not what `data` has for it; `buffer` is as long
// as an erase block.
[[nodiscard]] Status check_contents(Target& target, std::span<const std::byte> data,
                                    std::span<std::byte> buffer);

} // namespace mtdfuse::tools
