// What a writer that takes the node for a regular file believes about it, and what it left out.
//
// cp of a sparse file, dd conv=sparse and their kind skip runs of zeros with lseek or ftruncate and
// rely on a file reading as zeros there. Flash keeps its old bytes, so the copy would be wrong
// without a word. The guard keeps the size that the writer believes in and the holes that it left.
//
// Invariant: holes_ are disjoint, not empty, not adjacent to one another, and end at or below
// size_bytes_. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace mtdfuse::fuse {

class SparseGuard {
public:
    // The believed size at open: the device's, or 0 after O_TRUNC.
    explicit SparseGuard(std::uint64_t size_bytes) : size_bytes_(size_bytes) {}

    // Bytes that arrived: they fill holes, and leave one where they begin past the believed end.
    void wrote(std::uint64_t at_bytes, std::uint64_t length_bytes);
    // ftruncate: what is cut off is nobody's hole any more, what is added is one.
    void truncated(std::uint64_t size_bytes);

    struct Hole {
        std::uint64_t at_bytes, length_bytes;
    };
    // The first run of bytes that the writer believes to be zeros and never wrote.
    [[nodiscard]] std::optional<Hole> first_hole() const;

private:
    void fill(std::uint64_t begin, std::uint64_t end);

    std::uint64_t size_bytes_;
    std::map<std::uint64_t, std::uint64_t> holes_; // begin -> end
};

} // namespace mtdfuse::fuse
