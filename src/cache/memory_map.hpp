// A mapped range of memory that unmaps itself. Not thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <mtdfuse/base.hpp>

namespace mtdfuse::cache {

class MemoryMap {
public:
    // mmap(2), readable and writable. ENOMEM and the like.
    [[nodiscard]] static Result<MemoryMap> create(std::uint64_t length_bytes, int flags, int fd);

    MemoryMap(MemoryMap&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), length_(other.length_) {}
    MemoryMap(const MemoryMap&) = delete;
    MemoryMap& operator=(const MemoryMap&) = delete;
    ~MemoryMap();

    [[nodiscard]] std::byte* data() const { return data_; }

private:
    MemoryMap(std::byte* data, std::size_t length) : data_(data), length_(length) {}

    std::byte* data_;
    std::size_t length_;
};

} // namespace mtdfuse::cache
