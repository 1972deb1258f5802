#if defined(__x86_64__)

#include <cstddef>

#include <immintrin.h>

#define MTDFUSE_VECTOR_TARGET "avx2"

namespace mtdfuse::cache {
namespace {

struct Vector {
    using Type = __m256i;
    // How far ahead short reads ask for lines: not at all, 24.6 against 25.6 to 30.5 (Z3, 512
    // bytes).
    static constexpr std::size_t kReadAheadBytes = 0;

    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static Type load(const std::byte* from) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(from));
    }
    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static void store(std::byte* to, Type value) {
        _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(to), value);
    }
    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static void stream(std::byte* to, Type value) {
        _mm256_stream_si256(reinterpret_cast<Type*>(to), value);
    }
    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static Type ones() { return _mm256_set1_epi8(-1); }
    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static Type both(Type a, Type b) {
        return _mm256_and_si256(a, b);
    }

    // Of four vectors each.
    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static bool equal(const std::byte* a,
                                                             const std::byte* b) {
        const Type first = _mm256_cmpeq_epi8(load(a), load(b));
        const Type second = _mm256_cmpeq_epi8(load(a + 32), load(b + 32));
        const Type third = _mm256_cmpeq_epi8(load(a + 64), load(b + 64));
        const Type fourth = _mm256_cmpeq_epi8(load(a + 96), load(b + 96));
        return _mm256_movemask_epi8(both(both(first, second), both(third, fourth))) == -1;
    }
    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static bool all_ones(const std::byte* a) {
        const Type all = both(both(load(a), load(a + 32)), both(load(a + 64), load(a + 96)));
        return _mm256_testc_si256(all, ones()) != 0;
    }
    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static bool none_cleared(const std::byte* a,
                                                                    const std::byte* mask) {
        // testc: whether no bit of the second is missing in the first.
        return _mm256_testc_si256(load(mask), load(a)) != 0 &&
               _mm256_testc_si256(load(mask + 32), load(a + 32)) != 0 &&
               _mm256_testc_si256(load(mask + 64), load(a + 64)) != 0 &&
               _mm256_testc_si256(load(mask + 96), load(a + 96)) != 0;
    }
};

} // namespace
} // namespace mtdfuse::cache

#include "kernels_vector.hpp"

namespace mtdfuse::cache {

const Kernels kAvx2Kernels{Isa::avx2, kStreamBytes, copy_out,         copy_in,      and_in,
                           fill_ff,   fence,        first_difference, first_not_ff, first_cleared};

} // namespace mtdfuse::cache

#endif
