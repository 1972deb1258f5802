// Signals are the daemon's business, not that of the threads of this room.
#pragma once

#include <csignal>

namespace mtdfuse::fuse {

// Ends a worker's wait for a request: it does nothing, but read(2) returns EINTR.
inline int wake_signal() {
    return SIGRTMIN;
}

// Blocks, in the calling thread and for as long as it lives, every signal but those that a fault
// of the program raises. Threads started meanwhile inherit that.
class BlockedSignals {
public:
    BlockedSignals() {
        sigset_t blocked;
        sigfillset(&blocked);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP}) {
            sigdelset(&blocked, fault);
        }
        pthread_sigmask(SIG_SETMASK, &blocked, &before_);
    }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;
    ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

} // namespace mtdfuse::fuse
