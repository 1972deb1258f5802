// Invariant: byte i of the device is bytes_[i] XOR fill_. Fresh anonymous pages are zero, so the
// whole device reads as the fill without a page being touched: a device in memory costs only what
// was written back to it, and needs no record of which parts those are, hence no lock either.
#include <mtdfuse/storage.hpp>

#include "range.hpp"

#include <cerrno>

#include <fmt/format.h>
#include <sys/mman.h>

namespace mtdfuse::storage {

namespace {

class MemoryBacking final : public Backing {
public:
    // Takes the mapping.
    MemoryBacking(std::span<std::byte> mapping, std::byte fill) : bytes_(mapping), fill_(fill) {}
    MemoryBacking(const MemoryBacking&) = delete;
    MemoryBacking& operator=(const MemoryBacking&) = delete;
    ~MemoryBacking() override { ::munmap(bytes_.data(), bytes_.size()); }

    [[nodiscard]] std::uint64_t size_bytes() const override { return bytes_.size(); }
    [[nodiscard]] std::uint64_t block_bytes() const override { return 1; }

    [[nodiscard]] Status read_at(ByteOffset at, std::span<std::byte> into) override {
        if (auto within = check_range(at, into.size(), bytes_.size()); !within)
            return within;
        copy(bytes_.data() + at.value, into.data(), into.size());
        return {};
    }

    [[nodiscard]] Status write_at(ByteOffset at, std::span<const std::byte> from) override {
        if (auto within = check_range(at, from.size(), bytes_.size()); !within)
            return within;
        copy(from.data(), bytes_.data() + at.value, from.size());
        return {};
    }

    [[nodiscard]] Status
    write_vector_at(ByteOffset at, std::span<const std::span<const std::byte>> segments) override {
        if (auto within = check_range(at, total_bytes(segments), bytes_.size()); !within)
            return within;
        for (const auto& segment : segments) {
            copy(segment.data(), bytes_.data() + at.value, segment.size());
            at = at + segment.size();
        }
        return {};
    }

    void start_write_out(ByteOffset, std::uint64_t) override {}
    [[nodiscard]] Status sync() override { return {}; }

private:
    void copy(const std::byte* from, std::byte* to, std::size_t length_bytes) const {
        const std::byte fill = fill_;
        for (std::size_t i = 0; i < length_bytes; ++i)
            to[i] = from[i] ^ fill;
    }

    std::span<std::byte> bytes_;
    std::byte fill_;
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
    return std::make_unique<MemoryBacking>(
        std::span(static_cast<std::byte*>(mapping), static_cast<std::size_t>(size_bytes)), fill);
}

} // namespace mtdfuse::storage
