// A backing in plain memory that can be looked into, counts its calls and fails by a rule.
//
// The bytes are not guarded: two calls that overlap at the same time, one of them a write, are a
// mistake of the caller's that ThreadSanitizer shows.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include <mtdfuse/storage.hpp>

namespace mtdfuse::test {

class FakeBacking : public storage::Backing {
public:
    explicit FakeBacking(std::uint64_t size_bytes, std::byte fill = std::byte{0xff})
        : bytes_(size_bytes, fill) {}

    [[nodiscard]] std::uint64_t size_bytes() const override { return bytes_.size(); }
    [[nodiscard]] std::uint64_t block_bytes() const override { return 4096; }

    [[nodiscard]] Status read_at(ByteOffset at, std::span<std::byte> into) override {
        ++reads;
        Status allowed = ask(storage::Operation::read, at, into.size());
        if (allowed)
            std::memcpy(into.data(), &bytes_[at.value], into.size());
        else // a failed read may leave anything behind
            std::memset(into.data(), 0xee, into.size());
        return allowed;
    }

    [[nodiscard]] Status write_at(ByteOffset at, std::span<const std::byte> from) override {
        ++writes;
        Status allowed = ask(storage::Operation::write, at, from.size());
        if (allowed)
            std::memcpy(&bytes_[at.value], from.data(), from.size());
        return allowed;
    }

    [[nodiscard]] Status
    write_vector_at(ByteOffset at, std::span<const std::span<const std::byte>> segments) override {
        for (const auto segment : segments) {
            const Status written = write_at(at, segment);
            if (!written)
                return written;
            at = at + segment.size();
        }
        return {};
    }

    void start_write_out(ByteOffset, std::uint64_t length_bytes) override {
        ++set_outs;
        set_out_bytes += length_bytes;
    }

    [[nodiscard]] Status sync() override {
        ++syncs;
        return ask(storage::Operation::sync, ByteOffset(0), 0);
    }

    // Asked before each call, from any thread; set it while nobody calls.
    storage::FaultRule fault;
    std::atomic<std::uint64_t> reads{0}, writes{0}, syncs{0}, set_outs{0}, set_out_bytes{0};

    [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }

private:
    [[nodiscard]] Status ask(storage::Operation operation, ByteOffset at, std::uint64_t length) {
        // Out of range must not pass for a fault that was asked for.
        if (at.value + length > bytes_.size())
            return fail(EDOM, "the cache went past the end of its backing");
        const int number = fault ? fault(operation, at, length) : 0;
        if (number != 0)
            return fail(number, "injected");
        return {};
    }

    std::vector<std::byte> bytes_;
};

// A backing of any size, 0xFF where it was never written, in pages of 4 KiB. Thread-safe.
class SparseBacking : public storage::Backing {
public:
    explicit SparseBacking(std::uint64_t size_bytes) : size_(size_bytes) {}

    [[nodiscard]] std::uint64_t size_bytes() const override { return size_; }
    [[nodiscard]] std::uint64_t block_bytes() const override { return kPage; }

    [[nodiscard]] Status read_at(ByteOffset at, std::span<std::byte> into) override {
        const std::lock_guard lock(mutex_);
        for (std::size_t i = 0; i < into.size(); ++i) {
            const auto page = pages_.find((at.value + i) / kPage);
            into[i] = page == pages_.end() ? std::byte{0xff} : page->second[(at.value + i) % kPage];
        }
        return {};
    }

    [[nodiscard]] Status write_at(ByteOffset at, std::span<const std::byte> from) override {
        const std::lock_guard lock(mutex_);
        for (std::size_t i = 0; i < from.size(); ++i) {
            auto& page = pages_[(at.value + i) / kPage];
            page.resize(kPage, std::byte{0xff});
            page[(at.value + i) % kPage] = from[i];
        }
        return {};
    }

    [[nodiscard]] Status
    write_vector_at(ByteOffset at, std::span<const std::span<const std::byte>> segments) override {
        for (const auto segment : segments) {
            static_cast<void>(write_at(at, segment));
            at = at + segment.size();
        }
        return {};
    }

    void start_write_out(ByteOffset, std::uint64_t) override {}
    [[nodiscard]] Status sync() override { return {}; }

private:
    static constexpr std::uint64_t kPage = 4096;
    const std::uint64_t size_;
    std::mutex mutex_;
    std::map<std::uint64_t, std::vector<std::byte>> pages_;
};

} // namespace mtdfuse::test
