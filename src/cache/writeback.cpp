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
// One call to set out for several runs: they are a fifth of all calls then, not half.
constexpr std::uint64_t kSetOutBytes = 8 * kMiB;

} // namespace

WritebackPass::Added WritebackPass::add(FolioPlace place) {
    MappingState& mapping = *place.mapping;
    const std::uint64_t run_folios =
        kMaxRunBytes / std::min(kMaxRunBytes, cache_.options.folio_bytes);
    const bool extends = count_ > 0 && mapping_ == &mapping && first_ + count_ == place.index &&
                         place.index.value % run_folios != 0;
    if (!extends)
        write_run();
    const auto begun = mapping.folios().apply(place.index, Transition::begin_writeback);
    if (!begun.done)
        return (begun.before & (kDirty | kLocked)) != 0 ? Added::busy : Added::clean;
    if (mapping_ != &mapping)
        start_write_out();
    mapping_ = &mapping;
    if (count_ == 0)
        first_ = place.index;
    ++count_;
    return Added::queued;
}

void WritebackPass::finish() {
    write_run();
    start_write_out();
}

void WritebackPass::write_run() {
    const std::uint64_t count = std::exchange(count_, 0);
    if (count == 0)
        return;
    const Status all = write(first_, count);
    if (all)
        end_written(first_, count);
    else if (count == 1)
        end_failed(first_, all.error());
    for (std::uint64_t i = 0; !all && count > 1 && i < count; ++i) {
        const Status one = write(first_ + i, 1);
        if (one)
            end_written(first_ + i, 1);
        else
            end_failed(first_ + i, one.error());
    }
}

Status WritebackPass::write(FolioIndex first, std::uint64_t count) {
    const ByteOffset start = mapping_->folio_start(first);
    const FolioIndex last = first + (count - 1);
    const std::uint64_t length =
        mapping_->folio_start(last) - start + mapping_->folio_length_bytes(last);
    auto lent = cache_.transfer_buffers.take();
    if (!lent)
        return tl::unexpected(std::move(lent.error()));
    const TransferBuffers::Loan buffer(cache_.transfer_buffers, std::move(*lent));
    Status written;
    for (std::uint64_t done = 0; written && done < length;) {
        const auto piece = buffer.bytes().first(std::min(kTransferBytes, length - done));
        written = mapping_->arena().fetch(start + done, piece);
        if (written)
            written = mapping_->backing()->write_at(start + done, piece);
        done += piece.size();
    }
    return written;
}

void WritebackPass::end_written(FolioIndex first, std::uint64_t count) {
    written_folios_ += count;
    cache_.counters.writebacks.add(count);
    // The accounts first, then the set, then the words: a sync that finds these folios in neither
    // returns, and nothing is accounted as dirty then.
    std::uint64_t charged_bytes = 0;
    for (FolioIndex index = first; index < first + count; ++index) {
        charged_bytes += mapping_->charge_bytes(index);
        mapping_->account_clean(index);
    }
    cache_.dirty.give_back(charged_bytes, count);
    if (cache_.dirty_set.erase({mapping_, first}, count))
        cache_.log.info("writeback works again: everything that had failed is written");
    for (FolioIndex index = first; index < first + count; ++index)
        mapping_->folios().must(index, Transition::end_writeback);
    if (set_out_from_ == set_out_to_)
        set_out_from_ = mapping_->folio_start(first);
    set_out_to_ = mapping_->folio_start(first + count);
    if (set_out_to_ - set_out_from_ >= kSetOutBytes)
        start_write_out();
}

void WritebackPass::start_write_out() {
    if (next_ == Next::start_write_out && set_out_from_ != set_out_to_)
        mapping_->backing()->start_write_out(set_out_from_, set_out_to_ - set_out_from_);
    set_out_from_ = set_out_to_;
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
    // As much as one write takes at best.
    const std::size_t help_folios =
        std::max<std::uint64_t>(1, kMaxRunBytes / cache.options.folio_bytes);
    auto places = cache.dirty_set.oldest(help_folios, TimePoint::max());
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
    WritebackPass pass(cache, WritebackPass::Next::start_write_out);
    for (const FolioPlace place : places) {
        if (stop)
            return;
        pass.add(place);
    }
}

} // namespace mtdfuse::cache
