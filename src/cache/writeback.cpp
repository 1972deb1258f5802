#include "writeback.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "cache_state.hpp"
#include "mapping_state.hpp"

namespace mtdfuse::cache {

namespace {

// A larger write gains nothing measurable and keeps its writers waiting longer.
constexpr std::uint64_t kMaxRunBytes = kMiB;
// How much dirt a writer at the limit writes back at once.
constexpr std::size_t kHelpFolios = 16;

} // namespace

WritebackPass::Added WritebackPass::add(FolioPlace place) {
    MappingState& mapping = *place.mapping;
    const std::uint64_t folio_bytes = cache_.options.folio_bytes;
    const bool extends = count_ > 0 && mapping_ == &mapping && first_ + count_ == place.index &&
                         (count_ + 1) * folio_bytes <= kMaxRunBytes;
    if (!extends)
        finish();
    const auto begun = mapping.folios().apply(place.index, Transition::begin_writeback);
    if (!begun.done)
        return (begun.before & kDirty) != 0 || (begun.before & kLocked) != 0 ? Added::busy
                                                                             : Added::clean;
    if (count_ == 0) {
        mapping_ = &mapping;
        first_ = place.index;
    }
    ++count_;
    return Added::queued;
}

void WritebackPass::finish() {
    const std::uint64_t count = std::exchange(count_, 0);
    if (count == 0)
        return;
    const Status all = write_run(first_, count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const FolioIndex index = first_ + i;
        const Status one = all || count == 1 ? all : write_run(index, 1);
        if (one)
            end_written(index);
        else
            end_failed(index, one.error());
    }
}

Status WritebackPass::write_run(FolioIndex first, std::uint64_t count) {
    const ByteOffset start = mapping_->folio_start(first);
    const FolioIndex last = first + (count - 1);
    const std::uint64_t length =
        mapping_->folio_start(last) - start + mapping_->folio_length_bytes(last);
    return mapping_->backing()->write_at(start, mapping_->arena().bytes(start, length));
}

void WritebackPass::end_written(FolioIndex index) {
    ++written_folios_;
    cache_.counters.writebacks.add();
    if (cache_.dirty_set.erase({mapping_, index}))
        cache_.log.info(
            fmt::format("writeback works again: everything that had failed is written"));
    mapping_->account_clean(index);
    mapping_->folios().must(index, Transition::end_writeback);
    cache_.dirty.give_back(mapping_->charge_bytes(index));
}

void WritebackPass::end_failed(FolioIndex index, const Error& error) {
    cache_.counters.writeback_errors.add();
    if (cache_.dirty_set.mark_failed({mapping_, index}, cache_.clock.now()))
        cache_.log.error(fmt::format("writeback of {} bytes at {} failed, they stay in memory: {}",
                                     mapping_->folio_length_bytes(index),
                                     mapping_->folio_start(index).value, error.context));
    mapping_->record_error(error);
    mapping_->folios().must(index, Transition::fail_writeback);
    if (!first_error_)
        first_error_ = error;
}

Status make_dirty_room(CacheState& cache) {
    const std::uint64_t epoch = cache.dirty.epoch();
    auto places = cache.dirty_set.oldest(kHelpFolios, TimePoint::max());
    if (places.empty()) {
        // All of it is reserved by writers that are about to store, or was given back just now.
        if (cache.dirty.used_bytes() > 0)
            cache.dirty.await_change(epoch);
        return {};
    }
    std::sort(places.begin(), places.end());
    WritebackPass pass(cache);
    std::optional<FolioPlace> busy;
    for (const FolioPlace place : places)
        if (pass.add(place) == WritebackPass::Added::busy)
            busy = place;
    pass.finish();
    if (pass.written_folios() > 0)
        return {};
    if (pass.first_error())
        return tl::unexpected(*pass.first_error());
    if (busy)
        busy->mapping->folios().wait_while(busy->index, kLocked | kWriteback);
    return {};
}

void flush_expired(CacheState& cache, const std::atomic<bool>& stop) {
    auto places = cache.dirty_set.oldest(std::numeric_limits<std::size_t>::max(),
                                         cache.clock.now() - cache.options.dirty_expire);
    std::sort(places.begin(), places.end());
    WritebackPass pass(cache);
    for (const FolioPlace place : places) {
        if (stop)
            return;
        pass.add(place);
    }
}

} // namespace mtdfuse::cache
