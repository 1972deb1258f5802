// What an operation does to the bytes of one folio: replace them, clear bits in them, set them to
// 0xFF. Value type; the new bytes are the caller's.
#pragma once

#include <cstddef>
#include <span>

#include <mtdfuse/cache.hpp>

#include "kernels.hpp"

namespace mtdfuse::cache {

class Change {
public:
    [[nodiscard]] static Change write(std::span<const std::byte> from, Combine combine) {
        return {combine == Combine::replace ? Kind::replace : Kind::and_bits, from};
    }
    [[nodiscard]] static Change fill_ff() { return {Kind::fill_ff, {}}; }

    // The result depends on the bytes that were there.
    [[nodiscard]] bool needs_old() const { return kind_ == Kind::and_bits; }
    // The whole result where it depends on nothing else; empty for another kind.
    [[nodiscard]] std::span<const std::byte> replacement() const {
        return kind_ == Kind::replace ? from_ : std::span<const std::byte>();
    }
    [[nodiscard]] bool is_fill_ff() const { return kind_ == Kind::fill_ff; }

    // The same change for a part of its range.
    [[nodiscard]] Change part(std::uint64_t offset, std::uint64_t length_bytes) const;

    // Where `old` begins to differ from what it shall become, or a little before; its size where it
    // already is that.
    [[nodiscard]] std::size_t first_difference(const Kernels& kernels,
                                               std::span<const std::byte> old) const;

    // Changes the bytes from offset `first` on; kernels.fence() completes it.
    void apply(const Kernels& kernels, std::span<std::byte> bytes, std::size_t first) const;

private:
    enum class Kind { replace, and_bits, fill_ff };
    Change(Kind kind, std::span<const std::byte> from) : kind_(kind), from_(from) {}

    Kind kind_;
    std::span<const std::byte> from_;
};

} // namespace mtdfuse::cache
