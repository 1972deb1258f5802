// The kernels in portable C++, for any CPU and for ThreadSanitizer.
//
// A reader copies a folio without a hold while its owner may be changing it, and proves afterwards
// by the state word that the owner was not there. So that this is no data race, every access to
// folio memory is atomic, and so that the proof holds, loads acquire and stores release: a reader
// that has seen a byte of the owner's also sees, when it looks at the word again, that the owner
// had locked it. This needs no fence, which ThreadSanitizer would not understand. On x86 all of
// these are plain moves.
#include "kernels.hpp"

#include <cstdint>
#include <cstring>

namespace mtdfuse::cache {

namespace {

using Word [[gnu::may_alias]] = std::uint64_t;
constexpr std::size_t kWord = sizeof(Word);

std::uint64_t load_word(const std::byte* folio) {
    return __atomic_load_n(reinterpret_cast<const Word*>(folio), __ATOMIC_ACQUIRE);
}
void store_word(std::byte* folio, std::uint64_t word) {
    __atomic_store_n(reinterpret_cast<Word*>(folio), word, __ATOMIC_RELEASE);
}
std::byte load_byte(const std::byte* folio) {
    return static_cast<std::byte>(
        __atomic_load_n(reinterpret_cast<const unsigned char*>(folio), __ATOMIC_ACQUIRE));
}
void store_byte(std::byte* folio, std::byte byte) {
    __atomic_store_n(reinterpret_cast<unsigned char*>(folio), std::to_integer<unsigned char>(byte),
                     __ATOMIC_RELEASE);
}
std::uint64_t private_word(const std::byte* bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

// Calls `on_byte(offset)` and `on_word(offset)` over a range of folio memory, words where they are
// aligned; ends early where one says false. The offset it came to.
template<class OnByte, class OnWord>
std::size_t walk(const std::byte* folio, std::size_t length_bytes, OnByte on_byte, OnWord on_word) {
    std::size_t at = 0;
    while (at < length_bytes) {
        const bool whole_word =
            reinterpret_cast<std::uintptr_t>(folio + at) % kWord == 0 && length_bytes - at >= kWord;
        if (whole_word) {
            const std::size_t end = at + (length_bytes - at) / kWord * kWord;
            for (; at < end; at += kWord)
                if (!on_word(at))
                    return at;
        } else {
            if (!on_byte(at))
                return at;
            ++at;
        }
    }
    return at;
}

void copy_out(std::byte* to, const std::byte* folio, std::size_t length_bytes) {
    walk(
        folio, length_bytes,
        [&](std::size_t at) {
            to[at] = load_byte(folio + at);
            return true;
        },
        [&](std::size_t at) {
            const std::uint64_t word = load_word(folio + at);
            std::memcpy(to + at, &word, sizeof word);
            return true;
        });
}

void copy_in(std::byte* folio, const std::byte* from, std::size_t length_bytes) {
    walk(
        folio, length_bytes,
        [&](std::size_t at) {
            store_byte(folio + at, from[at]);
            return true;
        },
        [&](std::size_t at) {
            store_word(folio + at, private_word(from + at));
            return true;
        });
}

void and_in(std::byte* folio, const std::byte* mask, std::size_t length_bytes) {
    walk(
        folio, length_bytes,
        [&](std::size_t at) {
            store_byte(folio + at, load_byte(folio + at) & mask[at]);
            return true;
        },
        [&](std::size_t at) {
            store_word(folio + at, load_word(folio + at) & private_word(mask + at));
            return true;
        });
}

void fill_ff(std::byte* folio, std::size_t length_bytes) {
    walk(
        folio, length_bytes,
        [&](std::size_t at) {
            store_byte(folio + at, std::byte{0xff});
            return true;
        },
        [&](std::size_t at) {
            store_word(folio + at, ~std::uint64_t{0});
            return true;
        });
}

void no_fence() {} // every store above releases

std::size_t first_difference(const std::byte* folio, const std::byte* other,
                             std::size_t length_bytes) {
    return walk(
        folio, length_bytes, [&](std::size_t at) { return load_byte(folio + at) == other[at]; },
        [&](std::size_t at) { return load_word(folio + at) == private_word(other + at); });
}

std::size_t first_not_ff(const std::byte* folio, std::size_t length_bytes) {
    return walk(
        folio, length_bytes,
        [&](std::size_t at) { return load_byte(folio + at) == std::byte{0xff}; },
        [&](std::size_t at) { return load_word(folio + at) == ~std::uint64_t{0}; });
}

std::size_t first_cleared(const std::byte* folio, const std::byte* mask, std::size_t length_bytes) {
    return walk(
        folio, length_bytes,
        [&](std::size_t at) { return (load_byte(folio + at) & ~mask[at]) == std::byte{0}; },
        [&](std::size_t at) { return (load_word(folio + at) & ~private_word(mask + at)) == 0; });
}

} // namespace

const Kernels kPlainKernels{Isa::plain, SIZE_MAX, copy_out,         copy_in,      and_in,
                            fill_ff,    no_fence, first_difference, first_not_ff, first_cleared};

} // namespace mtdfuse::cache
