// Buffers for read replies, taken and given back: none is cleared, none is allocated twice.
// The mutex guards free_ and is held for a push or a pop.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace mtdfuse::fuse {

class BufferPool {
public:
    explicit BufferPool(std::size_t buffer_bytes) : buffer_bytes_(buffer_bytes) {}
    BufferPool(const BufferPool&) = delete;
    BufferPool& operator=(const BufferPool&) = delete;

    // Gives its memory back when it goes.
    class Buffer {
    public:
        Buffer(BufferPool& pool, std::unique_ptr<std::byte[]> memory, std::size_t length_bytes)
            : pool_(pool), memory_(std::move(memory)), length_bytes_(length_bytes) {}
        Buffer(const Buffer&) = delete;
        Buffer& operator=(const Buffer&) = delete;
        ~Buffer();

        [[nodiscard]] std::span<std::byte> bytes() const { return {memory_.get(), length_bytes_}; }

    private:
        BufferPool& pool_;
        std::unique_ptr<std::byte[]> memory_;
        const std::size_t length_bytes_;
    };

    // Uninitialised memory of this length. One longer than the pool's buffers is not kept.
    [[nodiscard]] Buffer take(std::size_t length_bytes);

private:
    const std::size_t buffer_bytes_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<std::byte[]>> free_;
};

} // namespace mtdfuse::fuse
