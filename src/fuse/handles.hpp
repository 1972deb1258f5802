// Open files: what one open(2) keeps until its release.
//
// The kernel names a handle only between its open and its release, so a look-up needs no lock; the
// table exists to free what a stopped session leaves open. The mutex guards open_.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "reply.hpp"

namespace mtdfuse::fuse {

// Calls come from several threads at once, all but the end. Each answers its reply or hands it on.
class Handle {
public:
    Handle() = default;
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    virtual ~Handle() = default;

    // `through_page_cache`: the kernel will keep what it gets.
    virtual void read(Reply& reply, std::uint64_t at_bytes, std::size_t length_bytes,
                      bool through_page_cache) = 0;
    virtual void write(Reply& reply, std::uint64_t at_bytes, std::span<const std::byte> from) = 0;
    virtual void ioctl(Reply& reply, std::uint32_t command, std::uint64_t argument,
                       std::span<const std::byte> in, std::size_t out_limit_bytes) = 0;
    virtual void flush(Reply& reply) = 0;
    virtual void fsync(Reply& reply) = 0;
    // ftruncate: it changes nothing, but the writer now believes in this size.
    virtual void truncated(std::uint64_t size_bytes) = 0;
    // Whether close has anything to do.
    [[nodiscard]] virtual bool wants_flush() const = 0;
};

class Handles {
public:
    // The number that the kernel will name it by.
    [[nodiscard]] std::uint64_t add(std::unique_ptr<Handle> handle);
    void remove(std::uint64_t number);
    [[nodiscard]] static Handle& find(std::uint64_t number);
    [[nodiscard]] std::size_t count() const;

private:
    mutable std::mutex mutex_;
    std::unordered_map<std::uint64_t, std::unique_ptr<Handle>> open_;
};

} // namespace mtdfuse::fuse
