// The state words of a mapping's folios, and sleeping until one changes.
//
// Invariant: every word is valid_word(); only apply() stores one. A sleeper has set `contended`
// under its stripe's mutex before it sleeps; who clears `contended` wakes the stripe.
// Lock order: a stripe's mutex is a leaf.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>

#include <mtdfuse/base.hpp>

#include "folio_word.hpp"
#include "memory_map.hpp"

namespace mtdfuse::cache {

class FolioTable {
public:
    // Lazily mapped: 8 bytes for each folio ever touched. ENOMEM.
    [[nodiscard]] static Result<std::unique_ptr<FolioTable>> create(std::uint64_t folio_count);

    [[nodiscard]] std::uint64_t folio_count() const { return folio_count_; }

    [[nodiscard]] FolioWord load(FolioIndex index) const {
        return ref(index).load(std::memory_order_acquire);
    }

    struct Applied {
        bool done;
        FolioWord before; // where not done, the word that forbade it
    };
    [[nodiscard, gnu::always_inline]] Applied apply(FolioIndex index, Transition transition) {
        return apply_proved(index, transition, 0, 0);
    }

    enum class Proof { owned, busy, changed };
    // `transition` on a folio that is still what was looked at: the bits kLookedAt equal those of
    // `looked`. Else `changed`; `busy` where it is still that but somebody keeps us out.
    [[nodiscard, gnu::always_inline]] Proof apply_if_still(FolioIndex index, Transition transition,
                                                           FolioWord looked) {
        const Applied applied = apply_proved(index, transition, kLookedAt, looked);
        if (applied.done)
            return Proof::owned;
        return ((applied.before ^ looked) & kLookedAt) != 0 ? Proof::changed : Proof::busy;
    }

    // A transition that the caller's hold entitles it to. A refusal means that a hold was lost:
    // going on would lose data without a trace.
    [[gnu::always_inline]] void must(FolioIndex index, Transition transition) {
        if (!apply(index, transition).done) [[unlikely]]
            std::abort();
    }

    // Returns when none of the bits in `busy` is set (or was, a moment ago).
    void wait_while(FolioIndex index, FolioWord busy);

private:
    FolioTable(MemoryMap memory, std::uint64_t folio_count);

    [[nodiscard]] std::atomic_ref<FolioWord> ref(FolioIndex index) const {
        return std::atomic_ref<FolioWord>(words_[index.value]);
    }

    // The only place that stores a state word. Inlined everywhere, so that a transition named at
    // the call folds the table away: 48 instructions less for a write of 512 bytes.
    [[gnu::always_inline]] Applied apply_proved(FolioIndex index, Transition transition,
                                                FolioWord proof_mask, FolioWord proof) {
        const std::atomic_ref<FolioWord> word = ref(index);
        FolioWord before = word.load(std::memory_order_acquire);
        for (;;) {
            if (((before ^ proof) & proof_mask) != 0)
                return {false, before};
            const std::optional<FolioWord> next = next_word(before, transition);
            if (!next)
                return {false, before};
            if (word.compare_exchange_weak(before, *next, std::memory_order_acq_rel,
                                           std::memory_order_acquire)) {
                if ((before & ~*next & kContended) != 0) [[unlikely]]
                    wake(index);
                return {true, before};
            }
        }
    }

    void wake(FolioIndex index);

    struct Stripe {
        std::mutex mutex;
        std::condition_variable changed;
    };
    static constexpr std::size_t kStripes = 64;
    [[nodiscard]] Stripe& stripe_of(FolioIndex index) { return stripes_[index.value % kStripes]; }

    MemoryMap memory_;
    FolioWord* words_;
    std::uint64_t folio_count_;
    std::array<Stripe, kStripes> stripes_;
};

// Something taken on one folio that `release` gives back. Not thread-safe.
class FolioHold {
public:
    FolioHold(FolioTable& table, FolioIndex index, Transition release)
        : table_(&table), index_(index), release_(release) {}
    FolioHold(const FolioHold&) = delete;
    FolioHold& operator=(const FolioHold&) = delete;
    ~FolioHold() {
        if (table_ != nullptr)
            table_->must(index_, release_);
    }

    // Ends the hold by another transition than the one it was made with.
    void end_by(Transition transition) {
        table_->must(index_, transition);
        table_ = nullptr;
    }

private:
    FolioTable* table_;
    FolioIndex index_;
    Transition release_;
};

} // namespace mtdfuse::cache
