// Buffers for read replies, taken and given back: none is cleared, none is allocated twice. They
// start on a page, as the cache's memory does: copies of 4 KiB and more between memory that is
// aligned differently took up to five times as long (mtdfuse-speedtest on an AMD EPYC).
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

    struct Free {
        void operator()(std::byte* memory) const;
    };
    using Memory = std::unique_ptr<std::byte, Free>;

    // Gives its memory back when it goes.
    class Buffer {
    public:
        Buffer(BufferPool& pool, Memory memory, std::size_t length_bytes)
            : pool_(pool), memory_(std::move(memory)), length_bytes_(length_bytes) {}
        Buffer(const Buffer&) = delete;
        Buffer& operator=(const Buffer&) = delete;
        ~Buffer();

        [[nodiscard]] std::span<std::byte> bytes() const { return {memory_.get(), length_bytes_}; }

    private:
        BufferPool& pool_;
        Memory memory_;
        const std::size_t length_bytes_;
    };

    // Uninitialised memory of this length. One longer than the pool's buffers is not kept.
    [[nodiscard]] Buffer take(std::size_t length_bytes);

private:
    const std::size_t buffer_bytes_;
    std::mutex mutex_;
    std::vector<Memory> free_;
};

} // namespace mtdfuse::fuse
