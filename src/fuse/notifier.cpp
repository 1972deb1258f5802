#include "notifier.hpp"

#include "signal_mask.hpp"

namespace mtdfuse::fuse {

Notifier::Notifier(Invalidate invalidate) : invalidate_(std::move(invalidate)) {
    const BlockedSignals blocked; // the thread inherits them
    thread_ = std::thread([this] { run(); });
}

Notifier::~Notifier() {
    {
        const std::lock_guard lock(mutex_);
        invalidating_ = false;
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void Notifier::invalidate_then_answer(const mtd::Device& device, Reply reply, Answer answer) {
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back({&device, std::move(reply), std::move(answer)});
    }
    changed_.notify_all();
}

void Notifier::stop_invalidating() {
    std::unique_lock lock(mutex_);
    invalidating_ = false;
    changed_.wait(lock, [this] { return !busy_; });
}

void Notifier::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
        if (waiting_.empty()) {
            return;
        }
        Entry entry = std::move(waiting_.front());
        waiting_.pop_front();
        busy_ = true;
        const bool invalidate = invalidating_;
        lock.unlock();
        serve(std::move(entry), invalidate);
        lock.lock();
        busy_ = false;
        changed_.notify_all();
    }
}

void Notifier::serve(Entry entry, bool invalidate) const {
    try {
        if (invalidate) {
            invalidate_(*entry.device);
        }
        entry.answer(entry.reply);
    } catch (...) {
        entry.reply.refuse(current_exception_error());
    }
}

} // namespace mtdfuse::fuse
