#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include "folio_word.hpp"

namespace mtdfuse::cache {

namespace {

std::vector<FolioWord> words_with(std::vector<FolioWord> counts) {
    std::vector<FolioWord> words;
    for (FolioWord flags = 0; flags < 2 * kKnownErased; ++flags)
        for (const FolioWord shared : counts)
            for (const FolioWord pins : counts)
                words.push_back(flags | shared * kSharedOne | pins * kPinOne);
    return words;
}

// What a thread of the model holds, and the transitions by which it may go on from there.
enum class Holds { nothing, share, pin, empty_lock, full_lock, writeback };

struct Step {
    Holds from;
    Transition transition;
    Holds to;
};

// clang-format off
constexpr Step kSteps[] = {
    {Holds::nothing, Transition::share, Holds::share},
    {Holds::share, Transition::unshare, Holds::nothing},
    {Holds::nothing, Transition::pin, Holds::pin},
    {Holds::pin, Transition::unpin, Holds::nothing},
    {Holds::nothing, Transition::lock, Holds::empty_lock}, // or full_lock, by the word
    {Holds::nothing, Transition::lock_clean, Holds::full_lock},
    {Holds::empty_lock, Transition::unlock, Holds::nothing},
    {Holds::empty_lock, Transition::fill, Holds::full_lock},
    {Holds::empty_lock, Transition::fill_and_share, Holds::share},
    {Holds::empty_lock, Transition::fill_and_pin, Holds::pin},
    {Holds::full_lock, Transition::unlock, Holds::nothing},
    {Holds::full_lock, Transition::dirty, Holds::full_lock},
    {Holds::full_lock, Transition::evict, Holds::nothing},
    {Holds::nothing, Transition::begin_writeback, Holds::writeback},
    {Holds::writeback, Transition::end_writeback, Holds::nothing},
    {Holds::writeback, Transition::fail_writeback, Holds::nothing},
    {Holds::nothing, Transition::unreference, Holds::nothing},
    {Holds::nothing, Transition::contend, Holds::nothing},
};
// clang-format on

struct Model {
    FolioWord word = 0;
    std::vector<Holds> threads;
    auto operator<=>(const Model&) const = default;

    [[nodiscard]] unsigned count(Holds what) const {
        unsigned found = 0;
        for (const Holds holds : threads)
            found += holds == what ? 1U : 0U;
        return found;
    }
};

void require_word_tells_the_truth(const Model& model) {
    const auto shares = model.count(Holds::share) + model.count(Holds::writeback);
    const auto locks = model.count(Holds::empty_lock) + model.count(Holds::full_lock);
    REQUIRE(valid_word(model.word));
    REQUIRE((model.word & kSharedMask) / kSharedOne == shares);
    REQUIRE((model.word & kPinMask) / kPinOne == model.count(Holds::pin));
    REQUIRE(((model.word & kLocked) != 0 ? 1U : 0U) == locks);
    REQUIRE(((model.word & kWriteback) != 0 ? 1U : 0U) == model.count(Holds::writeback));
    if (locks > 0)
        REQUIRE(shares + model.count(Holds::pin) == 0);
}

// Every order in which `threads` threads can take their steps.
std::size_t walk_all(std::size_t threads) {
    std::set<Model> seen;
    std::vector<Model> open{{0, std::vector<Holds>(threads, Holds::nothing)}};
    while (!open.empty()) {
        const Model model = open.back();
        open.pop_back();
        if (!seen.insert(model).second)
            continue;
        require_word_tells_the_truth(model);
        for (std::size_t t = 0; t < threads; ++t) {
            bool can_go_on = model.threads[t] == Holds::nothing;
            for (const Step& step : kSteps) {
                if (step.from != model.threads[t])
                    continue;
                const auto next = next_word(model.word, step.transition);
                if (!next)
                    continue;
                can_go_on = true;
                Model after = model;
                after.word = *next & ~kSequenceMask; // only counts
                after.threads[t] = step.to;
                if (step.transition == Transition::lock && (model.word & kUptodate) != 0)
                    after.threads[t] = Holds::full_lock;
                open.push_back(after);
            }
            // Who holds something can always give it back.
            REQUIRE(can_go_on);
        }
    }
    return seen.size();
}

} // namespace

TEST_CASE("no transition leads from a valid word to an invalid one") {
    unsigned taken = 0;
    for (const FolioWord word : words_with({0, 1, 2, 0x7fff})) {
        if (!valid_word(word))
            continue;
        for (const TransitionRule& rule : kTransitions) {
            const auto next = next_word(word, rule.id);
            // The last shared hold under writeback is the writeback's own.
            const bool not_its_own = rule.id == Transition::unshare && (word & kWriteback) != 0 &&
                                     (word & kSharedMask) == kSharedOne;
            if (!next || not_its_own)
                continue;
            ++taken;
            INFO(rule.name << " of " << std::hex << word << " gives " << *next);
            REQUIRE(valid_word(*next));
            REQUIRE((*next & kKnownErased) == 0);
        }
    }
    CHECK(taken > 100);
}

TEST_CASE("every transition is allowed somewhere, and every release wakes") {
    for (const TransitionRule& rule : kTransitions) {
        bool allowed = false;
        for (const FolioWord word : words_with({0, 1}))
            allowed = allowed || (valid_word(word) && next_word(word, rule.id));
        INFO(rule.name);
        CHECK(allowed);
        const bool releases = (rule.clears & (kLocked | kWriteback)) != 0 ||
                              rule.adds == -kSharedOne || rule.adds == -kPinOne;
        CHECK(((rule.clears & kContended) != 0) == releases);
    }
}

TEST_CASE("two and three threads, every order of steps: the word tells who holds what") {
    CHECK(walk_all(2) > 50);
    CHECK(walk_all(3) > 100);
}

TEST_CASE("a locked folio admits nobody") {
    for (const Transition transition : {Transition::share, Transition::pin, Transition::lock,
                                        Transition::lock_clean, Transition::begin_writeback})
        CHECK_FALSE(next_word(kUptodate | kLocked, transition));
}

TEST_CASE("only a clean folio that nobody holds can be evicted") {
    CHECK(next_word(kUptodate, Transition::lock_clean));
    for (const FolioWord in_the_way : {kDirty, kLocked, kSharedOne, kPinOne})
        CHECK_FALSE(next_word(kUptodate | in_the_way, Transition::lock_clean));
    CHECK_FALSE(next_word(0, Transition::lock_clean));
}

} // namespace mtdfuse::cache
