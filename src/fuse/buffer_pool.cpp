#include "buffer_pool.hpp"

#include <algorithm>
#include <new>

namespace mtdfuse::fuse {

namespace {
constexpr std::align_val_t kAlignment{4096};
} // namespace

void BufferPool::Free::operator()(std::byte* memory) const {
    ::operator delete(memory, kAlignment);
}

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
    Memory memory(static_cast<std::byte*>(::operator new(allocated, kAlignment)));
    return Buffer(*this, std::move(memory), length_bytes);
}

} // namespace mtdfuse::fuse
