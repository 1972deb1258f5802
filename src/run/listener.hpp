// The supervisor's end of the kernel's questions (seccomp_unotify(2)). Stateless but for the
// descriptor; thread-safe.
#pragma once

#include <optional>

#include <linux/seccomp.h>

#include <mtdfuse/base.hpp>

namespace mtdfuse::run {

class Listener {
public:
    explicit Listener(UniqueFd fd) : fd_(std::move(fd)) {}

    [[nodiscard]] int fd() const { return fd_.get(); }
    // The next question. Nothing where the one that was announced has gone away: its asker was
    // killed.
    [[nodiscard]] std::optional<seccomp_notif> receive() const;
    // Whether the asker still waits: the numbers of its thread and descriptors are its own.
    [[nodiscard]] bool still_waits(std::uint64_t id) const;

    // Each answers the question, or does nothing where the asker was killed.
    void answer(std::uint64_t id, std::int64_t value) const;
    void refuse(std::uint64_t id, int number) const;
    // The kernel carries the call out as it stands.
    void let_pass(std::uint64_t id) const;
    // The asker gets a copy of `fd`, and its number as the answer; or what kept it from it, such as
    // EMFILE.
    void give(std::uint64_t id, int fd, bool close_on_exec) const;

private:
    void send(const seccomp_notif_resp& response) const;

    UniqueFd fd_;
};

} // namespace mtdfuse::run
