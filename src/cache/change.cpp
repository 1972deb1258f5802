#include "change.hpp"

#include <cstring>

namespace mtdfuse::cache {

namespace {

std::uint64_t word_at(const std::byte* bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

std::optional<std::size_t> first_not_ff(std::span<const std::byte> bytes) {
    std::size_t i = 0;
    while (i + sizeof(std::uint64_t) <= bytes.size() && word_at(&bytes[i]) == ~std::uint64_t{0})
        i += sizeof(std::uint64_t);
    for (; i < bytes.size(); ++i)
        if (bytes[i] != std::byte{0xff})
            return i;
    return std::nullopt;
}

// Where `old` has a bit that `mask` clears.
std::optional<std::size_t> first_cleared(std::span<const std::byte> old,
                                         std::span<const std::byte> mask) {
    std::size_t i = 0;
    while (i + sizeof(std::uint64_t) <= old.size() && (word_at(&old[i]) & ~word_at(&mask[i])) == 0)
        i += sizeof(std::uint64_t);
    for (; i < old.size(); ++i)
        if ((old[i] & ~mask[i]) != std::byte{0})
            return i;
    return std::nullopt;
}

} // namespace

Change Change::part(std::uint64_t offset, std::uint64_t length_bytes) const {
    return is_fill_ff() ? *this : Change{kind_, from_.subspan(offset, length_bytes)};
}

std::optional<std::size_t> Change::first_difference(std::span<const std::byte> old) const {
    switch (kind_) {
    case Kind::replace:
        if (std::memcmp(old.data(), from_.data(), old.size()) == 0)
            return std::nullopt;
        return 0;
    case Kind::and_bits:
        return first_cleared(old, from_);
    case Kind::fill_ff:
        return first_not_ff(old);
    }
    return 0;
}

void Change::apply(std::span<std::byte> bytes, std::size_t first) const {
    switch (kind_) {
    case Kind::replace:
        std::memcpy(&bytes[first], &from_[first], bytes.size() - first);
        return;
    case Kind::and_bits:
        for (std::size_t i = first; i < bytes.size(); ++i)
            bytes[i] &= from_[i];
        return;
    case Kind::fill_ff:
        std::memset(&bytes[first], 0xff, bytes.size() - first);
        return;
    }
}

} // namespace mtdfuse::cache
