// What all mappings of a cache share.
//
// Lock order: reclaim_mutex, then folios (reclaim only ever tries them), then the leaves: quotas,
// lists, the stripes of a FolioTable. Nobody sleeps while holding a folio, a reservation or the
// reclaim mutex, but for the backing; pins may be held over anything but waiting for the budget.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include <mtdfuse/cache.hpp>

#include "dirty_set.hpp"
#include "flusher.hpp"
#include "kernels.hpp"
#include "quota.hpp"
#include "resident_list.hpp"
#include "transfer_buffers.hpp"

namespace mtdfuse::cache {

struct CacheCounters {
    ThreadCounters<1> hits; // the one that a hit adds to
    Counter misses, evictions, retries, lost_copies, writebacks, writeback_errors;
};

class CacheState {
public:
    CacheState(const Options& wanted, const Kernels& with_kernels, Log& to_log, Clock& with_clock);

    // Between looking at a folio and locking it, or copying from it.
    void before_lock(MappingState& mapping, FolioIndex index) {
        if (options.probe != nullptr) [[unlikely]]
            options.probe->before_lock(index);
        else
            provoke(mapping);
    }

    // Another mapping of this size shares the budget.
    void add_to_budget(std::uint64_t size_bytes);

    CacheCounters counters; // first: its rows start on cache lines, so nothing is left before it
    const Options options;
    const Kernels& kernels;
    Log& log;
    Clock& clock;

    Quota resident; // charged in whole base pages
    Quota dirty;
    ResidentList resident_list;
    DirtySet dirty_set;
    TransferBuffers transfer_buffers;
    std::mutex reclaim_mutex;
    // Readers of mappings with a backing copy without a hold. A copy that loses its folio may touch
    // memory that was given back, and makes it resident until it notices.
    std::atomic<bool> copies_without_hold{true};

    std::mutex mappings_mutex;
    std::vector<std::unique_ptr<Mapping>> mappings;

private:
#ifdef NDEBUG
    void provoke(MappingState&) {}
#else
    void provoke(MappingState& mapping);
#endif
    Counter looks_;                      // where a debug build takes its chance from
    std::uint64_t size_of_mappings_ = 0; // under mappings_mutex

public:
    Flusher flusher; // last: it ends before what it works on
};

} // namespace mtdfuse::cache
