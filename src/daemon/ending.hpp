// How the daemon ends: what a signal does depends on how far the daemon has come.
//
// Invariant: the phase changes only in on(), by the table; what has to be stopped or detached is
// set while the phase says that it exists. One mutex, a leaf: stop() of the session and the log
// are called under it and take nothing of ours.
#pragma once

#include <array>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include <mtdfuse/base.hpp>

namespace mtdfuse::daemon {

enum class Phase {
    starting, // nothing is mounted, nothing can be lost
    mounting, // mount(2) may have happened already
    doomed,   // a signal came while mounting
    serving,
    ending, // told to stop, still mounted
    over,   // unmounted, or about to be; writing back
};

enum class Event {
    mount_begins,
    mounted,
    served,          // serve() has returned
    unmount_begins,  // everything is written back
    terminate,       // a first signal
    terminate_again, // a second one soon after
};

enum class Action { none, leave, stop, give_up_mounted, give_up };

struct Transition {
    Phase from;
    Event event;
    Phase to;
    Action action;
};

inline constexpr std::array kTransitions = {
    Transition{Phase::starting, Event::mount_begins, Phase::mounting, Action::none},
    Transition{Phase::starting, Event::terminate, Phase::starting, Action::leave},
    Transition{Phase::starting, Event::terminate_again, Phase::starting, Action::leave},
    Transition{Phase::mounting, Event::mounted, Phase::serving, Action::none},
    Transition{Phase::mounting, Event::terminate, Phase::doomed, Action::none},
    Transition{Phase::doomed, Event::mounted, Phase::ending, Action::stop},
    Transition{Phase::doomed, Event::terminate, Phase::doomed, Action::none},
    Transition{Phase::doomed, Event::terminate_again, Phase::over, Action::give_up_mounted},
    Transition{Phase::serving, Event::terminate, Phase::ending, Action::stop},
    Transition{Phase::serving, Event::served, Phase::over, Action::none},
    Transition{Phase::ending, Event::served, Phase::ending, Action::none},
    Transition{Phase::ending, Event::terminate, Phase::ending, Action::none},
    Transition{Phase::ending, Event::terminate_again, Phase::over, Action::give_up_mounted},
    Transition{Phase::ending, Event::unmount_begins, Phase::over, Action::none},
    Transition{Phase::over, Event::unmount_begins, Phase::over, Action::none},
    Transition{Phase::over, Event::terminate, Phase::over, Action::none},
    Transition{Phase::over, Event::terminate_again, Phase::over, Action::give_up},
};

// nullopt: the event cannot happen in this phase.
[[nodiscard]] constexpr std::optional<Transition> transition_of(Phase from, Event event) {
    for (const Transition& transition : kTransitions) {
        if (transition.from == from && transition.event == event)
            return transition;
    }
    return std::nullopt;
}

// What the actions act on. `leave_process` does not return in the program.
struct EndingEffects {
    std::function<void()> stop_serving;
    std::function<std::uint64_t()> dirty_bytes;
    std::function<void()> detach;
    std::function<void()> leave_process; // with status 1, writing nothing back
};

class Ending {
public:
    Ending(Log& log, EndingEffects effects) : log_(log), effects_(std::move(effects)) {}

    void on(Event event);

private:
    void act(Action action);

    Log& log_;
    const EndingEffects effects_;
    std::mutex mutex_; // guards phase_
    Phase phase_ = Phase::starting;
};

} // namespace mtdfuse::daemon
