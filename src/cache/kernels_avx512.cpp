#if defined(__x86_64__)

#include <cstddef>

#include <immintrin.h>

#define MTDFUSE_VECTOR_TARGET "avx512f,avx512bw"

namespace mtdfuse::cache {
namespace {

struct Vector {
    using Type = __m512i;
    // How far ahead short reads ask for lines: 10.3 against 17 without (Z5, 512 bytes).
    static constexpr std::size_t kReadAheadBytes = 4096;

    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static Type load(const std::byte* from) {
        return _mm512_loadu_si512(from);
    }
    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static void store(std::byte* to, Type value) {
        _mm512_storeu_si512(to, value);
    }
    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static void stream(std::byte* to, Type value) {
        _mm512_stream_si512(reinterpret_cast<Type*>(to), value);
    }
    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static Type ones() { return _mm512_set1_epi32(-1); }
    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static Type both(Type a, Type b) { return a & b; }
    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static Type either(Type a, Type b) { return a | b; }
    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static bool zero(Type a) {
        return _mm512_test_epi32_mask(a, a) == 0;
    }

    // Of four vectors each.
    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static bool equal(const std::byte* a,
                                                             const std::byte* b) {
        const Type first = load(a) ^ load(b);
        const Type second = load(a + 64) ^ load(b + 64);
        const Type third = load(a + 128) ^ load(b + 128);
        const Type fourth = load(a + 192) ^ load(b + 192);
        return zero(either(either(first, second), either(third, fourth)));
    }
    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static bool all_ones(const std::byte* a) {
        const Type all = both(both(load(a), load(a + 64)), both(load(a + 128), load(a + 192)));
        return zero(all ^ ones());
    }
    [[gnu::target(MTDFUSE_VECTOR_TARGET)]] static bool none_cleared(const std::byte* a,
                                                                    const std::byte* mask) {
        const Type first = load(a) & ~load(mask);
        const Type second = load(a + 64) & ~load(mask + 64);
        const Type third = load(a + 128) & ~load(mask + 128);
        const Type fourth = load(a + 192) & ~load(mask + 192);
        return zero(either(either(first, second), either(third, fourth)));
    }
};

} // namespace
} // namespace mtdfuse::cache

#include "kernels_vector.hpp"

namespace mtdfuse::cache {

const Kernels kAvx512Kernels{Isa::avx512,  kStreamBytes, copy_out, copy_in,
                             and_in,       fill_ff,      fence,    first_difference,
                             first_not_ff, first_cleared};

} // namespace mtdfuse::cache

#endif
