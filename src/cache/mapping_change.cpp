// The half of MappingState that changes bytes and brings the changes to the backing.
#include <fmt/format.h>

#include "cache_state.hpp"
#include "mapping_state.hpp"
#include "writeback.hpp"

namespace mtdfuse::cache {

Status MappingState::change(ByteOffset at, std::uint64_t length_bytes, const Change& change) {
    Status in_range = check_range(at, length_bytes);
    if (!in_range)
        return in_range;
    std::uint64_t done = 0;
    while (done < length_bytes) {
        const Piece piece = piece_at(at + done, length_bytes - done);
        Status changed = change_piece(piece, change.part(done, piece.length_bytes));
        if (!changed)
            return changed;
        done += piece.length_bytes;
    }
    return {};
}

Status MappingState::change_piece(const Piece& piece, const Change& change) {
    for (;;) {
        const Result<Outcome> outcome = try_change(piece, change);
        if (!outcome)
            return tl::unexpected(outcome.error());
        if (*outcome == Outcome::again)
            continue;
        if (*outcome == Outcome::changed && backing_ &&
            cache_.options.policy == Policy::writethrough)
            return write_through(piece.index);
        return {};
    }
}

Result<MappingState::Outcome> MappingState::try_change(const Piece& piece, const Change& change) {
    const FolioWord looked = folios_->load(piece.index);
    const bool resident = (looked & kUptodate) != 0;
    const bool clean = (looked & kDirty) == 0;
    if (!backing_ && !resident && change.is_fill_ff())
        return Outcome::unchanged;
    if (backing_ && resident && clean) {
        auto equal = try_to_find_equal(piece, change, looked);
        if (!equal || *equal != Outcome::changed)
            return equal;
    }
    Proof proof = Proof::busy;
    {
        Reservation room;
        Reservation dirt;
        if (backing_ && !resident) {
            auto reserved = reserve_resident(cache_, charge_bytes(piece.index), Patience::wait);
            if (!reserved)
                return tl::unexpected(std::move(reserved.error()));
            room = std::move(*reserved);
        }
        if (backing_ && clean) {
            if (!cache_.dirty.try_take(charge_bytes(piece.index))) {
                room = Reservation();
                const Status made = make_dirty_room(cache_);
                if (!made)
                    return tl::unexpected(made.error());
                return Outcome::again;
            }
            dirt = Reservation(cache_.dirty, charge_bytes(piece.index));
        }
        proof = take(piece.index, Transition::lock, looked);
        if (proof == Proof::owned)
            return change_locked(piece, change, looked, room, dirt);
    }
    if (proof == Proof::busy)
        folios_->wait_while(piece.index, kKeepsOwnersOut);
    return Outcome::again;
}

// A clean folio that already holds the bytes needs neither the lock nor room for dirt: `unchanged`.
// `changed` where it has to.
Result<MappingState::Outcome>
MappingState::try_to_find_equal(const Piece& piece, const Change& change, FolioWord looked) {
    const Proof proof = take(piece.index, Transition::share, looked);
    if (proof == Proof::busy)
        folios_->wait_while(piece.index, kKeepsReadersOut);
    if (proof != Proof::owned)
        return Outcome::again;
    const FolioHold share(*folios_, piece.index, Transition::unshare);
    if (change.first_difference(arena_.bytes(piece.at, piece.length_bytes)))
        return Outcome::changed;
    cache_.counters.hits.add();
    return Outcome::unchanged;
}

Result<MappingState::Outcome> MappingState::change_locked(const Piece& piece, const Change& change,
                                                          FolioWord looked, Reservation& room,
                                                          Reservation& dirt) {
    const FolioHold lock(*folios_, piece.index, Transition::unlock);
    const std::span<std::byte> bytes = arena_.bytes(piece.at, piece.length_bytes);
    const bool resident = (looked & kUptodate) != 0;
    const bool whole = piece.length_bytes == folio_length_bytes(piece.index);
    if (!resident && (!whole || change.needs_old())) {
        const Status loaded = load_bytes(piece.index);
        if (!loaded)
            return tl::unexpected(loaded.error());
    }
    // Where nothing was loaded, what is there is no byte of the device: it counts as different.
    const bool nothing_there = !resident && whole && !change.needs_old();
    const std::optional<std::size_t> first =
        nothing_there ? std::optional<std::size_t>(0) : change.first_difference(bytes);
    if (first)
        change.apply(bytes, *first);
    if (resident) {
        cache_.counters.hits.add();
    } else {
        admit(piece.index, room);
        folios_->must(piece.index, Transition::fill);
    }
    if (!first)
        return Outcome::unchanged;
    if (backing_ && (looked & kDirty) == 0)
        mark_dirty(piece.index, dirt);
    return Outcome::changed;
}

void MappingState::mark_dirty(FolioIndex index, Reservation& dirt) {
    dirty_bytes_ += folio_length_bytes(index);
    const bool first = cache_.dirty_set.insert({this, index}, cache_.clock.now());
    folios_->must(index, Transition::dirty);
    dirt.commit();
    cache_.dirty.announce_change();
    if (first)
        cache_.flusher.wake();
}

Status MappingState::write_through(FolioIndex index) {
    WritebackPass pass(cache_);
    while (pass.add({this, index}) == WritebackPass::Added::busy)
        folios_->wait_while(index, kLocked | kWriteback);
    pass.finish();
    if (pass.first_error())
        return tl::unexpected(*pass.first_error());
    return {};
}

Status MappingState::sync(Durability durability, std::uint64_t& errors_seen) {
    if (!backing_)
        return {};
    WritebackPass pass(cache_);
    for (const FolioPlace place : cache_.dirty_set.of_mapping(this)) {
        while (pass.add(place) == WritebackPass::Added::busy) {
            pass.finish();
            folios_->wait_while(place.index, kLocked | kWriteback);
        }
    }
    pass.finish();
    Status result;
    if (pass.first_error())
        result = tl::unexpected(*pass.first_error());
    if (durability == Durability::stable) {
        const Status stable = backing_->sync();
        if (!stable) {
            record_error(stable.error());
            cache_.log.error(fmt::format("sync of the backing failed: {}", stable.error().context));
            if (result)
                result = stable;
        }
    }
    const int unseen = errors_.check_and_advance(errors_seen);
    if (result && unseen != 0) {
        const std::lock_guard lock(error_text_mutex_);
        return fail(unseen, error_text_);
    }
    return result;
}

} // namespace mtdfuse::cache
