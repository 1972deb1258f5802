// The state of a folio: one word, and the table of everything that may happen to it.
//
// Invariant of every word (valid_word): dirty, referenced, writeback, shared holds and pins only on
// an up-to-date folio; a locked folio has no shared hold, no pin and no writeback; writeback only
// of a dirty folio and under a shared hold, so that nobody changes what is being written.
//
// Only FolioTable::apply stores a word, and only by one of these transitions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mtdfuse::cache {

using FolioWord = std::uint64_t;

inline constexpr FolioWord kUptodate = 1U << 0U;   // the arena holds the folio's bytes
inline constexpr FolioWord kDirty = 1U << 1U;      // the backing does not have them yet
inline constexpr FolioWord kLocked = 1U << 2U;     // owned by one thread that may change it
inline constexpr FolioWord kReferenced = 1U << 3U; // used since reclaim last looked
inline constexpr FolioWord kWriteback = 1U << 4U;  // being written to the backing
inline constexpr FolioWord kContended = 1U << 5U;  // somebody sleeps until this word changes
// Reserved: a folio known to be all 0xFF without memory behind it. No transition sets it yet.
inline constexpr FolioWord kKnownErased = 1U << 6U;

// Two counters: shared holds last for one copy or one writeback, pins for as long as a caller
// likes. At half of its range a counter admits no more, so that it never runs into its neighbour.
inline constexpr FolioWord kSharedOne = FolioWord{1} << 8U;
inline constexpr FolioWord kSharedMask = FolioWord{0xfff} << 8U;
inline constexpr FolioWord kSharedFull = FolioWord{0x800} << 8U;
inline constexpr FolioWord kPinOne = FolioWord{1} << 20U;
inline constexpr FolioWord kPinMask = FolioWord{0xfff} << 20U;
inline constexpr FolioWord kPinFull = FolioWord{0x800} << 20U;
// The sequence count: one more whenever a lock ends. A copy made between two looks at the word is
// the folio's if neither look met the lock and both met the same count.
inline constexpr FolioWord kSequenceOne = FolioWord{1} << 32U;
inline constexpr FolioWord kSequenceMask = FolioWord{0xffffffff} << 32U;

// What keeps a reader, and what keeps an owner out.
inline constexpr FolioWord kKeepsReadersOut = kLocked;
inline constexpr FolioWord kKeepsOwnersOut = kLocked | kWriteback | kSharedMask | kPinMask;
// What an operation decides on when it looks at a folio, and has to prove when it locks it.
inline constexpr FolioWord kLookedAt = kUptodate | kDirty | kKnownErased;
// What a reader has to prove after its copy.
inline constexpr FolioWord kCopied = kUptodate | kLocked | kKnownErased | kSequenceMask;

// A reader may copy, and the copy counts if the word still is `looked` in all of kCopied after.
[[nodiscard]] constexpr bool readable(FolioWord looked) {
    return (looked & (kUptodate | kLocked | kKnownErased)) == kUptodate;
}
[[nodiscard]] constexpr bool same_copy(FolioWord looked, FolioWord after) {
    return ((looked ^ after) & kCopied) == 0;
}

enum class Transition : unsigned {
    share,
    unshare,
    pin,
    unpin,
    lock,
    lock_clean,
    unlock,
    fill,
    fill_and_share,
    fill_and_pin,
    dirty,
    begin_writeback,
    end_writeback,
    fail_writeback,
    reference,
    unreference,
    evict,
    contend,
};

struct TransitionRule {
    Transition id;
    std::string_view name;
    FolioWord all_of;  // every one of these bits is set before
    FolioWord none_of; // none of these
    FolioWord any_of;  // at least one of these, where not 0
    FolioWord sets;
    FolioWord clears;
    FolioWord adds; // to the counters, modulo 2^64
};

// A releasing transition clears `contended`, which tells FolioTable::apply to wake the sleepers;
// one that ends a lock counts the sequence up.
inline constexpr std::array<TransitionRule, 18> kTransitions{{
    {Transition::share, "share", kUptodate, kLocked | kSharedFull, 0, kReferenced, 0, kSharedOne},
    {Transition::unshare, "unshare", kUptodate, kLocked, kSharedMask, 0, kContended, -kSharedOne},
    {Transition::pin, "pin", kUptodate, kLocked | kPinFull, 0, kReferenced, 0, kPinOne},
    {Transition::unpin, "unpin", kUptodate, kLocked, kPinMask, 0, kContended, -kPinOne},
    {Transition::lock, "lock", 0, kKeepsOwnersOut, 0, kLocked, 0, 0},
    {Transition::lock_clean, "lock clean", kUptodate, kKeepsOwnersOut | kDirty, 0, kLocked, 0, 0},
    {Transition::unlock, "unlock", kLocked, 0, 0, 0, kLocked | kContended, kSequenceOne},
    {Transition::fill, "fill", kLocked, kUptodate, 0, kUptodate, 0, 0},
    {Transition::fill_and_share, "fill and share", kLocked, kUptodate, 0, kUptodate,
     kLocked | kContended, kSharedOne + kSequenceOne},
    {Transition::fill_and_pin, "fill and pin", kLocked, kUptodate, 0, kUptodate,
     kLocked | kContended, kPinOne + kSequenceOne},
    {Transition::dirty, "dirty", kLocked | kUptodate, kDirty, 0, kDirty, 0, 0},
    {Transition::begin_writeback, "begin writeback", kUptodate | kDirty,
     kLocked | kWriteback | kSharedFull, 0, kWriteback, 0, kSharedOne},
    {Transition::end_writeback, "end writeback", kDirty | kWriteback, kLocked, kSharedMask, 0,
     kDirty | kWriteback | kContended, -kSharedOne},
    {Transition::fail_writeback, "fail writeback", kDirty | kWriteback, kLocked, kSharedMask, 0,
     kWriteback | kContended, -kSharedOne},
    {Transition::reference, "reference", kUptodate, kLocked | kReferenced, 0, kReferenced, 0, 0},
    {Transition::unreference, "unreference", kReferenced, kLocked, 0, 0, kReferenced, 0},
    {Transition::evict, "evict", kLocked | kUptodate, kDirty, 0, 0,
     kUptodate | kLocked | kReferenced | kContended, kSequenceOne},
    {Transition::contend, "contend", 0, kContended, kKeepsOwnersOut, kContended, 0, 0},
}};

[[nodiscard]] constexpr const TransitionRule& rule_of(Transition transition) {
    return kTransitions[static_cast<unsigned>(transition)];
}

// The word after the transition; nothing where the rule does not allow it.
[[nodiscard]] constexpr std::optional<FolioWord> next_word(FolioWord word, Transition transition) {
    const TransitionRule& rule = rule_of(transition);
    if ((word & rule.all_of) != rule.all_of || (word & rule.none_of) != 0)
        return std::nullopt;
    if (rule.any_of != 0 && (word & rule.any_of) == 0)
        return std::nullopt;
    return ((word | rule.sets) & ~rule.clears) + rule.adds;
}

[[nodiscard]] constexpr bool valid_word(FolioWord word) {
    const bool held = (word & (kSharedMask | kPinMask)) != 0;
    if ((word & (kDirty | kReferenced | kWriteback)) != 0 || held)
        if ((word & kUptodate) == 0)
            return false;
    if ((word & kLocked) != 0 && (held || (word & kWriteback) != 0))
        return false;
    if ((word & kWriteback) != 0 && ((word & kDirty) == 0 || (word & kSharedMask) == 0))
        return false;
    return (word & kKnownErased) == 0;
}

namespace detail {
[[nodiscard]] constexpr bool table_is_consistent() {
    for (unsigned i = 0; i < kTransitions.size(); ++i) {
        const TransitionRule& rule = kTransitions[i];
        if (rule.id != static_cast<Transition>(i) || rule.name.empty())
            return false;
        if ((rule.sets & rule.clears) != 0 || (rule.all_of & rule.none_of) != 0)
            return false;
        if (((rule.sets | rule.clears) & kKnownErased) != 0)
            return false;
    }
    return true;
}
static_assert(table_is_consistent());
} // namespace detail

} // namespace mtdfuse::cache
