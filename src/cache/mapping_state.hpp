// One mapping: the folios of one device, their memory and their backing.
//
// Every operation looks at a folio, reserves what it will need for it, and then takes it by a
// transition that proves the folio still is what was looked at; where it is not, everything is
// given back and the operation looks again. Where it has to sleep it first gives everything back.
// A reader of a resident folio takes nothing: it proves after its copy that the folio was nobody
// else's meanwhile, and throws the copy away where it was.
//
// Invariant: a folio's bytes in the arena are changed only under its lock, and seen by a caller
// only if they were read under a hold or proved after. Memory of a folio that is not resident is
// touched only by a copy that will be thrown away, and its reader gives it back.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include <mtdfuse/cache.hpp>

#include "arena.hpp"
#include "cache_state.hpp"
#include "change.hpp"
#include "error_sequence.hpp"
#include "folio_table.hpp"
#include "reclaim.hpp"

namespace mtdfuse::cache {

// A range is copied in streams, each under one hold, with one proof. A stream ends where a folio
// does: of a folio in two streams a reader could see a mixture. So it is as long as this, or one
// folio where that is longer.
inline constexpr std::uint64_t kStreamRunBytes = 128 * kKiB;
[[nodiscard]] constexpr std::uint64_t most_stream_bytes(std::uint64_t folio_bytes) {
    return std::max(kStreamRunBytes, folio_bytes);
}

class MappingState {
public:
    // `backing` is null for an anonymous mapping of `size_bytes`.
    [[nodiscard]] static Result<std::unique_ptr<MappingState>>
    create(CacheState& cache, std::unique_ptr<storage::Backing> backing, std::uint64_t size_bytes);

    // The operations, as the facade's Mapping promises them.
    [[nodiscard]] Status read(ByteOffset at, std::span<std::byte> into);
    [[nodiscard]] Status change(ByteOffset at, std::uint64_t length_bytes, const Change& change);
    [[nodiscard]] Status sync(Durability durability, std::uint64_t& errors_seen);
    void drop();

    struct Pinned {
        FolioIndex first, last;
        std::span<const std::byte> bytes;
    };
    [[nodiscard]] Result<Pinned> pin(ByteOffset at, std::uint64_t length_bytes);
    void unpin(FolioIndex first, FolioIndex last);

    [[nodiscard]] std::uint64_t size_bytes() const { return size_bytes_; }
    [[nodiscard]] std::uint64_t dirty_bytes() const { return dirty_bytes_.load(); }
    [[nodiscard]] const ErrorSequence& errors() const { return errors_; }

    // For reclaim and writeback.
    [[nodiscard]] FolioTable& folios() { return *folios_; }
    [[nodiscard]] Arena& arena() { return arena_; }
    [[nodiscard]] storage::Backing* backing() { return backing_.get(); }
    [[nodiscard]] ByteOffset folio_start(FolioIndex index) const {
        return ByteOffset(index.value * folio_bytes_);
    }
    [[nodiscard]] std::uint64_t folio_length_bytes(FolioIndex index) const;
    // What the folio costs of the budget: its length in whole base pages.
    [[nodiscard]] std::uint64_t charge_bytes(FolioIndex index) const;
    void punch(ByteOffset at, std::uint64_t length_bytes);
    void account_clean(FolioIndex index) { dirty_bytes_ -= folio_length_bytes(index); }
    void record_error(const Error& error);

private:
    MappingState(CacheState& cache, std::unique_ptr<storage::Backing> backing, Arena arena,
                 std::unique_ptr<FolioTable> folios, std::uint64_t size_bytes);

    // The part of a range that lies in one folio.
    struct Piece {
        FolioIndex index;
        ByteOffset at;
        std::uint64_t length_bytes;
    };
    [[nodiscard]] FolioIndex folio_of(ByteOffset at) const {
        return FolioIndex(at.value >> folio_shift_);
    }
    [[nodiscard]] Piece piece_at(ByteOffset at, std::uint64_t length_bytes) const;
    // How much of the range the first stream takes.
    [[nodiscard]] std::uint64_t stream_bytes(ByteOffset at, std::uint64_t length_bytes) const {
        const std::uint64_t end =
            (at.value + most_stream_bytes(folio_bytes_)) & ~(folio_bytes_ - 1);
        return std::min(length_bytes, end - at.value);
    }
    [[nodiscard]] bool in_one_folio(ByteOffset at, std::uint64_t length_bytes) const {
        return length_bytes - 1 < folio_bytes_ - (at.value & (folio_bytes_ - 1));
    }
    [[nodiscard]] bool copies_without_hold() const {
        return !backing_ || cache_.copies_without_hold.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool in_range(ByteOffset at, std::uint64_t length_bytes) const {
        return at.value <= size_bytes_ && length_bytes <= size_bytes_ - at.value;
    }
    [[nodiscard]] tl::unexpected<Error> out_of_range(ByteOffset at,
                                                     std::uint64_t length_bytes) const;
    [[nodiscard]] std::uint64_t run_bytes(FolioIndex first, std::uint64_t count) const;
    [[nodiscard]] std::uint64_t run_charge_bytes(FolioIndex first, std::uint64_t count) const;

    using Proof = FolioTable::Proof;
    // The transition, if the folio still is what was looked at; counts a retry where it is not.
    [[nodiscard, gnu::always_inline]] Proof take(FolioIndex index, Transition transition,
                                                 FolioWord looked) {
        cache_.before_lock(*this, index);
        const Proof proof = folios_->apply_if_still(index, transition, looked);
        if (proof == Proof::changed) [[unlikely]]
            cache_.counters.retries.add();
        return proof;
    }

    // ---- filling: mapping_fill.cpp
    // Makes a folio resident that was looked at and was not; ends by `publish`. Absent neighbours
    // above it, up to `count` in all, come with it in the same read where that needs no sleep.
    [[nodiscard]] Result<Proof> fill(FolioIndex index, std::uint64_t count, FolioWord looked,
                                     Transition publish, Patience patience);
    [[nodiscard]] Reservation reserve_neighbours(FolioIndex index, std::uint64_t& count);
    // How many folios a miss reads at once: what is wanted, and more where it follows the last one.
    [[nodiscard]] std::uint64_t read_ahead(FolioIndex index, std::uint64_t wanted);
    // The bytes from the backing, or 0xFF without one. The folios are locked.
    [[nodiscard]] Status load_bytes(FolioIndex first, std::uint64_t count);
    // All bytes of a folio, from a caller.
    [[nodiscard]] Status store_bytes(FolioIndex index, std::span<const std::byte> bytes);
    // The folio is locked, its bytes are there: the budget's books have it from now on.
    void admit(FolioIndex index, Reservation& room);

    // ---- reading: mapping_read.cpp
    // The range, if it lies in one folio that is resident and stays so: true. For short reads.
    [[nodiscard]] bool read_one(ByteOffset at, std::span<std::byte> into);
    // A front part of the range, if its folios are resident and stay so: its length; else 0.
    [[nodiscard]] std::uint64_t read_resident(ByteOffset at, std::span<std::byte> into);
    // At least the part in the first folio, whatever that takes.
    [[nodiscard]] Result<std::uint64_t> read_first_folio(ByteOffset at, std::span<std::byte> into);
    void note_use(FolioIndex first, std::span<const FolioWord> looked);
    // A copy out of these folios is thrown away: somebody changed one meanwhile.
    void lose_copy(FolioIndex first, std::uint64_t count);
    void settle_late_copy(FolioIndex index);
    // True where the folio is pinned now; false where that would take patience.
    [[nodiscard]] Result<bool> try_pin(FolioIndex index, Patience patience);

    // ---- changing: mapping_change.cpp
    // The range, if it lies in one folio that is resident and free: true. Else nothing is done. For
    // short writes.
    [[nodiscard]] bool change_one(ByteOffset at, std::uint64_t length_bytes, const Change& change);
    // How much of the front of the range is done; 0: look again.
    [[nodiscard]] Result<std::uint64_t> change_front(ByteOffset at, std::uint64_t length_bytes,
                                                     const Change& change);
    [[nodiscard]] Result<std::uint64_t> change_resident(ByteOffset at, std::uint64_t length_bytes,
                                                        const Change& change);
    [[nodiscard]] Result<std::uint64_t> change_absent(const Piece& piece, const Change& change,
                                                      FolioWord looked);
    enum class Outcome { unchanged, changed, needs_dirty_room };
    [[nodiscard]] Outcome change_locked(const Piece& piece, const Change& change, FolioWord looked);
    [[nodiscard]] Status fill_by_change(const Piece& piece, const Change& change, Reservation& room,
                                        Reservation& dirt);
    void mark_dirty(FolioIndex index, Reservation& dirt);
    [[nodiscard]] Status write_through(FolioIndex first, std::uint64_t count);

    CacheState& cache_;
    const Kernels& kernels_;
    const std::unique_ptr<storage::Backing> backing_;
    const std::uint64_t size_bytes_;
    const std::uint64_t folio_bytes_;
    const unsigned folio_shift_;
    Arena arena_;
    const std::unique_ptr<FolioTable> folios_;
    std::atomic<std::uint64_t> dirty_bytes_{0};
    // Where a miss would go on with the last one, and how much that read. Racing readers spoil at
    // worst each other's guess.
    std::atomic<std::uint64_t> next_miss_{0};
    std::atomic<std::uint64_t> miss_folios_{0};
    ErrorSequence errors_;
    std::mutex error_text_mutex_; // a leaf
    std::string error_text_;
};

} // namespace mtdfuse::cache
