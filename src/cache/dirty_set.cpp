#include "dirty_set.hpp"

namespace mtdfuse::cache {

bool DirtySet::insert(FolioPlace place, TimePoint now) {
    const std::lock_guard lock(mutex_);
    const bool was_empty = by_place_.empty();
    dirty_.push_back({place, now});
    by_place_.emplace(place, Entry{std::prev(dirty_.end()), false});
    return was_empty;
}

bool DirtySet::erase(FolioPlace first, std::uint64_t count) {
    const std::lock_guard lock(mutex_);
    auto it = by_place_.find(first);
    std::uint64_t failed = 0;
    for (; count > 0; --count) {
        failed += it->second.failed ? 1 : 0;
        (it->second.failed ? failed_ : dirty_).erase(it->second.age);
        it = by_place_.erase(it);
    }
    return failed > 0 && (failed_folios_[first.mapping] -= failed) == 0;
}

bool DirtySet::mark_failed(FolioPlace place, TimePoint now) {
    const std::lock_guard lock(mutex_);
    Entry& entry = by_place_.find(place)->second;
    failed_.splice(failed_.end(), entry.failed ? failed_ : dirty_, entry.age);
    entry.age->since = now;
    return !std::exchange(entry.failed, true) && failed_folios_[place.mapping]++ == 0;
}

bool DirtySet::empty() const {
    const std::lock_guard lock(mutex_);
    return by_place_.empty();
}

std::vector<FolioPlace> DirtySet::of_mapping(MappingState* mapping) const {
    const std::lock_guard lock(mutex_);
    std::vector<FolioPlace> places;
    const FolioPlace first{mapping, FolioIndex(0)};
    for (auto it = by_place_.lower_bound(first);
         it != by_place_.end() && it->first.mapping == mapping; ++it)
        places.push_back(it->first);
    return places;
}

std::vector<FolioPlace> DirtySet::oldest(std::size_t limit, TimePoint before) const {
    const std::lock_guard lock(mutex_);
    std::vector<FolioPlace> places;
    for (const AgeList* list : {&dirty_, &failed_})
        for (auto it = list->begin();
             it != list->end() && it->since <= before && places.size() < limit; ++it)
            places.push_back(it->place);
    return places;
}

} // namespace mtdfuse::cache
