// The resident folios of all mappings with a backing, longest resident first.
//
// Invariant: every resident folio stands here once, or is in the hands of the one thread that holds
// the reclaim mutex. Who fills a folio adds it before the folio becomes up to date.
// Lock order: a leaf.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include <mtdfuse/base.hpp>

namespace mtdfuse::cache {

class MappingState;

struct FolioPlace {
    MappingState* mapping = nullptr;
    FolioIndex index;
    auto operator<=>(const FolioPlace&) const = default;
};

class ResidentList {
public:
    void push(FolioPlace place) {
        const std::lock_guard lock(mutex_);
        places_.push_back(place);
    }
    [[nodiscard]] std::optional<FolioPlace> pop() {
        const std::lock_guard lock(mutex_);
        if (places_.empty())
            return std::nullopt;
        const FolioPlace place = places_.front();
        places_.pop_front();
        return place;
    }
    [[nodiscard]] std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return places_.size();
    }
    [[nodiscard]] std::vector<FolioPlace> snapshot() const {
        const std::lock_guard lock(mutex_);
        return {places_.begin(), places_.end()};
    }

private:
    mutable std::mutex mutex_;
    std::deque<FolioPlace> places_;
};

} // namespace mtdfuse::cache
