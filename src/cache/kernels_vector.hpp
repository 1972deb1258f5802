// The kernels over vectors of one instruction set. A .cpp that includes this defines before, inside
// an unnamed namespace, `struct Vector` and the macro MTDFUSE_VECTOR_TARGET with the compiler's
// name of the instruction set: a function that uses vectors has to be compiled for them, and a
// template cannot carry that.
//
// x86 keeps loads in order and stores in order, the non-temporal ones up to the fence, so the rule
// of kernels_plain.cpp holds; the compiler keeps them inside the calls, which it cannot see through
// as they go through pointers.
//
// Figures here: ms for 256 MiB out of or into memory that no cache holds, the other side 128 KiB
// that the L2 holds; Z3 is an AMD Zen 3 with AVX2, Z5 a Zen 5 with AVX-512.
#pragma once

#include <algorithm>
#include <cstring>

#include "kernels.hpp"

namespace mtdfuse::cache {
namespace {

inline constexpr std::size_t kVector = sizeof(Vector::Type);
inline constexpr std::size_t kStep = 4 * kVector; // of one turn of a loop
static_assert(kStep <= kSearchBytes);

// Stores that pass the caches by pay from here on: 13.8 against memcpy's 28.5 (Z3, 128 KiB each);
// a fence for each 512 bytes makes 77 against 33 of it.
inline constexpr std::size_t kStreamBytes = 4096;
// From here on the CPU's own string copy is no slower than any loop (18.0 to 18.5, Z3; 6.6 to 11,
// Z5). Prefetches make the loop worse: 21 (Z3), 12 (Z5).
inline constexpr std::size_t kStringBytes = 4096;
// How far ahead short writes ask for the lines that the next of them will change: 25.7 against 27.3
// without (Z3, 512 bytes each).
inline constexpr std::size_t kWriteAheadBytes = 2048;
inline constexpr std::size_t kLine = 64;

// The lines of one step; written out, as gcc 12 leaves a loop of two turns at -O2 a loop.
template<int kWrite>
void prefetch_step(const std::byte* at) {
    __builtin_prefetch(at, kWrite, 3);
    __builtin_prefetch(at + kLine, kWrite, 3);
    if constexpr (kStep > 2 * kLine) {
        __builtin_prefetch(at + 2 * kLine, kWrite, 3);
        __builtin_prefetch(at + 3 * kLine, kWrite, 3);
    }
}

#if !defined(__SANITIZE_ADDRESS__)
// Its loads are as ordered as any others; Linux copies so under its own sequence counts. Where
// source and destination are a few bytes apart modulo the page, AMD's is five times slower (Z3:
// 109), so only for those that share their place in a line.
inline bool string_copy(std::byte* to, const std::byte* from, std::size_t length_bytes) {
    if (length_bytes < kStringBytes ||
        (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from)) % kLine !=
            0)
        return false;
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(length_bytes) : : "memory");
    return true;
}
#else
// AddressSanitizer does not see into it.
inline bool string_copy(std::byte*, const std::byte*, std::size_t) {
    return false;
}
#endif

[[gnu::target(MTDFUSE_VECTOR_TARGET)]] inline void copy_out(std::byte* to, const std::byte* folio,
                                                            std::size_t length_bytes) {
    if (string_copy(to, folio, length_bytes))
        return;
    std::size_t at = 0;
    for (; at + kStep <= length_bytes; at += kStep) {
        if constexpr (Vector::kReadAheadBytes != 0)
            prefetch_step<0>(folio + at + Vector::kReadAheadBytes);
        const auto a = Vector::load(folio + at);
        const auto b = Vector::load(folio + at + kVector);
        const auto c = Vector::load(folio + at + 2 * kVector);
        const auto d = Vector::load(folio + at + 3 * kVector);
        Vector::store(to + at, a);
        Vector::store(to + at + kVector, b);
        Vector::store(to + at + 2 * kVector, c);
        Vector::store(to + at + 3 * kVector, d);
    }
    if (at < length_bytes)
        std::memcpy(to + at, folio + at, length_bytes - at);
}

// How much has to be stored before a vector store is aligned.
inline std::size_t ragged_bytes(const std::byte* folio, std::size_t length_bytes) {
    const std::size_t past = reinterpret_cast<std::uintptr_t>(folio) % kVector;
    return past == 0 ? 0 : std::min(kVector - past, length_bytes);
}

[[gnu::target(MTDFUSE_VECTOR_TARGET)]] inline void
stream_in(std::byte* folio, const std::byte* from, std::size_t length_bytes) {
    std::size_t at = ragged_bytes(folio, length_bytes);
    std::memcpy(folio, from, at);
    for (; at + kStep <= length_bytes; at += kStep) {
        const auto a = Vector::load(from + at);
        const auto b = Vector::load(from + at + kVector);
        const auto c = Vector::load(from + at + 2 * kVector);
        const auto d = Vector::load(from + at + 3 * kVector);
        Vector::stream(folio + at, a);
        Vector::stream(folio + at + kVector, b);
        Vector::stream(folio + at + 2 * kVector, c);
        Vector::stream(folio + at + 3 * kVector, d);
    }
    std::memcpy(folio + at, from + at, length_bytes - at);
}

[[gnu::target(MTDFUSE_VECTOR_TARGET)]] inline void copy_in(std::byte* folio, const std::byte* from,
                                                           std::size_t length_bytes) {
    if (length_bytes >= kStreamBytes)
        return stream_in(folio, from, length_bytes);
    std::size_t at = 0;
    for (; at + kStep <= length_bytes; at += kStep) {
        prefetch_step<1>(folio + at + kWriteAheadBytes);
        const auto a = Vector::load(from + at);
        const auto b = Vector::load(from + at + kVector);
        const auto c = Vector::load(from + at + 2 * kVector);
        const auto d = Vector::load(from + at + 3 * kVector);
        Vector::store(folio + at, a);
        Vector::store(folio + at + kVector, b);
        Vector::store(folio + at + 2 * kVector, c);
        Vector::store(folio + at + 3 * kVector, d);
    }
    if (at < length_bytes)
        std::memcpy(folio + at, from + at, length_bytes - at);
}

[[gnu::target(MTDFUSE_VECTOR_TARGET)]] inline void and_in(std::byte* folio, const std::byte* mask,
                                                          std::size_t length_bytes) {
    std::size_t at = 0;
    for (; at + kVector <= length_bytes; at += kVector)
        Vector::store(folio + at, Vector::both(Vector::load(folio + at), Vector::load(mask + at)));
    for (; at < length_bytes; ++at)
        folio[at] &= mask[at];
}

[[gnu::target(MTDFUSE_VECTOR_TARGET)]] inline void fill_ff(std::byte* folio,
                                                           std::size_t length_bytes) {
    std::size_t at = length_bytes < kStreamBytes ? 0 : ragged_bytes(folio, length_bytes);
    std::memset(folio, 0xff, at);
    if (length_bytes >= kStreamBytes)
        for (; at + kVector <= length_bytes; at += kVector)
            Vector::stream(folio + at, Vector::ones());
    std::memset(folio + at, 0xff, length_bytes - at);
}

[[gnu::target("sse")]] inline void fence() {
    __builtin_ia32_sfence();
}

[[gnu::target(MTDFUSE_VECTOR_TARGET)]] inline std::size_t
first_difference(const std::byte* folio, const std::byte* other, std::size_t length_bytes) {
    std::size_t at = 0;
    for (; at + kStep <= length_bytes; at += kStep) {
        if (!Vector::equal(folio + at, other + at))
            return at;
    }
    if (at == length_bytes)
        return at;
    return std::memcmp(folio + at, other + at, length_bytes - at) == 0 ? length_bytes : at;
}

[[gnu::target(MTDFUSE_VECTOR_TARGET)]] inline std::size_t first_not_ff(const std::byte* folio,
                                                                       std::size_t length_bytes) {
    std::size_t at = 0;
    for (; at + kStep <= length_bytes; at += kStep) {
        if (!Vector::all_ones(folio + at))
            return at;
    }
    while (at < length_bytes && folio[at] == std::byte{0xff})
        ++at;
    return at;
}

[[gnu::target(MTDFUSE_VECTOR_TARGET)]] inline std::size_t
first_cleared(const std::byte* folio, const std::byte* mask, std::size_t length_bytes) {
    std::size_t at = 0;
    for (; at + kStep <= length_bytes; at += kStep)
        if (!Vector::none_cleared(folio + at, mask + at))
            return at;
    while (at < length_bytes && (folio[at] & ~mask[at]) == std::byte{0})
        ++at;
    return at;
}

} // namespace
} // namespace mtdfuse::cache
