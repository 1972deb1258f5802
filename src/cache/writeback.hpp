// Writing dirty folios to the backing.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include <mtdfuse/base.hpp>

#include "resident_list.hpp"

namespace mtdfuse::cache {

class CacheState;

// One walk over dirty folios, in ascending order. Neighbours are gathered into one write: in
// the arena a range of folios is one run of memory. A run ends at each MiB of the device,
// so that long ones are aligned for whatever lies below. A folio is held shared from add() until
// its run is written: readers go on, writers wait. A failed run is tried again folio by folio: one
// bad place does not keep its neighbours dirty. Not thread-safe; never sleeps for a folio.
class WritebackPass {
public:
    // `start_write_out`: what is written sets out for stable storage at once, for a sync to find
    // most of its way done.
    enum class Next { leave, start_write_out };
    explicit WritebackPass(CacheState& cache, Next next = Next::leave)
        : cache_(cache), next_(next) {}
    WritebackPass(const WritebackPass&) = delete;
    WritebackPass& operator=(const WritebackPass&) = delete;
    ~WritebackPass() { finish(); }

    enum class Added { queued, clean, busy };
    // `busy`: locked or being written by somebody else.
    Added add(FolioPlace place);
    // Writes what is queued.
    void finish();

    [[nodiscard]] std::uint64_t written_folios() const { return written_folios_; }
    [[nodiscard]] const std::optional<Error>& first_error() const { return first_error_; }

private:
    void write_run();
    [[nodiscard]] Status write(FolioIndex first, std::uint64_t count);
    void end_written(FolioIndex first, std::uint64_t count);
    void end_failed(FolioIndex index, const Error& error);
    // Of what was written since the last call.
    void start_write_out();

    CacheState& cache_;
    const Next next_;
    MappingState* mapping_ = nullptr; // of the run and of what has not set out yet
    FolioIndex first_;
    std::uint64_t count_ = 0;
    ByteOffset set_out_from_, set_out_to_;
    std::uint64_t written_folios_ = 0;
    std::optional<Error> first_error_;
};

// The calling writer makes dirty bytes fewer, oldest first; sleeps where others are about to. The
// backing's error where nothing could be written.
[[nodiscard]] Status make_dirty_room(CacheState& cache);

// Writes what has been dirty for longer than dirty_expire. Ends early when `stop` is set.
void flush_expired(CacheState& cache, const std::atomic<bool>& stop);

} // namespace mtdfuse::cache
