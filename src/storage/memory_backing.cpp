// Invariant: byte i of the device is bytes_[i] XOR fill_, and a piece whose bit in written_ is
// clear has only zero bytes. Fresh anonymous pages are zero, so the device reads as the fill at
// once. A piece never written is not even looked at: most kernels answer such a read from one
// shared zero page, but some (seen: 6.18 in a small virtual machine) give memory for it. No locks:
// callers keep reads and writes of the same bytes apart, and a bit is set after the bytes it tells
// of.
#include <mtdfuse/storage.hpp>

#include "range.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>

namespace mtdfuse::storage {

namespace {

constexpr std::uint64_t kPieceBytes = 64 * kKiB; // 2 MiB of bits for a device of 1 TiB
constexpr std::uint64_t kWordBits = 64;

class MemoryBacking final : public Backing {
public:
    // Takes the mapping; remember_pieces() follows, which may throw when the mapping has its owner.
    MemoryBacking(std::span<std::byte> mapping, std::byte fill) : bytes_(mapping), fill_(fill) {}
    MemoryBacking(const MemoryBacking&) = delete;
    MemoryBacking& operator=(const MemoryBacking&) = delete;
    ~MemoryBacking() override { ::munmap(bytes_.data(), bytes_.size()); }

    void remember_pieces() {
        written_ =
            std::vector<std::atomic<std::uint64_t>>(bytes_.size() / kPieceBytes / kWordBits + 1);
    }

    [[nodiscard]] std::uint64_t size_bytes() const override { return bytes_.size(); }
    [[nodiscard]] std::uint64_t block_bytes() const override { return 1; }

    [[nodiscard]] Status read_at(ByteOffset at, std::span<std::byte> into) override {
        if (auto within = check_range(at, into.size(), bytes_.size()); !within)
            return within;
        while (!into.empty()) {
            const auto length =
                std::min<std::uint64_t>(into.size(), kPieceBytes - at.value % kPieceBytes);
            if (is_written(at.value / kPieceBytes))
                copy(bytes_.data() + at.value, into.data(), length);
            else
                std::fill_n(into.begin(), length, fill_);
            at = at + length;
            into = into.subspan(length);
        }
        return {};
    }

    [[nodiscard]] Status write_at(ByteOffset at, std::span<const std::byte> from) override {
        if (auto within = check_range(at, from.size(), bytes_.size()); !within)
            return within;
        put(at, from);
        return {};
    }

    [[nodiscard]] Status
    write_vector_at(ByteOffset at, std::span<const std::span<const std::byte>> segments) override {
        if (auto within = check_range(at, total_bytes(segments), bytes_.size()); !within)
            return within;
        for (const auto& segment : segments) {
            put(at, segment);
            at = at + segment.size();
        }
        return {};
    }

    void start_write_out(ByteOffset, std::uint64_t) override {}
    [[nodiscard]] Status sync() override { return {}; }

private:
    [[nodiscard]] bool is_written(std::uint64_t piece) const {
        const auto word = written_[piece / kWordBits].load(std::memory_order_acquire);
        return (word >> piece % kWordBits & 1U) != 0;
    }

    void put(ByteOffset at, std::span<const std::byte> from) {
        if (from.empty())
            return;
        copy(from.data(), bytes_.data() + at.value, from.size());
        const std::uint64_t last = (at.value + from.size() - 1) / kPieceBytes;
        for (std::uint64_t piece = at.value / kPieceBytes; piece <= last; ++piece) {
            if (!is_written(piece))
                written_[piece / kWordBits].fetch_or(std::uint64_t{1} << piece % kWordBits,
                                                     std::memory_order_release);
        }
    }

    void copy(const std::byte* from, std::byte* to, std::size_t length_bytes) const {
        const std::byte fill = fill_;
        for (std::size_t i = 0; i < length_bytes; ++i)
            to[i] = from[i] ^ fill;
    }

    std::span<std::byte> bytes_;
    std::byte fill_;
    std::vector<std::atomic<std::uint64_t>> written_; // a bit per piece
};

} // namespace

Result<std::unique_ptr<Backing>> make_memory_backing(std::uint64_t size_bytes, std::byte fill) {
    if (size_bytes == 0)
        return fail(EINVAL, "a device in memory cannot have 0 bytes");
    // MAP_NORESERVE: a large device of which little is written is legitimate.
    void* const mapping =
        std::in_range<std::size_t>(size_bytes)
            ? ::mmap(nullptr, static_cast<std::size_t>(size_bytes), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
            : MAP_FAILED;
    if (mapping == MAP_FAILED)
        return fail(ENOMEM, fmt::format("no memory for a device of {} bytes", size_bytes));
    auto backing = std::make_unique<MemoryBacking>(
        std::span(static_cast<std::byte*>(mapping), static_cast<std::size_t>(size_bytes)), fill);
    backing->remember_pieces();
    return backing;
}

} // namespace mtdfuse::storage
