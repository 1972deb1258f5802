// The half of MappingState that brings bytes into memory.
#include <algorithm>

#include "cache_state.hpp"
#include "mapping_state.hpp"
#include "run_lock.hpp"

namespace mtdfuse::cache {

namespace {

// A longer read gains nothing measurable.
constexpr std::uint64_t kMaxReadAheadBytes = kMiB;
// Nor may one miss throw out much of what is wanted.
constexpr std::uint64_t kMaxReadAheadShare = 4; // of the capacity, its fourth part

} // namespace

std::uint64_t MappingState::read_ahead(FolioIndex index, std::uint64_t wanted) {
    const std::uint64_t share = cache_.options.capacity_bytes / kMaxReadAheadShare;
    const std::uint64_t most =
        std::max<std::uint64_t>(1, std::min(kMaxReadAheadBytes, share) >> folio_shift_);
    std::uint64_t count = wanted;
    if (next_miss_.load(std::memory_order_relaxed) == index.value)
        count = std::max(wanted, 2 * miss_folios_.load(std::memory_order_relaxed));
    count = std::min({count, most, folios_->folio_count() - index.value});
    next_miss_.store(index.value + count, std::memory_order_relaxed);
    miss_folios_.store(count, std::memory_order_relaxed);
    return count;
}

Reservation MappingState::reserve_neighbours(FolioIndex index, std::uint64_t& count) {
    std::uint64_t absent = 1;
    while (absent < count && (folios_->load(index + absent) & (kUptodate | kLocked)) == 0)
        ++absent;
    count = absent;
    if (count == 1)
        return {};
    auto reserved = reserve_resident(cache_, run_charge_bytes(index + 1, count - 1), count - 1,
                                     Patience::never);
    if (!reserved)
        count = 1;
    return reserved ? std::move(*reserved) : Reservation();
}

Result<FolioTable::Proof> MappingState::fill(FolioIndex index, std::uint64_t count,
                                             FolioWord looked, Transition publish,
                                             Patience patience) {
    Reservation room;
    Reservation more_room;
    if (backing_) {
        auto reserved = reserve_resident(cache_, charge_bytes(index), 1, patience);
        if (!reserved)
            return tl::unexpected(std::move(reserved.error()));
        room = std::move(*reserved);
        more_room = reserve_neighbours(index, count);
    }
    const Proof proof = take(index, Transition::lock, looked);
    if (proof != Proof::owned)
        return proof;
    FolioHold lock(*folios_, index, Transition::unlock);
    RunLock neighbours(*folios_, kernels_, index + 1);
    while (neighbours.count() + 1 < count &&
           folios_->apply_if_still(neighbours.end(), Transition::lock, 0) == Proof::owned)
        neighbours.add_last();
    Status loaded = load_bytes(index, 1 + neighbours.count());
    // What nobody has asked for may fail unnoticed.
    if (!loaded && neighbours.count() > 0) {
        neighbours.release();
        loaded = load_bytes(index, 1);
    }
    if (!loaded)
        return tl::unexpected(std::move(loaded.error()));
    for (std::uint64_t i = 1; i <= neighbours.count(); ++i) {
        admit(index + i, more_room);
        folios_->must(index + i, Transition::fill);
    }
    admit(index, room);
    lock.end_by(publish);
    return Proof::owned;
}

Status MappingState::load_bytes(FolioIndex first, std::uint64_t count) {
    const ByteOffset start = folio_start(first);
    const std::span<std::byte> bytes = arena_.bytes(start, run_bytes(first, count));
    if (!backing_) {
        kernels_.fill_ff(bytes.data(), bytes.size());
        kernels_.fence();
        return {};
    }
    auto lent = cache_.transfer_buffers.take();
    if (!lent)
        return tl::unexpected(std::move(lent.error()));
    const TransferBuffers::Loan buffer(cache_.transfer_buffers, std::move(*lent));
    Status loaded;
    for (std::uint64_t done = 0; loaded && done < bytes.size();) {
        const std::span<std::byte> piece =
            buffer.bytes().first(std::min<std::uint64_t>(kTransferBytes, bytes.size() - done));
        loaded = backing_->read_at(start + done, piece);
        if (loaded)
            loaded = arena_.store(start + done, piece);
        done += piece.size();
    }
    // What was stored before a failure is memory that nobody accounts for.
    if (!loaded)
        punch(start, run_charge_bytes(first, count));
    return loaded;
}

// The folio is locked and absent.
Status MappingState::store_bytes(FolioIndex index, std::span<const std::byte> bytes) {
    Status stored = arena_.store(folio_start(index), bytes);
    if (!stored && backing_)
        punch(folio_start(index), charge_bytes(index));
    return stored;
}

void MappingState::admit(FolioIndex index, Reservation& room) {
    cache_.counters.misses.add();
    if (!backing_)
        return;
    cache_.resident_list.push({this, index});
    room.commit(charge_bytes(index));
    cache_.resident.announce_change();
}

} // namespace mtdfuse::cache
