// Every order in which two and three threads can work on one folio, by the real table of
// transitions: the operations of MappingState, step by step, on a model of a folio's memory.
//
// The memory and the backing have two halves, so that a torn copy shows; a half holds the number of
// the write that it comes from, or nothing where the memory was given back.
#include <algorithm>
#include <array>
#include <cstring>
#include <iostream>
#include <unordered_set>
#include <vector>

#include <catch2/catch.hpp>

#include "folio_word.hpp"

namespace mtdfuse::cache {

namespace {

constexpr std::uint8_t kHole = 0xff;
using Halves = std::array<std::uint8_t, 2>;

enum class Task : std::uint8_t {
    idle,
    copy,
    hold_share,
    hold_pin,
    change,
    fill,
    evict,
    write_back
};
constexpr std::array kTasks{Task::copy, Task::hold_share, Task::hold_pin,  Task::change,
                            Task::fill, Task::evict,      Task::write_back};

struct Thread {
    FolioWord looked = 0;
    Halves seen{};
    Task task = Task::idle;
    std::uint8_t step = 0;
    std::uint8_t tasks_left = 0;
    std::array<std::uint8_t, 3> unused{};
    auto operator<=>(const Thread&) const = default;
};

struct State {
    FolioWord word = 0;
    std::array<Thread, 3> threads{};
    Halves memory{kHole, kHole};
    Halves backing{};
    std::uint8_t latest = 0;    // what a reader has to see
    std::uint8_t allocated = 0; // the system holds memory for the folio
    std::array<std::uint8_t, 2> unused{};
    bool operator==(const State&) const = default;
};
static_assert(std::has_unique_object_representations_v<State>);

struct Hash {
    std::size_t operator()(const State& state) const {
        std::array<std::uint64_t, sizeof(State) / 8> words;
        static_assert(sizeof words == sizeof(State));
        std::memcpy(words.data(), &state, sizeof state);
        std::uint64_t hash = 0;
        for (const std::uint64_t word : words)
            hash = (hash ^ word ^ (word >> 29U)) * 0x9e3779b97f4a7c15U;
        return hash ^ (hash >> 32U);
    }
};

// One thread's next step. False where it cannot go on before somebody else has.
class Stepper {
public:
    Stepper(State& state, Thread& thread) : state_(state), thread_(thread) {}

    // `choice`: how the step ends where the world has a say (an error of the backing).
    bool step(bool choice) {
        switch (thread_.task) {
        case Task::copy:
            return copy();
        case Task::hold_share:
            return hold(Transition::share, Transition::unshare);
        case Task::hold_pin:
            return hold(Transition::pin, Transition::unpin);
        case Task::change:
            return change();
        case Task::fill:
            return fill();
        case Task::evict:
            return evict();
        case Task::write_back:
            return write_back(choice);
        case Task::idle:
            break;
        }
        return false;
    }

    [[nodiscard]] const char* broken() const { return broken_; }

private:
    bool apply(Transition transition) {
        const auto next = next_word(state_.word, transition);
        if (next)
            state_.word = *next;
        return next.has_value();
    }
    void must(Transition transition) {
        if (!apply(transition))
            broken_ = "a hold was lost";
    }
    // FolioTable::apply_if_still.
    bool apply_if_still(Transition transition) {
        return ((state_.word ^ thread_.looked) & kLookedAt) == 0 && apply(transition);
    }
    bool done() {
        thread_.task = Task::idle;
        thread_.step = 0;
        thread_.looked = 0;
        thread_.seen = {};
        return true;
    }
    bool next() {
        ++thread_.step;
        return true;
    }
    void see(unsigned half) {
        state_.allocated = 1; // touching a hole makes it resident
        thread_.seen[half] = state_.memory[half];
    }
    void require_whole() {
        if (thread_.seen[0] != thread_.seen[1] || thread_.seen[0] == kHole)
            broken_ = "a reader saw torn or foreign bytes";
    }

    bool copy() {
        switch (thread_.step) {
        case 0:
            thread_.looked = state_.word;
            return readable(state_.word) ? next() : done();
        case 1:
        case 2:
            see(thread_.step - 1U);
            return next();
        case 3:
            if (!same_copy(thread_.looked, state_.word))
                return next();
            require_whole();
            return done();
        case 4: // settle_late_copy
            if ((state_.word & kLocked) != 0)
                return false;
            if ((state_.word & kUptodate) != 0)
                return done();
            return apply(Transition::lock) ? next() : false;
        case 5:
            punch();
            return next();
        default:
            must(Transition::unlock);
            return done();
        }
    }

    bool hold(Transition take, Transition give_back) {
        switch (thread_.step) {
        case 0:
            return apply(take) ? next() : done();
        case 1:
        case 2:
            see(thread_.step - 1U);
            return next();
        default:
            require_whole();
            must(give_back);
            return done();
        }
    }

    bool change() {
        const bool was_absent = (thread_.looked & kUptodate) == 0;
        switch (thread_.step) {
        case 0:
            thread_.looked = state_.word;
            return next();
        case 1:
            return apply_if_still(Transition::lock) ? next() : done();
        case 2: // the first half of the new bytes, after what has to be loaded
            state_.allocated = 1;
            state_.memory[0] = static_cast<std::uint8_t>(state_.latest + 1);
            return next();
        case 3:
            state_.memory[1] = static_cast<std::uint8_t>(state_.latest + 1);
            return next();
        case 4:
            if (was_absent)
                must(Transition::fill);
            return next();
        case 5:
            if ((thread_.looked & kDirty) == 0)
                must(Transition::dirty);
            return next();
        default:
            ++state_.latest;
            must(Transition::unlock);
            return done();
        }
    }

    bool fill() {
        switch (thread_.step) {
        case 0:
            thread_.looked = state_.word;
            return (state_.word & kUptodate) == 0 ? next() : done();
        case 1:
            return apply_if_still(Transition::lock) ? next() : done();
        case 2:
        case 3:
            state_.allocated = 1;
            state_.memory[thread_.step - 2U] = state_.backing[thread_.step - 2U];
            return next();
        case 4:
            must(Transition::fill);
            return next();
        default:
            must(Transition::unlock);
            return done();
        }
    }

    void punch() {
        state_.memory = {kHole, kHole};
        state_.allocated = 0;
    }

    bool evict() {
        switch (thread_.step) {
        case 0:
            static_cast<void>(apply(Transition::unreference));
            return apply(Transition::lock_clean) ? next() : done();
        case 1:
            punch();
            return next();
        default:
            must(Transition::evict);
            return done();
        }
    }

    bool write_back(bool fails) {
        switch (thread_.step) {
        case 0:
            return apply(Transition::begin_writeback) ? next() : done();
        case 1:
        case 2:
            state_.backing[thread_.step - 1U] = state_.memory[thread_.step - 1U];
            return next();
        default:
            must(fails ? Transition::fail_writeback : Transition::end_writeback);
            return done();
        }
    }

    State& state_;
    Thread& thread_;
    const char* broken_ = nullptr;
};

const char* broken_invariant(const State& state) {
    if (!valid_word(state.word))
        return "the word is not valid";
    if ((state.word & kLocked) != 0)
        return nullptr;
    const Halves latest{state.latest, state.latest};
    if ((state.word & kUptodate) != 0 && state.memory != latest)
        return "a resident folio does not hold the last write";
    if ((state.word & (kDirty | kWriteback)) == 0 && state.backing != latest)
        return "a clean or absent folio is not in the backing: a write was lost";
    bool idle = true;
    for (const Thread& thread : state.threads)
        idle = idle && thread.task == Task::idle;
    if (idle && state.allocated != 0 && (state.word & kUptodate) == 0)
        return "memory is held that nobody accounts for";
    if (idle && (state.word & kKeepsOwnersOut) != 0)
        return "a hold was not given back";
    return nullptr;
}

struct Walk {
    std::size_t states = 0;
    const char* broken = nullptr;
};

Walk walk_all(std::size_t threads, std::uint8_t tasks_each) {
    State start;
    for (std::size_t t = 0; t < threads; ++t)
        start.threads[t].tasks_left = tasks_each;
    std::unordered_set<State, Hash> seen{start};
    std::vector<State> open{start};
    Walk walk;
    const auto visit = [&](State state, const char* broken) {
        walk.broken = broken != nullptr ? broken : broken_invariant(state);
        // Which thread is which makes no difference.
        std::sort(state.threads.begin(), state.threads.end());
        if (seen.insert(state).second)
            open.push_back(state);
    };
    while (!open.empty() && walk.broken == nullptr) {
        const State state = open.back();
        open.pop_back();
        bool can_go_on = false;
        bool working = false;
        for (std::size_t t = 0; t < state.threads.size() && walk.broken == nullptr; ++t) {
            const Thread& thread = state.threads[t];
            if (thread.task == Task::idle) {
                for (std::size_t i = 0; i < kTasks.size() && thread.tasks_left > 0; ++i) {
                    State after = state;
                    after.threads[t].task = kTasks[i];
                    --after.threads[t].tasks_left;
                    visit(after, nullptr);
                }
                continue;
            }
            working = true;
            for (const bool choice : {false, true}) {
                State after = state;
                Stepper stepper(after, after.threads[t]);
                if (stepper.step(choice)) {
                    can_go_on = true;
                    visit(after, stepper.broken());
                }
                if (walk.broken != nullptr)
                    break;
            }
        }
        if (working && !can_go_on)
            walk.broken = "nobody can go on";
    }
    walk.states = seen.size();
    return walk;
}

} // namespace

TEST_CASE("every order of two and three threads: nothing is torn, lost or left behind") {
    const Walk two = walk_all(2, 3);
    CHECK(two.broken == nullptr);
    const Walk three = walk_all(3, 2);
    CHECK(three.broken == nullptr);
    std::cout << "folio model: " << two.states << " states of two threads, " << three.states
              << " of three\n";
    CHECK(two.states > 10'000);
    CHECK(three.states > 10'000);
}

} // namespace mtdfuse::cache
