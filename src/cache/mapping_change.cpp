// The half of MappingState that changes bytes and brings the changes to the backing.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cache_state.hpp"
#include "mapping_state.hpp"
#include "run_lock.hpp"
#include "writeback.hpp"

namespace mtdfuse::cache {

Status MappingState::change(ByteOffset at, std::uint64_t length_bytes, const Change& change) {
    if (!in_range(at, length_bytes)) [[unlikely]]
        return out_of_range(at, length_bytes);
    if (change_one(at, length_bytes, change))
        return {};
    std::uint64_t done = 0;
    while (done < length_bytes) {
        const std::uint64_t rest = length_bytes - done;
        const auto front = change_front(at + done, rest, change.part(done, rest));
        if (!front)
            return tl::unexpected(front.error());
        done += *front;
    }
    return {};
}

bool MappingState::change_one(ByteOffset at, std::uint64_t length_bytes, const Change& change) {
    if (!in_one_folio(at, length_bytes) || cache_.options.policy == Policy::writethrough)
        return false;
    const FolioIndex index = folio_of(at);
    const FolioWord looked = folios_->load(index);
    if ((looked & kUptodate) == 0 || take(index, Transition::lock, looked) != Proof::owned)
        return false;
    const FolioHold lock(*folios_, index, Transition::unlock);
    const Outcome outcome = change_locked({index, at, length_bytes}, change, looked);
    if (outcome == Outcome::needs_dirty_room) [[unlikely]]
        return false;
    if (outcome == Outcome::changed && length_bytes >= kernels_.fence_from_bytes)
        kernels_.fence();
    cache_.counters.hits.add(0);
    return true;
}

Result<std::uint64_t> MappingState::change_front(ByteOffset at, std::uint64_t length_bytes,
                                                 const Change& change) {
    const FolioIndex first = folio_of(at);
    const FolioWord looked = folios_->load(first);
    if ((looked & kUptodate) != 0)
        return change_resident(at, stream_bytes(at, length_bytes), change);
    const Piece piece = piece_at(at, length_bytes);
    if (!backing_ && change.is_fill_ff())
        return piece.length_bytes;
    return change_absent(piece, change.part(0, piece.length_bytes), looked);
}

Result<std::uint64_t> MappingState::change_resident(ByteOffset at, std::uint64_t length_bytes,
                                                    const Change& change) {
    const FolioIndex first = folio_of(at);
    const FolioIndex last = folio_of(at + (length_bytes - 1));
    RunLock run(*folios_, kernels_, first);
    std::array<FolioWord, kStreamRunBytes / kMinFolioBytes> words;
    Proof proof = Proof::owned;
    while (run.end() <= last) {
        const FolioWord looked = folios_->load(run.end());
        if ((looked & kUptodate) == 0)
            break;
        proof = take(run.end(), Transition::lock, looked);
        if (proof != Proof::owned)
            break;
        words[run.count()] = looked;
        run.add_last();
    }
    const std::uint64_t locked = run.count();
    if (locked == 0) {
        if (proof == Proof::busy)
            folios_->wait_while(first, kKeepsOwnersOut);
        return 0;
    }
    std::uint64_t done = 0;
    std::uint64_t hits = 0;
    Outcome outcome = Outcome::unchanged;
    bool changed = false;
    while (hits < locked) {
        const Piece piece = piece_at(at + done, length_bytes - done);
        outcome = change_locked(piece, change.part(done, piece.length_bytes), words[hits]);
        if (outcome == Outcome::needs_dirty_room)
            break;
        changed = changed || outcome == Outcome::changed;
        done += piece.length_bytes;
        ++hits;
    }
    if (changed)
        run.note_stores();
    run.release();
    cache_.counters.hits.add(0, hits);
    Status ended;
    if (changed && backing_ && cache_.options.policy == Policy::writethrough)
        ended = write_through(first, hits);
    else if (outcome == Outcome::needs_dirty_room && hits == 0)
        ended = make_dirty_room(cache_);
    if (!ended)
        return tl::unexpected(std::move(ended.error()));
    return done;
}

MappingState::Outcome MappingState::change_locked(const Piece& piece, const Change& change,
                                                  FolioWord looked) {
    const std::span<std::byte> bytes = arena_.bytes(piece.at, piece.length_bytes);
    const std::size_t first = change.first_difference(kernels_, bytes);
    if (first == bytes.size())
        return Outcome::unchanged;
    if (backing_ && (looked & kDirty) == 0) {
        const std::uint64_t charge = charge_bytes(piece.index);
        if (!cache_.dirty.try_take(charge))
            return Outcome::needs_dirty_room;
        Reservation dirt(cache_.dirty, charge);
        mark_dirty(piece.index, dirt);
    }
    change.apply(kernels_, bytes, first);
    return Outcome::changed;
}

Result<std::uint64_t> MappingState::change_absent(const Piece& piece, const Change& change,
                                                  FolioWord looked) {
    Proof proof = Proof::busy;
    {
        Reservation room;
        Reservation dirt;
        if (backing_) {
            const std::uint64_t charge = charge_bytes(piece.index);
            auto reserved = reserve_resident(cache_, charge, 1, Patience::wait);
            if (!reserved)
                return tl::unexpected(std::move(reserved.error()));
            room = std::move(*reserved);
            if (!cache_.dirty.try_take(charge)) {
                room = Reservation();
                Status made = make_dirty_room(cache_);
                if (!made)
                    return tl::unexpected(std::move(made.error()));
                return 0;
            }
            dirt = Reservation(cache_.dirty, charge);
        }
        proof = take(piece.index, Transition::lock, looked);
        if (proof == Proof::owned) {
            Status filled = fill_by_change(piece, change, room, dirt);
            if (filled && backing_ && cache_.options.policy == Policy::writethrough)
                filled = write_through(piece.index, 1);
            if (!filled)
                return tl::unexpected(std::move(filled.error()));
            return piece.length_bytes;
        }
    }
    if (proof == Proof::busy)
        folios_->wait_while(piece.index, kKeepsOwnersOut);
    return 0;
}

// The folio is locked and absent.
Status MappingState::fill_by_change(const Piece& piece, const Change& change, Reservation& room,
                                    Reservation& dirt) {
    RunLock lock(*folios_, kernels_, piece.index);
    lock.add_last();
    lock.note_stores();
    const std::span<std::byte> bytes = arena_.bytes(piece.at, piece.length_bytes);
    const bool whole = piece.length_bytes == folio_length_bytes(piece.index);
    // Where nothing has to be loaded, what is there is no byte of the device: all of it differs.
    std::size_t first = 0;
    if (whole && !change.replacement().empty()) {
        Status stored = store_bytes(piece.index, change.replacement());
        if (!stored)
            return stored;
    } else {
        if (!whole || change.needs_old()) {
            Status loaded = load_bytes(piece.index, 1);
            if (!loaded)
                return loaded;
            first = change.first_difference(kernels_, bytes);
        }
        if (first < bytes.size())
            change.apply(kernels_, bytes, first);
    }
    admit(piece.index, room);
    folios_->must(piece.index, Transition::fill);
    if (backing_ && first < bytes.size())
        mark_dirty(piece.index, dirt);
    return {};
}

// The folio is locked and was clean; nobody sees its bytes before the unlock.
void MappingState::mark_dirty(FolioIndex index, Reservation& dirt) {
    dirty_bytes_ += folio_length_bytes(index);
    const bool first = cache_.dirty_set.insert({this, index}, cache_.clock.now());
    folios_->must(index, Transition::dirty);
    dirt.commit(charge_bytes(index));
    cache_.dirty.announce_change();
    if (first)
        cache_.flusher.wake();
}

Status MappingState::write_through(FolioIndex first, std::uint64_t count) {
    WritebackPass pass(cache_);
    for (FolioIndex index = first; index < first + count; ++index) {
        while (pass.add({this, index}) == WritebackPass::Added::busy) {
            pass.finish();
            folios_->wait_while(index, kLocked | kWriteback);
        }
    }
    pass.finish();
    if (pass.first_error())
        return tl::unexpected(*pass.first_error());
    return {};
}

Status MappingState::sync(Durability durability, std::uint64_t& errors_seen) {
    if (!backing_)
        return {};
    WritebackPass pass(cache_, durability == Durability::stable
                                   ? WritebackPass::Next::start_write_out
                                   : WritebackPass::Next::leave);
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
