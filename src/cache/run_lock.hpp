// Neighbouring folios locked by one operation: one copy stream, one fence, then all are unlocked.
//
// Invariant: the folios [first, first + count) are locked by this thread. Only the first was waited
// for, while nothing was held; the others are tried, so several runs cannot wait for each other.
// Not thread-safe.
#pragma once

#include "folio_table.hpp"
#include "kernels.hpp"

namespace mtdfuse::cache {

class RunLock {
public:
    RunLock(FolioTable& table, const Kernels& kernels, FolioIndex first)
        : table_(table), kernels_(kernels), first_(first) {}
    RunLock(const RunLock&) = delete;
    RunLock& operator=(const RunLock&) = delete;
    ~RunLock() { release(); }

    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] FolioIndex end() const { return first_ + count_; }

    // The folio at end() was locked by the caller.
    void add_last() { ++count_; }
    // Bytes were stored, perhaps past the store buffer.
    void note_stores() { stored_ = true; }

    void release() {
        if (stored_)
            kernels_.fence();
        stored_ = false;
        for (; count_ > 0; --count_, ++first_)
            table_.must(first_, Transition::unlock);
    }

private:
    FolioTable& table_;
    const Kernels& kernels_;
    FolioIndex first_;
    std::uint64_t count_ = 0;
    bool stored_ = false;
};

} // namespace mtdfuse::cache
