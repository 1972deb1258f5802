#include "buffer_pool.hpp"

#include <algorithm>

namespace mtdfuse::fuse {

BufferPool::Buffer::~Buffer() {
    if (length_bytes_ <= pool_.buffer_bytes_) {
        const std::lock_guard lock(pool_.mutex_);
        pool_.free_.push_back(std::move(memory_));
    }
}

BufferPool::Buffer BufferPool::take(std::size_t length_bytes) {
    if (length_bytes <= buffer_bytes_) {
        const std::lock_guard lock(mutex_);
        if (!free_.empty()) {
            auto memory = std::move(free_.back());
            free_.pop_back();
            return Buffer(*this, std::move(memory), length_bytes);
        }
    }
    const std::size_t allocated = std::max(length_bytes, buffer_bytes_);
    return Buffer(*this, std::make_unique_for_overwrite<std::byte[]>(allocated), length_bytes);
}

} // namespace mtdfuse::fuse
