// The threads that take requests from the kernel, and their end.
//
// A worker blocks in read(2) on /dev/fuse. To end without traffic it is sent a signal that does
// nothing but interrupt that read; since the signal may come just before the read, it is repeated
// until the thread has left. Invariant: running_ is the number of threads inside their body; the
// mutex guards it and is never held while a body runs.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <signal.h>

namespace mtdfuse::fuse {

// The no-op handler of wake_signal(), for as long as it lives.
class WakeSignal {
public:
    WakeSignal();
    WakeSignal(const WakeSignal&) = delete;
    WakeSignal& operator=(const WakeSignal&) = delete;
    ~WakeSignal();

private:
    struct sigaction before_ {};
};

class Workers {
public:
    // Starts `count` threads that run `body` once each. It must return soon after interrupt() was
    // called, given that its blocking system calls return EINTR.
    Workers(unsigned count, std::function<void()> body);
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;
    ~Workers(); // interrupts and joins

    // Wakes the threads again and again until all have returned.
    void interrupt();

private:
    void run();

    const std::function<void()> body_;
    const WakeSignal wake_;
    std::mutex mutex_;
    std::condition_variable left_;
    unsigned running_ = 0;
    std::vector<std::thread> threads_;
};

} // namespace mtdfuse::fuse
