// The dirty folios of all mappings, by place for sync and by age for the flusher.
//
// Invariant: a folio whose word is dirty and which nobody has locked or is writing back stands
// here; the index and the two lists hold the same folios. Changed only by who has the folio locked
// (insert) or in writeback (erase, mark_failed), so that set and word agree for everybody else.
// Folios whose last writeback failed are kept apart, behind the others, or one bad place would be
// tried again and again before any good one.
// Lock order: a leaf; taken with a folio held.
#pragma once

#include <list>
#include <map>
#include <memory_resource>
#include <mutex>
#include <vector>

#include <mtdfuse/base.hpp>

#include "resident_list.hpp"

namespace mtdfuse::cache {

class DirtySet {
public:
    // True where the set was empty: the flusher has to be woken.
    bool insert(FolioPlace place, TimePoint now);
    // `count` neighbours from `first` on. True where the last folio of the mapping that had failed
    // was among them: the failure burst is over.
    bool erase(FolioPlace first, std::uint64_t count);
    // True where no other folio of the mapping has failed: a failure burst begins.
    bool mark_failed(FolioPlace place, TimePoint now);

    [[nodiscard]] bool empty() const;
    // Ascending.
    [[nodiscard]] std::vector<FolioPlace> of_mapping(MappingState* mapping) const;
    // At most `limit` folios that became dirty (or failed) at `before` or earlier; oldest first,
    // failed ones last.
    [[nodiscard]] std::vector<FolioPlace> oldest(std::size_t limit, TimePoint before) const;

private:
    struct Aged {
        FolioPlace place;
        TimePoint since;
    };
    using AgeList = std::pmr::list<Aged>; // oldest first
    struct Entry {
        AgeList::iterator age;
        bool failed;
    };

    mutable std::mutex mutex_;
    // Nodes are reused: dirtying a folio again allocates nothing.
    std::pmr::unsynchronized_pool_resource pool_;
    std::pmr::map<FolioPlace, Entry> by_place_{&pool_};
    AgeList dirty_{&pool_};
    AgeList failed_{&pool_};
    std::pmr::map<MappingState*, std::uint64_t> failed_folios_{&pool_};
};

} // namespace mtdfuse::cache
