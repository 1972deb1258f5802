// A chip over a plain vector, for tests of what stands above a chip: it records what reached it and
// can be told to fail. Not thread-safe.
#pragma once

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include <mtdfuse/chip.hpp>

namespace mtdfuse::test {

inline chip::Geometry small_ram(std::uint64_t size_bytes, std::uint32_t erasesize_bytes) {
    chip::Geometry geometry;
    geometry.size_bytes = size_bytes;
    geometry.erasesize_bytes = erasesize_bytes;
    geometry.writesize_bytes = 1;
    return geometry;
}

class FakeChip final : public chip::Chip {
public:
    explicit FakeChip(const chip::Geometry& geometry, std::byte fill = std::byte{0})
        : bytes(std::min<std::uint64_t>(geometry.size_bytes, kMaxStoredBytes), fill),
          geometry_(geometry) {}

    using Durability = chip::Durability;
    struct Erase {
        std::uint64_t first, count;
        bool operator==(const Erase&) const = default;
    };
    // A larger chip keeps only its first bytes: enough to see what reaches a huge device.
    static constexpr std::uint64_t kMaxStoredBytes = 64 * 1024 * 1024;

    std::vector<std::byte> bytes;
    std::vector<Erase> erases;
    std::vector<std::uint64_t> program_starts;
    std::vector<Durability> syncs;

    // Erasing, programming or reading this block fails with `failure`.
    std::optional<std::uint64_t> failing_block;
    int failure = EREMOTEIO;
    int sync_failure = 0;

    [[nodiscard]] const chip::Geometry& geometry() const override { return geometry_; }

    [[nodiscard]] Status read(ByteOffset at, std::span<std::byte> into) override {
        if (Status refused = refuse(at, into.size()); !refused) {
            return refused;
        }
        for (std::size_t i = 0; i < into.size(); ++i) {
            into[i] = at.value + i < bytes.size() ? bytes[at.value + i] : std::byte{0};
        }
        return {};
    }

    [[nodiscard]] Status program(ByteOffset at, std::span<const std::byte> from) override {
        program_starts.push_back(at.value);
        if (Status refused = refuse(at, from.size()); !refused) {
            return refused;
        }
        for (std::size_t i = 0; i < from.size() && at.value + i < bytes.size(); ++i) {
            bytes[at.value + i] = from[i];
        }
        return {};
    }

    [[nodiscard]] Status erase(BlockIndex first, std::uint64_t count) override {
        erases.push_back({first.value, count});
        for (std::uint64_t block = first.value; block < first.value + count; ++block) {
            const ByteOffset start = geometry_.start_of(BlockIndex(block));
            if (Status refused = refuse(start, geometry_.erasesize_bytes); !refused) {
                return refused;
            }
            for (std::uint64_t i = start.value;
                 i < std::min<std::uint64_t>(start.value + geometry_.erasesize_bytes, bytes.size());
                 ++i) {
                bytes[i] = std::byte{0xff};
            }
        }
        return {};
    }

    [[nodiscard]] Status sync(Durability durability, chip::ErrorCursor&) override {
        syncs.push_back(durability);
        return sync_failure == 0 ? Status{} : Status{fail(sync_failure, "sync told to fail")};
    }
    [[nodiscard]] chip::ErrorCursor error_cursor() override { return {}; }
    void drop_caches() override {}
    void collect_metrics(std::vector<Metric>&) const override {}

private:
    Status refuse(ByteOffset at, std::uint64_t length_bytes) const {
        if (at.value + length_bytes > geometry_.size_bytes) {
            return fail(EINVAL, "past the end: the caller did not bound the range");
        }
        if (failing_block && length_bytes > 0) {
            const std::uint64_t first = geometry_.block_of(at).value;
            const std::uint64_t last = geometry_.block_of(at + (length_bytes - 1)).value;
            if (first <= *failing_block && *failing_block <= last) {
                return fail(failure, "block told to fail");
            }
        }
        return {};
    }

    const chip::Geometry geometry_;
};

} // namespace mtdfuse::test
