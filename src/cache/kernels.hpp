// The loops over folio memory: copy, compare, scan, fill; chosen at start-up for the CPU.
//
// Stateless tables of functions. Bytes of a folio may be changed by another thread while copy_out
// runs: see the formal rule in kernels_plain.cpp.
#pragma once

#include <cstddef>
#include <string_view>

#include <mtdfuse/base.hpp>

namespace mtdfuse::cache {

enum class Isa { plain, avx2, avx512 };

struct Kernels {
    Isa isa;
    // Stores of fewer bytes than this are complete without fence().
    std::size_t fence_from_bytes;
    // Out of folio memory. Where another thread changes it meanwhile the bytes are undefined, and
    // the caller throws them away.
    void (*copy_out)(std::byte* to, const std::byte* folio, std::size_t length_bytes);
    // Into folio memory that the caller has locked. Long ones are complete for other threads only
    // after fence().
    void (*copy_in)(std::byte* folio, const std::byte* from, std::size_t length_bytes);
    void (*and_in)(std::byte* folio, const std::byte* mask, std::size_t length_bytes);
    void (*fill_ff)(std::byte* folio, std::size_t length_bytes);
    void (*fence)();
    // Where folio memory, locked by the caller, first differs from `other`, is not 0xFF, has a bit
    // that `mask` clears: that offset or one less than kSearchBytes before it. `length_bytes` where
    // there is no such place.
    std::size_t (*first_difference)(const std::byte* folio, const std::byte* other,
                                    std::size_t length_bytes);
    std::size_t (*first_not_ff)(const std::byte* folio, std::size_t length_bytes);
    std::size_t (*first_cleared)(const std::byte* folio, const std::byte* mask,
                                 std::size_t length_bytes);
};

inline constexpr std::size_t kSearchBytes = 256;

// What CPU and operating system can run. Under ThreadSanitizer only `plain`: it cannot see into
// vector loads and stores that race on purpose.
[[nodiscard]] bool cpu_has(Isa isa);
[[nodiscard]] Isa best_isa();

// cpu_has(isa) must be true.
[[nodiscard]] const Kernels& kernels_of(Isa isa);

// "plain", "avx2", "avx512".
[[nodiscard]] std::string_view isa_name(Isa isa);
// EINVAL; the message lists the words.
[[nodiscard]] Result<Isa> parse_isa(std::string_view word);

extern const Kernels kPlainKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
#endif

} // namespace mtdfuse::cache
