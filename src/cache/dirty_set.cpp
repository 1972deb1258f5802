#include "dirty_set.hpp"

namespace mtdfuse::cache {

bool DirtySet::insert(FolioPlace place, TimePoint now) {
    const std::lock_guard lock(mutex_);
    const bool was_empty = by_place_.empty();
    add_locked(place, false, now);
    return was_empty;
}

bool DirtySet::erase(FolioPlace place) {
    const std::lock_guard lock(mutex_);
    return remove_locked(place) && --failed_folios_[place.mapping] == 0;
}

bool DirtySet::mark_failed(FolioPlace place, TimePoint now) {
    const std::lock_guard lock(mutex_);
    const bool failed_before = remove_locked(place);
    add_locked(place, true, now);
    return !failed_before && failed_folios_[place.mapping]++ == 0;
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
    for (const auto& [key, aged] : by_age_) {
        if (places.size() == limit)
            break;
        if (aged.since <= before)
            places.push_back(aged.place);
    }
    return places;
}

void DirtySet::add_locked(FolioPlace place, bool failed, TimePoint now) {
    const AgeKey key{failed, next_serial_++};
    by_place_.emplace(place, key);
    by_age_.emplace(key, Aged{place, now});
}

bool DirtySet::remove_locked(FolioPlace place) {
    const auto it = by_place_.find(place);
    const AgeKey key = it->second;
    by_age_.erase(key);
    by_place_.erase(it);
    return key.failed;
}

} // namespace mtdfuse::cache
