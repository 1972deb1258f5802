// The thread that writes old dirt. It sleeps without a timeout while nothing is dirty.
//
// Lock order: mutex_ is a leaf; not held during a pass.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace mtdfuse::cache {

class CacheState;

class Flusher {
public:
    Flusher() = default;
    Flusher(const Flusher&) = delete;
    Flusher& operator=(const Flusher&) = delete;
    ~Flusher();

    void start(CacheState& cache);
    // The first folio became dirty.
    void wake();

private:
    void run(CacheState& cache);

    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<bool> stop_{false};
    bool dirt_ = false;
    std::thread thread_;
};

} // namespace mtdfuse::cache
