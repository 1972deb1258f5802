#include "folio_table.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

namespace mtdfuse::cache {

Result<std::unique_ptr<FolioTable>> FolioTable::create(std::uint64_t folio_count) {
    auto memory = MemoryMap::create(folio_count * sizeof(FolioWord),
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (!memory)
        return tl::unexpected(std::move(memory.error()));
    return std::unique_ptr<FolioTable>(new FolioTable(std::move(*memory), folio_count));
}

FolioTable::FolioTable(MemoryMap memory, std::uint64_t folio_count)
    : memory_(std::move(memory)),
      words_(static_cast<FolioWord*>(static_cast<void*>(memory_.data()))),
      folio_count_(folio_count) {}

void FolioTable::wait_while(FolioIndex index, FolioWord busy) {
    Stripe& stripe = stripe_of(index);
    std::unique_lock lock(stripe.mutex);
    for (;;) {
        const FolioWord word = load(index);
        if ((word & busy) == 0)
            return;
        const bool asked = (word & kContended) != 0 || apply(index, Transition::contend).done;
        // Another sleeper may have set `contended`, or the holder released: look again.
        if (asked)
            stripe.changed.wait(lock, [&] { return (load(index) & kContended) == 0; });
    }
}

void FolioTable::wake(FolioIndex index) {
    Stripe& stripe = stripe_of(index);
    { const std::lock_guard lock(stripe.mutex); }
    stripe.changed.notify_all();
}

} // namespace mtdfuse::cache
