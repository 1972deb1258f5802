// The buffers through which bytes go between backings and arenas (why not straight: Arena::store).
//
// Invariant: a buffer is lent to one transfer or idle; there are as many as transfers ever ran at
// once, and they stay, as new memory for each would cost the page faults that they are here to
// spare. Thread-safe; the mutex is a leaf.
#pragma once

#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <mtdfuse/base.hpp>

#include "memory_map.hpp"

namespace mtdfuse::cache {

// As long as a transfer is worth being: kMaxReadAheadBytes, kMaxRunBytes.
inline constexpr std::uint64_t kTransferBytes = kMiB;

class TransferBuffers {
public:
    class Loan {
    public:
        Loan(TransferBuffers& lender, MemoryMap buffer)
            : lender_(lender), buffer_(std::move(buffer)) {}
        Loan(const Loan&) = delete;
        Loan& operator=(const Loan&) = delete;
        ~Loan() { lender_.give_back(std::move(buffer_)); }

        // kTransferBytes, page-aligned.
        [[nodiscard]] std::span<std::byte> bytes() const {
            return {buffer_.data(), kTransferBytes};
        }

    private:
        TransferBuffers& lender_;
        MemoryMap buffer_;
    };

    // ENOMEM.
    [[nodiscard]] Result<MemoryMap> take();
    void give_back(MemoryMap buffer);

private:
    std::mutex mutex_;
    std::vector<MemoryMap> idle_;
    std::size_t made_ = 0;
};

} // namespace mtdfuse::cache
