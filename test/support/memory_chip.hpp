// A chip over a vector, for the rooms above chip: it records the calls and fails where it is told
// to. Thread-safe: the mutex guards the bytes and the records.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>

#include <mtdfuse/chip.hpp>

namespace mtdfuse::test {

class MemoryChip final : public chip::Chip {
public:
    struct Call {
        std::uint64_t at_bytes, length_bytes;
        bool operator==(const Call&) const = default;
    };

    explicit MemoryChip(std::uint64_t size_bytes, std::uint32_t erasesize_bytes,
                        std::byte fill = std::byte{0})
        : geometry_{chip::Type::ram, size_bytes, erasesize_bytes, 1, 0}, bytes_(size_bytes, fill) {}

    [[nodiscard]] const chip::Geometry& geometry() const override { return geometry_; }

    [[nodiscard]] Status read(ByteOffset at, std::span<std::byte> into) override {
        const std::lock_guard lock(mutex_);
        std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at.value), into.size(),
                    into.begin());
        return answer();
    }

    [[nodiscard]] Status program(ByteOffset at, std::span<const std::byte> from) override {
        const std::lock_guard lock(mutex_);
        programs_.push_back({at.value, from.size()});
        std::copy(from.begin(), from.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at.value));
        return answer();
    }

    // As the contract says: the blocks before `fail_at_block` are erased.
    [[nodiscard]] Status erase(BlockIndex first, std::uint64_t count) override {
        const std::lock_guard lock(mutex_);
        for (std::uint64_t block = first.value; block < first.value + count; ++block) {
            if (block == fail_at_block) {
                return fail(EIO, "block failed");
            }
            erases_.push_back(block);
            const auto begin =
                bytes_.begin() + static_cast<std::ptrdiff_t>(block * geometry_.erasesize_bytes);
            std::fill_n(begin, geometry_.erasesize_bytes, std::byte{0xff});
        }
        return answer();
    }

    [[nodiscard]] Status sync(chip::Durability durability, chip::ErrorCursor&) override {
        const std::lock_guard lock(mutex_);
        ++(durability == chip::Durability::stable ? stable_syncs : write_backs);
        return answer();
    }
    [[nodiscard]] chip::ErrorCursor error_cursor() override { return {}; }
    void drop_caches() override { ++drops; }
    void collect_metrics(std::vector<Metric>& into) const override {
        into.push_back({"erases_total", "Blocks erased.", MetricKind::counter, erases().size()});
    }

    [[nodiscard]] std::vector<Call> programs() const {
        const std::lock_guard lock(mutex_);
        return programs_;
    }
    [[nodiscard]] std::vector<std::uint64_t> erases() const {
        const std::lock_guard lock(mutex_);
        return erases_;
    }

    std::atomic<std::uint64_t> fail_at_block{UINT64_MAX};
    std::atomic<int> stable_syncs{0}, write_backs{0}, drops{0};
    std::atomic<int> next_errno{0};      // where not 0, every call fails with it
    std::atomic<bool> throw_next{false}; // every call throws

private:
    Status answer() const {
        if (throw_next) {
            throw std::runtime_error("the chip threw");
        }
        return next_errno ? Status(fail(next_errno, "the chip failed")) : Status();
    }

    const chip::Geometry geometry_;
    mutable std::mutex mutex_;
    std::vector<std::byte> bytes_;
    std::vector<Call> programs_;
    std::vector<std::uint64_t> erases_;
};

// Keeps the lines, for tests that ask what was logged.
class KeptLog final : public Log {
public:
    void write(Severity severity, std::string_view message) override {
        const std::lock_guard lock(mutex_);
        lines_.emplace_back(severity, std::string(message));
    }
    [[nodiscard]] std::vector<std::pair<Severity, std::string>> lines() const {
        const std::lock_guard lock(mutex_);
        return lines_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::pair<Severity, std::string>> lines_;
};

} // namespace mtdfuse::test
