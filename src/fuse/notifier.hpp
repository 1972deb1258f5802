// The thread that drops the kernel's cached pages of a device and then answers the request that
// changed its flash.
//
// sendfile, splice and private maps read through the page cache even on direct_io handles, so the
// pages must be gone before the caller hears that his erase is done. A handler may not drop them
// itself: the kernel waits there for pages being read, and those reads wait for a worker. So the
// handler lets go of everything and hands its request over.
//
// Invariant: every entry's reply is answered exactly once, also when the notifier ends. The mutex
// guards waiting_, busy_ and the two flags; it is never held while invalidating or replying.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "reply.hpp"

namespace mtdfuse::fuse {

class Notifier {
public:
    using Invalidate = std::function<void(const mtd::Device&)>;
    using Answer = std::function<void(Reply&)>;

    explicit Notifier(Invalidate invalidate);
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;
    ~Notifier(); // answers what still waits, without invalidating

    // Takes the reply over; `answer` answers it once the device's pages are gone. Each entry is a
    // request that waits, so the queue is as long as there are callers.
    void invalidate_then_answer(const mtd::Device& device, Reply reply, Answer answer);

    // From now on entries are answered without an invalidation; returns when none is under way.
    // Call it while the workers still serve: an invalidation may wait for one of them.
    void stop_invalidating();

private:
    struct Entry {
        const mtd::Device* device;
        Reply reply;
        Answer answer;
    };
    void run();
    void serve(Entry entry, bool invalidate) const;

    const Invalidate invalidate_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Entry> waiting_;
    bool busy_ = false;
    bool invalidating_ = true;
    bool ending_ = false;
    std::thread thread_;
};

} // namespace mtdfuse::fuse
