// One mapping: the folios of one device, their memory and their backing.
//
// Every operation looks at a folio, reserves what it will need for it, and then takes it by a
// transition that proves the folio still is what was looked at; where it is not, everything is
// given back and the operation looks again. Where it has to sleep it first gives everything back.
//
// Invariant: a folio's bytes in the arena are touched only under a hold on it: read under a shared
// hold, a pin or the lock, changed under the lock. So memory of a folio that is not resident is
// never touched, and never allocated outside of the budget.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include <mtdfuse/cache.hpp>

#include "arena.hpp"
#include "change.hpp"
#include "error_sequence.hpp"
#include "folio_table.hpp"
#include "reclaim.hpp"

namespace mtdfuse::cache {

class CacheState;

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
    [[nodiscard]] Piece piece_at(ByteOffset at, std::uint64_t length_bytes) const;
    [[nodiscard]] Status check_range(ByteOffset at, std::uint64_t length_bytes) const;

    using Proof = FolioTable::Proof;
    // The transition, if the folio still is what was looked at; counts a retry where it is not.
    [[nodiscard]] Proof take(FolioIndex index, Transition transition, FolioWord looked);
    // Makes a folio resident that was looked at and was not; ends by `publish`.
    [[nodiscard]] Result<Proof> fill_folio(FolioIndex index, FolioWord looked, Transition publish,
                                           Patience patience);
    // The folio's bytes from the backing, or 0xFF without one. The folio is locked.
    [[nodiscard]] Status load_bytes(FolioIndex index);
    // The folio is locked, its bytes are there: the budget's books have it from now on.
    void admit(FolioIndex index, Reservation& room);

    [[nodiscard]] Status read_piece(const Piece& piece, std::byte* into);

    enum class Outcome { again, unchanged, changed };
    [[nodiscard]] Status change_piece(const Piece& piece, const Change& change);
    [[nodiscard]] Result<Outcome> try_change(const Piece& piece, const Change& change);
    [[nodiscard]] Result<Outcome> try_to_find_equal(const Piece& piece, const Change& change,
                                                    FolioWord looked);
    [[nodiscard]] Result<Outcome> change_locked(const Piece& piece, const Change& change,
                                                FolioWord looked, Reservation& room,
                                                Reservation& dirt);
    void mark_dirty(FolioIndex index, Reservation& dirt);
    [[nodiscard]] Status write_through(FolioIndex index);

    // True where the folio is pinned now; false where that would take patience.
    [[nodiscard]] Result<bool> try_pin(FolioIndex index, Patience patience);

    CacheState& cache_;
    const std::unique_ptr<storage::Backing> backing_;
    const std::uint64_t size_bytes_;
    const std::uint64_t folio_bytes_;
    Arena arena_;
    const std::unique_ptr<FolioTable> folios_;
    std::atomic<std::uint64_t> dirty_bytes_{0};
    ErrorSequence errors_;
    std::mutex error_text_mutex_; // a leaf
    std::string error_text_;
};

} // namespace mtdfuse::cache
