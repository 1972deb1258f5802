// The unit tests' view into a cache: what is held, and what is accounted.
#pragma once

#include <mtdfuse/cache.hpp>

#include "cache_state.hpp"
#include "mapping_state.hpp"
#include "writeback.hpp"

namespace mtdfuse::cache {

class Inspector {
public:
    static CacheState& state(Cache& cache) { return *cache.state_; }
    static MappingState& state(Mapping& mapping) { return *mapping.state_; }

    static FolioWord word(Mapping& mapping, std::uint64_t index) {
        return state(mapping).folios().load(FolioIndex(index));
    }
    static bool resident(Mapping& mapping, std::uint64_t index) {
        return (word(mapping, index) & kUptodate) != 0;
    }
    static bool dirty(Mapping& mapping, std::uint64_t index) {
        return (word(mapping, index) & kDirty) != 0;
    }
    static std::uint64_t allocated_bytes(Mapping& mapping) {
        return state(mapping).arena().allocated_bytes().value();
    }

    // For a cache that nobody uses at the moment: what contradicts that, empty for nothing.
    static std::string leaks(Cache& cache) {
        std::string found;
        std::uint64_t resident = 0;
        std::uint64_t residents = 0;
        std::uint64_t dirty = 0;
        std::uint64_t dirty_folios = 0;
        for (const auto& mapping : state(cache).mappings) {
            MappingState& one = state(*mapping);
            if (one.backing() == nullptr)
                continue;
            for (FolioIndex i; i.value < one.folios().folio_count(); ++i) {
                const FolioWord word = one.folios().load(i);
                if ((word & kKeepsOwnersOut) != 0 || !valid_word(word))
                    found += "folio " + std::to_string(i.value) + " is held; ";
                resident += (word & kUptodate) != 0 ? one.charge_bytes(i) : 0;
                residents += (word & kUptodate) != 0 ? 1 : 0;
                dirty += (word & kDirty) != 0 ? one.charge_bytes(i) : 0;
                dirty_folios += (word & kDirty) != 0 ? 1 : 0;
            }
            if (state(cache).dirty_set.of_mapping(&one).size() > dirty_folios)
                found += "clean folios in the dirty set; ";
        }
        if (resident != state(cache).resident.used_bytes())
            found += "resident quota; ";
        if (residents != state(cache).resident.folios() ||
            residents != state(cache).resident_list.size())
            found += "resident list; ";
        if (dirty != state(cache).dirty.used_bytes())
            found += "dirty quota; ";
        if (dirty_folios != state(cache).dirty_set.oldest(SIZE_MAX, TimePoint::max()).size())
            found += "dirty set; ";
        return found;
    }
};

} // namespace mtdfuse::cache
