// Going into the background: the fork comes first, before any thread exists; the child does
// everything, and the parent returns when the mount answers or with the child's exit status.
#pragma once

#include <optional>

#include <mtdfuse/base.hpp>

namespace mtdfuse::daemon {

class Background {
public:
    // Stays in the foreground: ready() does nothing.
    Background() = default;

    // Returns in both processes, in the parent only when the child reported or ended. Call it while
    // there is one thread.
    [[nodiscard]] static Result<Background> fork_off();

    // What the parent has to return; nothing in the child and in the foreground.
    [[nodiscard]] std::optional<int> parent_status() const { return parent_status_; }

    // Child: leaves the session, the directory and the terminal, and lets the parent return. Until
    // then messages still reach the terminal.
    [[nodiscard]] Status ready() const;

    // Child: poll(2) reports POLLERR on it when the parent is gone. -1 in the foreground.
    [[nodiscard]] int parent_fd() const { return to_parent_.get(); }

private:
    std::optional<int> parent_status_;
    UniqueFd to_parent_;
};

} // namespace mtdfuse::daemon
