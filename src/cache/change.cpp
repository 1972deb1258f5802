#include "change.hpp"

namespace mtdfuse::cache {

Change Change::part(std::uint64_t offset, std::uint64_t length_bytes) const {
    return is_fill_ff() ? *this : Change{kind_, from_.subspan(offset, length_bytes)};
}

std::size_t Change::first_difference(const Kernels& kernels, std::span<const std::byte> old) const {
    switch (kind_) {
    case Kind::replace:
        return kernels.first_difference(old.data(), from_.data(), old.size());
    case Kind::and_bits:
        return kernels.first_cleared(old.data(), from_.data(), old.size());
    case Kind::fill_ff:
        return kernels.first_not_ff(old.data(), old.size());
    }
    return 0;
}

void Change::apply(const Kernels& kernels, std::span<std::byte> bytes, std::size_t first) const {
    const std::span<std::byte> rest = bytes.subspan(first);
    switch (kind_) {
    case Kind::replace:
        return kernels.copy_in(rest.data(), from_.data() + first, rest.size());
    case Kind::and_bits:
        return kernels.and_in(rest.data(), from_.data() + first, rest.size());
    case Kind::fill_ff:
        return kernels.fill_ff(rest.data(), rest.size());
    }
}

} // namespace mtdfuse::cache
