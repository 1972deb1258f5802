#include "ending.hpp"

#include <fmt/format.h>

namespace mtdfuse::daemon {

void Ending::on(Event event) {
    const std::lock_guard lock(mutex_);
    const auto transition = transition_of(phase_, event);
    if (!transition)
        return;
    phase_ = transition->to;
    act(transition->action);
}

void Ending::act(Action action) {
    switch (action) {
    case Action::none:
        return;
    case Action::stop:
        effects_.stop_serving();
        return;
    case Action::leave:
        log_.error("ended by a signal before the mount answered");
        break;
    case Action::give_up_mounted:
    case Action::give_up:
        log_.error(fmt::format("gave up writing back at the second signal: {} bytes are lost",
                               effects_.dirty_bytes()));
        if (action == Action::give_up_mounted)
            effects_.detach();
        break;
    }
    effects_.leave_process();
}

} // namespace mtdfuse::daemon
