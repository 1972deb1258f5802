// An amount of bytes that many share: what may be resident, what may be dirty.
//
// Invariant: used <= limit, but for the time after the limit was lowered. Nobody waits for a quota
// while holding one, or a folio.
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

    [[nodiscard]] std::uint64_t limit_bytes() const;
    void set_limit(std::uint64_t bytes);
    [[nodiscard]] std::uint64_t used_bytes() const;
    [[nodiscard]] bool try_take(std::uint64_t bytes, std::uint64_t folios = 1);
    void give_back(std::uint64_t bytes, std::uint64_t folios = 1);
    // For how many folios something is taken.
    [[nodiscard]] std::uint64_t folios() const;

    // For who finds nothing to free: sample epoch(), look, then await_change() returns as soon as
    // something was given back or announced after the sample.
    [[nodiscard]] std::uint64_t epoch() const;
    void announce_change();
    void await_change(std::uint64_t sampled_epoch);

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t limit_;
    std::uint64_t used_ = 0;
    std::uint64_t folios_ = 0;
    std::uint64_t epoch_ = 0;
};

// A part of a quota on its way to some folios: what is not committed is given back. Not
// thread-safe.
class Reservation {
public:
    Reservation() = default;
    Reservation(Quota& quota, std::uint64_t bytes, std::uint64_t folios = 1)
        : quota_(&quota), bytes_(bytes), folios_(folios) {}
    Reservation(Reservation&& other) noexcept
        : quota_(other.quota_), bytes_(std::exchange(other.bytes_, 0)),
          folios_(std::exchange(other.folios_, 0)) {}
    Reservation& operator=(Reservation&& other) noexcept {
        if (this != &other) {
            reset();
            quota_ = other.quota_;
            bytes_ = std::exchange(other.bytes_, 0);
            folios_ = std::exchange(other.folios_, 0);
        }
        return *this;
    }
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation() { reset(); }

    // One folio has these bytes now; whoever empties it gives them back.
    void commit(std::uint64_t bytes) {
        bytes_ -= bytes;
        --folios_;
    }

private:
    void reset() {
        if (folios_ > 0)
            quota_->give_back(bytes_, folios_);
        folios_ = 0;
    }

    Quota* quota_ = nullptr;
    std::uint64_t bytes_ = 0;
    std::uint64_t folios_ = 0;
};

} // namespace mtdfuse::cache
