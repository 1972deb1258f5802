#include "sparse_guard.hpp"

#include <algorithm>
#include <iterator>

namespace mtdfuse::fuse {

void SparseGuard::wrote(std::uint64_t at_bytes, std::uint64_t length_bytes) {
    if (length_bytes == 0) {
        return;
    }
    const std::uint64_t end = at_bytes + length_bytes;
    if (at_bytes > size_bytes_) {
        truncated(at_bytes);
    }
    fill(at_bytes, end);
    size_bytes_ = std::max(size_bytes_, end);
}

void SparseGuard::truncated(std::uint64_t size_bytes) {
    if (size_bytes < size_bytes_) {
        fill(size_bytes, size_bytes_);
    } else if (size_bytes > size_bytes_) {
        const auto last = holes_.empty() ? holes_.end() : std::prev(holes_.end());
        if (last != holes_.end() && last->second == size_bytes_) {
            last->second = size_bytes;
        } else {
            holes_.emplace(size_bytes_, size_bytes);
        }
    }
    size_bytes_ = size_bytes;
}

std::optional<SparseGuard::Hole> SparseGuard::first_hole() const {
    if (holes_.empty()) {
        return std::nullopt;
    }
    const auto& [begin, end] = *holes_.begin();
    return Hole{begin, end - begin};
}

void SparseGuard::fill(std::uint64_t begin, std::uint64_t end) {
    auto hole = holes_.upper_bound(begin);
    if (hole != holes_.begin()) {
        --hole;
    }
    while (hole != holes_.end() && hole->first < end) {
        const auto [hole_begin, hole_end] = *hole;
        if (hole_end <= begin) {
            ++hole;
            continue;
        }
        hole = holes_.erase(hole);
        if (hole_begin < begin) {
            holes_.emplace(hole_begin, begin);
        }
        if (hole_end > end) {
            holes_.emplace(end, hole_end);
        }
    }
}

} // namespace mtdfuse::fuse
