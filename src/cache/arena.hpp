// The memory of a mapping: a sparse memfd as large as the device, arena offset = device offset.
//
// Invariant: memory is allocated only where somebody touched it and nobody punched it since. The
// arena does not know which folios are valid; FolioTable does.
#pragma once

#include <span>

#include <mtdfuse/base.hpp>

#include "memory_map.hpp"

namespace mtdfuse::cache {

class Arena {
public:
    // `size_bytes` is rounded up to whole folios. errno of the failing call.
    [[nodiscard]] static Result<Arena> create(std::uint64_t size_bytes, std::uint64_t folio_bytes);

    [[nodiscard]] std::span<std::byte> bytes(ByteOffset at, std::uint64_t length_bytes) {
        return {map_.data() + at.value, length_bytes};
    }

    // Bytes in and out by a system call, for what goes between a backing and memory that is seldom
    // touched. By way of the map each base page costs page faults, one in user mode and one in the
    // kernel, and the kernel's zeroes before the first bytes. Measured for 256 MiB on a virtual
    // machine, where faults are dear: read(2) from a file into a buffer and store() 86 ms, read(2)
    // into the map 820; speedtest's cold_read 480 against 1140.
    // What is stored is there for all threads on return. errno of pwrite(2) or pread(2); a part may
    // be done then.
    [[nodiscard]] Status store(ByteOffset at, std::span<const std::byte> from);
    [[nodiscard]] Status fetch(ByteOffset at, std::span<std::byte> into) const;

    // Gives the memory of a range of whole base pages back; it reads as zeroes after.
    [[nodiscard]] Status punch(ByteOffset at, std::uint64_t length_bytes);

    // What the kernel holds for it (st_blocks).
    [[nodiscard]] Result<std::uint64_t> allocated_bytes() const;

private:
    Arena(UniqueFd fd, MemoryMap map) : fd_(std::move(fd)), map_(std::move(map)) {}

    UniqueFd fd_;
    MemoryMap map_;
};

} // namespace mtdfuse::cache
