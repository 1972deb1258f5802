#include "reclaim.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "cache_state.hpp"
#include "mapping_state.hpp"
#include "writeback.hpp"

namespace mtdfuse::cache {

namespace {

// Evicting a few at once merges their holes; more would throw out what is still wanted.
constexpr std::uint64_t kMaxBatchBytes = kMiB;
constexpr std::uint64_t kBatchShare = 16; // at most this part of the capacity

// What a walk over the resident folios met that it could not evict.
struct Scan {
    std::vector<FolioPlace> victims; // locked
    std::vector<FolioPlace> dirty;   // oldest first, few
    std::optional<FolioPlace> busy;
    std::optional<FolioPlace> pinned;
    std::uint64_t victim_bytes = 0;
};
constexpr std::size_t kMaxDirtyCandidates = 16;

void classify(Scan& scan, FolioPlace place, FolioWord word) {
    if ((word & (kLocked | kWriteback | kSharedMask)) != 0)
        scan.busy = place;
    else if ((word & kPinMask) != 0)
        scan.pinned = place;
    else if ((word & kDirty) != 0 && scan.dirty.size() < kMaxDirtyCandidates)
        scan.dirty.push_back(place);
}

// Under the reclaim mutex.
Scan scan_for_victims(CacheState& cache, std::uint64_t wanted_bytes) {
    Scan scan;
    // The second round meets what the first has marked unreferenced.
    for (std::size_t left = 2 * cache.resident_list.size();
         left > 0 && scan.victim_bytes < wanted_bytes; --left) {
        const auto place = cache.resident_list.pop();
        if (!place)
            break;
        FolioTable& folios = place->mapping->folios();
        if (folios.apply(place->index, Transition::unreference).done) {
            cache.resident_list.push(*place);
            continue;
        }
        const auto locked = folios.apply(place->index, Transition::lock_clean);
        if (locked.done) {
            scan.victims.push_back(*place);
            scan.victim_bytes += place->mapping->charge_bytes(place->index);
            continue;
        }
        cache.resident_list.push(*place);
        classify(scan, *place, locked.before);
    }
    return scan;
}

// The victims are locked, clean, and in nobody else's hands.
void evict(CacheState& cache, std::vector<FolioPlace>& victims) {
    std::sort(victims.begin(), victims.end());
    for (std::size_t first = 0, end = 0; first < victims.size(); first = end) {
        MappingState& mapping = *victims[first].mapping;
        std::uint64_t bytes = 0;
        while (end < victims.size() && victims[end].mapping == &mapping &&
               victims[end].index == victims[first].index + (end - first))
            bytes += mapping.charge_bytes(victims[end++].index);
        mapping.punch(mapping.folio_start(victims[first].index), bytes);
        for (std::size_t i = first; i < end; ++i)
            mapping.folios().must(victims[i].index, Transition::evict);
        cache.counters.evictions.add(end - first);
        cache.resident.give_back(bytes, end - first);
    }
}

// Nothing was clean: makes some of it so. The first error where none could be written.
Result<bool> write_back_candidates(CacheState& cache, std::vector<FolioPlace> places) {
    std::sort(places.begin(), places.end());
    WritebackPass pass(cache);
    for (const FolioPlace place : places)
        pass.add(place);
    pass.finish();
    if (pass.written_folios() == 0 && pass.first_error())
        return tl::unexpected(*pass.first_error());
    return pass.written_folios() > 0;
}

// One attempt to evict `bytes`; what stood in the way where it evicted nothing.
struct Attempt {
    bool progress = false;
    bool in_flight = false; // room is reserved for folios that are not filled yet
    std::optional<FolioPlace> busy, pinned;
    std::optional<Error> error;
};

Attempt try_to_evict(CacheState& cache, std::uint64_t bytes) {
    const std::lock_guard lock(cache.reclaim_mutex);
    const std::uint64_t batch =
        std::min(cache.resident.limit_bytes() / kBatchShare, kMaxBatchBytes);
    Scan scan = scan_for_victims(cache, std::max(bytes, batch));
    if (!scan.victims.empty()) {
        evict(cache, scan.victims);
        return {true, false, {}, {}, {}};
    }
    const bool in_flight = cache.resident_list.size() < cache.resident.folios();
    Attempt attempt{false, in_flight, scan.busy, scan.pinned, {}};
    if (!scan.dirty.empty()) {
        Result<bool> written = write_back_candidates(cache, std::move(scan.dirty));
        attempt.progress = written.value_or(false);
        if (!written)
            attempt.error = std::move(written.error());
    }
    return attempt;
}

} // namespace

Result<Reservation> reserve_resident(CacheState& cache, std::uint64_t bytes, std::uint64_t folios,
                                     Patience patience) {
    for (;;) {
        const std::uint64_t epoch = cache.resident.epoch();
        if (cache.resident.try_take(bytes, folios))
            return Reservation(cache.resident, bytes, folios);
        Attempt attempt = try_to_evict(cache, bytes);
        if (attempt.progress)
            continue;
        if (patience == Patience::never)
            return fail(ENOMEM, "the cache is full of folios in use");
        // In the order in which it will pass: a copy, a fill on its way, a pin. What can only be
        // waited for in vain is not waited for.
        if (attempt.busy)
            attempt.busy->mapping->folios().wait_while(attempt.busy->index,
                                                       kLocked | kWriteback | kSharedMask);
        else if (attempt.in_flight)
            cache.resident.await_change(epoch);
        else if (attempt.error)
            return tl::unexpected(std::move(*attempt.error));
        else if (attempt.pinned && patience == Patience::not_for_pins)
            return fail(ENOMEM, "the cache is full of pinned folios");
        else if (attempt.pinned)
            attempt.pinned->mapping->folios().wait_while(attempt.pinned->index, kPinMask);
    }
}

void evict_clean(CacheState& cache, const MappingState& mapping) {
    const std::lock_guard lock(cache.reclaim_mutex);
    std::vector<FolioPlace> victims;
    for (std::size_t left = cache.resident_list.size(); left > 0; --left) {
        const auto place = cache.resident_list.pop();
        if (!place)
            break;
        if (place->mapping == &mapping &&
            place->mapping->folios().apply(place->index, Transition::lock_clean).done)
            victims.push_back(*place);
        else
            cache.resident_list.push(*place);
    }
    evict(cache, victims);
}

} // namespace mtdfuse::cache
