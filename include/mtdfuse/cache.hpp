// The room `cache`: the folio cache between a device and its backing.
//
// A folio is 2^order base pages of 4 KiB, naturally aligned; the last folio of a mapping may be
// shorter. Several mappings share one budget and one flusher. In the arena of a mapping (a linear,
// sparse memfd) arena offset is device offset. Promises to every caller:
//   - a call acts on bytes it has proved to be the mapping's, never on a dropped folio;
//   - the same bytes written again leave a folio clean, erasing an erased range too;
//   - dirty bytes never exceed half the capacity (one folio at least): the writer writes back, and
//     gets the backing's error where that fails;
//   - resident bytes never exceed the capacity;
//   - a folio whose writeback failed stays dirty; the error reaches each ErrorCursor once.
#pragma once

#include <chrono>
#include <memory>

#include <mtdfuse/storage.hpp>

namespace mtdfuse::cache {

inline constexpr std::uint64_t kBasePageBytes = 4096;
inline constexpr std::uint64_t kMinFolioBytes = kBasePageBytes;
inline constexpr std::uint64_t kMaxFolioBytes = 2 * kMiB;

// How new bytes meet the old ones: `replace` stores them, `and_bits` only clears bits, as
// programming flash does.
enum class Combine { replace, and_bits };

enum class Durability {
    written_back, // the backing has the bytes: a copy of the image file sees them
    stable,       // and has been told to put them on stable storage
};

enum class Policy {
    writeback,    // a write is done when the cache has it
    writethrough, // a write is done when the backing has it
};

// Called between looking at a folio and locking it, so that a test can force, and a debug build
// provoke, what may happen there: the folio dropped, reclaimed or changed by somebody else.
class Probe {
public:
    Probe() = default;
    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;
    virtual ~Probe() = default;
    virtual void before_lock(FolioIndex index) = 0;
};

struct Options {
    std::uint64_t folio_bytes = 64 * kKiB;     // power of two, kMinFolioBytes..kMaxFolioBytes
    std::uint64_t capacity_bytes = 256 * kMiB; // at least one folio
    Policy policy = Policy::writeback;
    std::chrono::milliseconds dirty_expire{5000}; // the flusher writes older dirt
    Probe* probe = nullptr;                       // must outlive the cache
    std::string_view kernels;                     // plain, avx2 or avx512; empty: the CPU's best
};

// What one open file has seen of a mapping's writeback errors (as the kernel's errseq_t). Value
// type; not thread-safe.
class ErrorCursor {
public:
    ErrorCursor() = default;

private:
    friend class Mapping;
    explicit ErrorCursor(std::uint64_t seen) : seen_(seen) {}
    std::uint64_t seen_ = 0;
};

// A range of a mapping held in memory: readable until released, not changed, not reclaimed.
// Writers to its folios wait for the release, so hold it shortly and take no second one meanwhile.
class PinnedRange {
public:
    PinnedRange(PinnedRange&& other) noexcept;
    PinnedRange& operator=(PinnedRange&& other) noexcept;
    PinnedRange(const PinnedRange&) = delete;
    PinnedRange& operator=(const PinnedRange&) = delete;
    ~PinnedRange();

    [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

private:
    friend class Mapping;
    PinnedRange() = default;
    class MappingState* state_ = nullptr;
    FolioIndex first_, last_; // both pinned
    std::span<const std::byte> bytes_;
};

// The cached bytes of one backing, or memory without one (then nothing is ever dirty, nothing is
// reclaimed, and what was never written reads as 0xFF). Thread-safe; concurrent calls on
// overlapping ranges are atomic per folio. EINVAL for a range past size_bytes().
class Mapping {
public:
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping();

    [[nodiscard]] std::uint64_t size_bytes() const;

    // EIO and the like from the backing: `into` is then undefined.
    [[nodiscard]] Status read(ByteOffset at, std::span<std::byte> into);

    // On an error a front part may have been written; each folio holds all of its part or none.
    [[nodiscard]] Status write(ByteOffset at, std::span<const std::byte> from, Combine combine);

    // Sets the range to 0xFF: an erase. Folios that lie wholly inside are never read first.
    [[nodiscard]] Status fill_ff(ByteOffset at, std::uint64_t length_bytes);

    // Pins the longest front part of the range that the budget allows, at least to the end of its
    // first folio. ENOMEM where not even that fits.
    [[nodiscard]] Result<PinnedRange> pin(ByteOffset at, std::uint64_t length_bytes);

    // Writes every folio dirty at the time of the call; with `stable` then syncs the backing. An
    // error of this or of an earlier writeback that `cursor` has not seen is returned, once.
    [[nodiscard]] Status sync(Durability durability, ErrorCursor& cursor);

    // A cursor for a new open file: it will see errors from now on, and an earlier one that no
    // cursor has seen yet.
    [[nodiscard]] ErrorCursor error_cursor();

    // Forgets every clean, unpinned folio. Dirty ones stay: sync first.
    void drop();

    [[nodiscard]] std::uint64_t dirty_bytes() const;

private:
    friend class Cache;
    friend class Inspector; // the unit tests' view of locks, pins and reservations
    explicit Mapping(std::unique_ptr<class MappingState> state);
    std::unique_ptr<class MappingState> state_;
};

// The budget and the flusher thread. Not copyable; all mappings die with it.
class Cache {
public:
    // EINVAL with the rule for an option out of range, or kernels that this CPU cannot run; ENOMEM.
    [[nodiscard]] static Result<std::unique_ptr<Cache>> create(const Options& options, Log& log,
                                                               Clock& clock);
    Cache(const Cache&) = delete;
    Cache& operator=(const Cache&) = delete;
    // Stops the flusher. Does not write back: sync first, dirty_bytes() says what would be lost.
    ~Cache();

    // A mapping of the whole backing. The reference lives as long as the cache. ENOMEM.
    [[nodiscard]] Result<Mapping*> map(std::unique_ptr<storage::Backing> backing);
    // Memory without a backing, outside the budget: it is the device, not a copy of it. ENOMEM.
    [[nodiscard]] Result<Mapping*> map_anonymous(std::uint64_t size_bytes);

    [[nodiscard]] const Options& options() const;
    [[nodiscard]] std::uint64_t resident_bytes() const;
    [[nodiscard]] std::uint64_t dirty_bytes() const;

    // hits, misses, evictions, retries (a folio changed between look and lock), lost copies,
    // writebacks, writeback errors; gauges resident, dirty, capacity.
    void collect_metrics(std::vector<Metric>& into) const;

private:
    friend class Inspector;
    explicit Cache(std::unique_ptr<class CacheState> state);
    [[nodiscard]] Result<Mapping*> add(Result<std::unique_ptr<class MappingState>> made);
    std::unique_ptr<class CacheState> state_;
};

} // namespace mtdfuse::cache
