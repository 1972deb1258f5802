// Writeback errors, reported once to each cursor: the kernel's errseq_t
// (Documentation/core-api/errseq.rst) in 64 bits.
//
// The word: errno in the low 12 bits, `seen` in bit 12, a counter above. A new error counts up only
// where somebody has seen the last one, so an error that nobody saw is still new to everybody.
#pragma once

#include <atomic>
#include <cstdint>

namespace mtdfuse::cache {

class ErrorSequence {
public:
    void record(int number) noexcept;

    // Where a new cursor starts: behind everything that was seen by anybody, before what was not.
    [[nodiscard]] std::uint64_t sample() const noexcept;

    // The errno that a cursor at `seen` has not had yet, 0 for none; moves the cursor.
    [[nodiscard]] int check_and_advance(std::uint64_t& seen) noexcept;

private:
    std::atomic<std::uint64_t> word_{0};
};

} // namespace mtdfuse::cache
