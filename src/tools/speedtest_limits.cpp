#include "speedtest_limits.hpp"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace mtdfuse::tools {

#if defined(__SSE2__)

namespace {

constexpr std::size_t kVectorBytes = sizeof(__m128i);
constexpr std::size_t kStepBytes = 8 * kVectorBytes;

__m128i load(const std::byte* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

bool all_ones(__m128i vector) {
    return _mm_movemask_epi8(_mm_cmpeq_epi8(vector, _mm_set1_epi8(-1))) == 0xffff;
}

} // namespace

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
    for (std::size_t at = 0; at < a.size(); at += kStepBytes) {
        __m128i same = _mm_set1_epi8(-1);
        for (std::size_t i = 0; i < kStepBytes; i += kVectorBytes)
            same = _mm_and_si128(same,
                                 _mm_cmpeq_epi8(load(a.data() + at + i), load(b.data() + at + i)));
        if (!all_ones(same))
            return false;
    }
    return true;
}

bool all_ff(std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += kStepBytes) {
        __m128i both = _mm_set1_epi8(-1);
        for (std::size_t i = 0; i < kStepBytes; i += kVectorBytes)
            both = _mm_and_si128(both, load(bytes.data() + at + i));
        if (!all_ones(both))
            return false;
    }
    return true;
}

void stream_ff(std::span<std::byte> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += kVectorBytes)
        _mm_stream_si128(reinterpret_cast<__m128i*>(bytes.data() + at), _mm_set1_epi8(-1));
    _mm_sfence();
}

#else

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
    return std::memcmp(a.data(), b.data(), a.size()) == 0;
}

bool all_ff(std::span<const std::byte> bytes) {
    return bytes.front() == std::byte{0xff} &&
           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

void stream_ff(std::span<std::byte> bytes) {
    std::memset(bytes.data(), 0xff, bytes.size());
}

#endif

} // namespace mtdfuse::tools
