// An amount of bytes that many share: what may be resident, what may be dirty.
//
// Invariant: used <= limit, always. Nobody waits for a quota while holding one, or a folio.
// Lock order: a leaf.
#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

#include <mtdfuse/base.hpp>

namespace mtdfuse::cache {

class Quota {
public:
    explicit Quota(std::uint64_t limit_bytes) : limit_(limit_bytes) {}

    [[nodiscard]] std::uint64_t limit_bytes() const { return limit_; }
    [[nodiscard]] std::uint64_t used_bytes() const;
    [[nodiscard]] bool try_take(std::uint64_t bytes);
    void give_back(std::uint64_t bytes, std::uint64_t takers = 1);
    // How many takes have not been given back.
    [[nodiscard]] std::uint64_t takers() const;

    // For who finds nothing to free: sample epoch(), look, then await_change() returns as soon as
    // something was given back or announced after the sample.
    [[nodiscard]] std::uint64_t epoch() const;
    void announce_change();
    void await_change(std::uint64_t sampled_epoch);

private:
    const std::uint64_t limit_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t used_ = 0;
    std::uint64_t takers_ = 0;
    std::uint64_t epoch_ = 0;
};

// A part of a quota on its way to a folio: given back unless committed. Not thread-safe.
class Reservation {
public:
    Reservation() = default;
    Reservation(Quota& quota, std::uint64_t bytes) : quota_(&quota), bytes_(bytes) {}
    Reservation(Reservation&& other) noexcept
        : quota_(std::exchange(other.quota_, nullptr)), bytes_(other.bytes_) {}
    Reservation& operator=(Reservation&& other) noexcept {
        if (this != &other) {
            reset();
            quota_ = std::exchange(other.quota_, nullptr);
            bytes_ = other.bytes_;
        }
        return *this;
    }
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation() { reset(); }

    // The folio has the bytes now; whoever empties it gives them back.
    void commit() { quota_ = nullptr; }

private:
    void reset() {
        if (quota_ != nullptr)
            quota_->give_back(bytes_);
        quota_ = nullptr;
    }

    Quota* quota_ = nullptr;
    std::uint64_t bytes_ = 0;
};

} // namespace mtdfuse::cache
