#include "workers.hpp"

#include <chrono>

#include "signal_mask.hpp"

namespace mtdfuse::fuse {

WakeSignal::WakeSignal() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigemptyset(&action.sa_mask);
    sigaction(wake_signal(), &action, &before_);
}

WakeSignal::~WakeSignal() {
    sigaction(wake_signal(), &before_, nullptr);
}

Workers::Workers(unsigned count, std::function<void()> body) : body_(std::move(body)) {
    const BlockedSignals blocked; // the threads inherit them
    threads_.reserve(count);
    for (unsigned i = 0; i < count; ++i) {
        {
            const std::lock_guard lock(mutex_);
            ++running_;
        }
        threads_.emplace_back([this] { run(); });
    }
}

Workers::~Workers() {
    interrupt();
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

void Workers::interrupt() {
    constexpr std::chrono::milliseconds kAgainAfter{5};
    std::unique_lock lock(mutex_);
    while (running_ > 0) {
        for (std::thread& thread : threads_) {
            pthread_kill(thread.native_handle(), wake_signal());
        }
        left_.wait_for(lock, kAgainAfter, [this] { return running_ == 0; });
    }
}

void Workers::run() {
    sigset_t wake;
    sigemptyset(&wake);
    sigaddset(&wake, wake_signal());
    pthread_sigmask(SIG_UNBLOCK, &wake, nullptr);
    body_();
    const std::lock_guard lock(mutex_);
    --running_;
    left_.notify_all();
}

} // namespace mtdfuse::fuse
