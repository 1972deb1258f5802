// Keeping resident bytes within the capacity: second chance over the resident folios.
#pragma once

#include "quota.hpp"
#include "resident_list.hpp"

namespace mtdfuse::cache {

class CacheState;

enum class Patience {
    wait,         // sleeps until there is room
    not_for_pins, // ENOMEM where only the release of pins could make room
    never,        // ENOMEM where nothing can be evicted now
};

// Room for `bytes` more, for `folios` of them. The caller holds no folio; with `never` it may hold
// pins. The backing's error where everything in the way is dirty and cannot be written.
[[nodiscard]] Result<Reservation> reserve_resident(CacheState& cache, std::uint64_t bytes,
                                                   std::uint64_t folios, Patience patience);

// Evicts every clean folio of the mapping that nobody holds.
void evict_clean(CacheState& cache, const MappingState& mapping);

} // namespace mtdfuse::cache
