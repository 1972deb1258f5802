// What all mappings of a cache share.
//
// Lock order: reclaim_mutex, then folios (reclaim only ever tries them), then the leaves: quotas,
// lists, the stripes of a FolioTable. Nobody sleeps while holding a folio, a reservation or the
// reclaim mutex; pins may be held over anything but waiting for the budget.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <mtdfuse/cache.hpp>

#include "dirty_set.hpp"
#include "flusher.hpp"
#include "quota.hpp"
#include "resident_list.hpp"

namespace mtdfuse::cache {

struct CacheCounters {
    Counter hits, misses, evictions, retries, writebacks, writeback_errors;
};

class CacheState {
public:
    CacheState(const Options& wanted, Log& to_log, Clock& with_clock);

    // Between looking at a folio and locking it.
    void before_lock(MappingState& mapping, FolioIndex index);

    const Options options;
    Log& log;
    Clock& clock;
    CacheCounters counters;

    Quota resident; // charged in whole base pages
    Quota dirty;
    ResidentList resident_list;
    DirtySet dirty_set;
    std::mutex reclaim_mutex;

    std::mutex mappings_mutex;
    std::vector<std::unique_ptr<Mapping>> mappings;

private:
    Counter looks_; // where a debug build takes its chance from

public:
    Flusher flusher; // last: it ends before what it works on
};

} // namespace mtdfuse::cache
