#include "flusher.hpp"

#include <algorithm>

#include "cache_state.hpp"
#include "writeback.hpp"

namespace mtdfuse::cache {

using namespace std::chrono_literals;

Flusher::~Flusher() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable())
        thread_.join();
}

void Flusher::start(CacheState& cache) {
    thread_ = std::thread([this, &cache] { run(cache); });
}

void Flusher::wake() {
    {
        const std::lock_guard lock(mutex_);
        dirt_ = true;
    }
    changed_.notify_all();
}

void Flusher::run(CacheState& cache) {
    const auto period =
        std::clamp<std::chrono::milliseconds>(cache.options.dirty_expire / 4, 1ms, 1000ms);
    std::unique_lock lock(mutex_);
    while (!stop_) {
        changed_.wait(lock, [&] { return stop_ || dirt_; });
        if (changed_.wait_for(lock, period, [&] { return stop_.load(); }))
            return;
        dirt_ = false;
        lock.unlock();
        flush_expired(cache, stop_);
        const bool more = !cache.dirty_set.empty();
        lock.lock();
        dirt_ = dirt_ || more;
    }
}

} // namespace mtdfuse::cache
