#include "mapping_state.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "cache_state.hpp"

namespace mtdfuse::cache {

Result<std::unique_ptr<MappingState>>
MappingState::create(CacheState& cache, std::unique_ptr<storage::Backing> backing,
                     std::uint64_t size_bytes) {
    if (size_bytes == 0)
        return fail(EINVAL, "a device of 0 bytes cannot be cached");
    const std::uint64_t folio_bytes = cache.options.folio_bytes;
    auto arena = Arena::create(size_bytes, folio_bytes);
    if (!arena)
        return tl::unexpected(std::move(arena.error()));
    auto folios = FolioTable::create((size_bytes + folio_bytes - 1) / folio_bytes);
    if (!folios)
        return tl::unexpected(std::move(folios.error()));
    return std::unique_ptr<MappingState>(new MappingState(
        cache, std::move(backing), std::move(*arena), std::move(*folios), size_bytes));
}

MappingState::MappingState(CacheState& cache, std::unique_ptr<storage::Backing> backing,
                           Arena arena, std::unique_ptr<FolioTable> folios,
                           std::uint64_t size_bytes)
    : cache_(cache), backing_(std::move(backing)), size_bytes_(size_bytes),
      folio_bytes_(cache.options.folio_bytes), arena_(std::move(arena)),
      folios_(std::move(folios)) {}

std::uint64_t MappingState::folio_length_bytes(FolioIndex index) const {
    return std::min(folio_bytes_, size_bytes_ - folio_start(index).value);
}

std::uint64_t MappingState::charge_bytes(FolioIndex index) const {
    return (folio_length_bytes(index) + kBasePageBytes - 1) & ~(kBasePageBytes - 1);
}

void MappingState::punch(ByteOffset at, std::uint64_t length_bytes) {
    const Status punched = arena_.punch(at, length_bytes);
    if (!punched)
        cache_.log.error(punched.error().context);
}

void MappingState::record_error(const Error& error) {
    {
        const std::lock_guard lock(error_text_mutex_);
        error_text_ = error.context;
    }
    errors_.record(error.number);
}

MappingState::Piece MappingState::piece_at(ByteOffset at, std::uint64_t length_bytes) const {
    const FolioIndex index(at.value / folio_bytes_);
    const std::uint64_t to_end = folio_bytes_ - at.value % folio_bytes_;
    return {index, at, std::min(length_bytes, to_end)};
}

Status MappingState::check_range(ByteOffset at, std::uint64_t length_bytes) const {
    if (at.value > size_bytes_ || length_bytes > size_bytes_ - at.value)
        return fail(EINVAL, fmt::format("range of {} bytes at {} is past the end of {} bytes",
                                        length_bytes, at.value, size_bytes_));
    return {};
}

MappingState::Proof MappingState::take(FolioIndex index, Transition transition, FolioWord looked) {
    cache_.before_lock(*this, index);
    const Proof proof = folios_->apply_if_still(index, transition, looked);
    if (proof == Proof::changed)
        cache_.counters.retries.add();
    return proof;
}

Status MappingState::load_bytes(FolioIndex index) {
    const std::span<std::byte> bytes = arena_.bytes(folio_start(index), folio_length_bytes(index));
    if (!backing_) {
        std::memset(bytes.data(), 0xff, bytes.size());
        return {};
    }
    Status loaded = backing_->read_at(folio_start(index), bytes);
    // A failed read may have touched the memory, which nobody accounts for.
    if (!loaded)
        punch(folio_start(index), charge_bytes(index));
    return loaded;
}

void MappingState::admit(FolioIndex index, Reservation& room) {
    cache_.counters.misses.add();
    if (!backing_)
        return;
    cache_.resident_list.push({this, index});
    room.commit();
    cache_.resident.announce_change();
}

Result<FolioTable::Proof> MappingState::fill_folio(FolioIndex index, FolioWord looked,
                                                   Transition publish, Patience patience) {
    Reservation room;
    if (backing_) {
        auto reserved = reserve_resident(cache_, charge_bytes(index), patience);
        if (!reserved)
            return tl::unexpected(std::move(reserved.error()));
        room = std::move(*reserved);
    }
    const Proof proof = take(index, Transition::lock, looked);
    if (proof != Proof::owned)
        return proof;
    FolioHold lock(*folios_, index, Transition::unlock);
    const Status loaded = load_bytes(index);
    if (!loaded)
        return tl::unexpected(loaded.error());
    admit(index, room);
    lock.end_by(publish);
    return Proof::owned;
}

Status MappingState::read(ByteOffset at, std::span<std::byte> into) {
    Status in_range = check_range(at, into.size());
    if (!in_range)
        return in_range;
    while (!into.empty()) {
        const Piece piece = piece_at(at, into.size());
        Status done = read_piece(piece, into.data());
        if (!done)
            return done;
        at = at + piece.length_bytes;
        into = into.subspan(piece.length_bytes);
    }
    return {};
}

Status MappingState::read_piece(const Piece& piece, std::byte* into) {
    for (;;) {
        const FolioWord looked = folios_->load(piece.index);
        Proof proof = Proof::owned;
        if ((looked & kUptodate) != 0) {
            proof = take(piece.index, Transition::share, looked);
            if (proof == Proof::owned)
                cache_.counters.hits.add();
        } else if (!backing_) {
            std::memset(into, 0xff, piece.length_bytes);
            return {};
        } else {
            const auto filled =
                fill_folio(piece.index, looked, Transition::fill_and_share, Patience::wait);
            if (!filled)
                return tl::unexpected(filled.error());
            proof = *filled;
        }
        if (proof == Proof::owned)
            break;
        if (proof == Proof::busy)
            folios_->wait_while(piece.index, kKeepsReadersOut);
    }
    const FolioHold share(*folios_, piece.index, Transition::unshare);
    std::memcpy(into, arena_.bytes(piece.at, piece.length_bytes).data(), piece.length_bytes);
    return {};
}

Result<MappingState::Pinned> MappingState::pin(ByteOffset at, std::uint64_t length_bytes) {
    Status in_range = check_range(at, length_bytes);
    if (!in_range)
        return tl::unexpected(in_range.error());
    const FolioIndex first = piece_at(at, length_bytes).index;
    for (;;) {
        const Result<bool> pinned = try_pin(first, Patience::not_for_pins);
        if (!pinned)
            return tl::unexpected(pinned.error());
        if (*pinned)
            break;
        folios_->wait_while(first, kKeepsReadersOut);
    }
    // More only where it needs no sleep, as pins are held: others may be waiting for their release.
    const ByteOffset end = at + length_bytes;
    FolioIndex last = first;
    while (folio_start(last + 1) < end && try_pin(last + 1, Patience::never).value_or(false))
        ++last;
    const std::uint64_t covered = std::min(length_bytes, folio_start(last + 1) - at);
    return Pinned{first, last, arena_.bytes(at, covered)};
}

Result<bool> MappingState::try_pin(FolioIndex index, Patience patience) {
    const FolioWord looked = folios_->load(index);
    if ((looked & kUptodate) != 0)
        return take(index, Transition::pin, looked) == Proof::owned;
    const auto filled = fill_folio(index, looked, Transition::fill_and_pin, patience);
    if (!filled)
        return tl::unexpected(filled.error());
    return *filled == Proof::owned;
}

void MappingState::unpin(FolioIndex first, FolioIndex last) {
    for (FolioIndex index = first; index <= last; ++index)
        folios_->must(index, Transition::unpin);
}

void MappingState::drop() {
    if (backing_)
        evict_clean(cache_, *this);
}

} // namespace mtdfuse::cache
