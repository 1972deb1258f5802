// The room `base`: the words every other room speaks - results, units, logging, clock, counters.
// Nothing here knows about flash. Everything is thread-safe unless a comment says otherwise.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace mtdfuse {

// ---- results -------------------------------------------------------------------------------

// What went wrong: a positive errno below 512 (FUSE cannot carry more) and a sentence that names
// the thing, the value and, where there is one, the rule.
struct Error {
    int number;
    std::string context;
};

template<class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

// A failed Result with this errno and context.
[[nodiscard]] tl::unexpected<Error> fail(int number, std::string context);

// A failed Result with the calling thread's errno; ": " and strerror are appended to `context`.
[[nodiscard]] tl::unexpected<Error> fail_errno(std::string context);

// "No such file or directory" for ENOENT and so on; thread-safe, unlike strerror.
[[nodiscard]] std::string errno_text(int number);

// ---- units ---------------------------------------------------------------------------------

// Positions that must not be mixed: a byte offset, the index of an erase block, of a folio.
// Differences and lengths are plain std::uint64_t with the unit in the name.
template<class Tag>
struct Position {
    std::uint64_t value = 0;

    constexpr Position() = default;
    constexpr explicit Position(std::uint64_t v) : value(v) {}
    constexpr auto operator<=>(const Position&) const = default;
    constexpr Position operator+(std::uint64_t distance) const {
        return Position(value + distance);
    }
    constexpr Position operator-(std::uint64_t distance) const {
        return Position(value - distance);
    }
    constexpr std::uint64_t operator-(Position other) const { return value - other.value; }
    constexpr Position& operator++() {
        ++value;
        return *this;
    }
};
using ByteOffset = Position<struct ByteOffsetTag>;
using BlockIndex = Position<struct BlockIndexTag>;
using FolioIndex = Position<struct FolioIndexTag>;

inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = 1024 * kKiB;

// Parses a size as users write it: `131072`, `0x20000`, `128K`, `128KiB`; suffixes K M G T, each
// with or without iB, are powers of 1024. EINVAL on anything else (sign, fraction, space, empty),
// ERANGE above 2^64-1.
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);

// The shortest exact form: 131072 -> "128K", 1000 -> "1000".
[[nodiscard]] std::string format_size(std::uint64_t bytes);

// ---- logging -------------------------------------------------------------------------------

enum class Severity { debug, info, warning, error };

// Where messages go. The rooms get a reference from their maker; there is no global logger.
class Log {
public:
    Log() = default;
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    virtual ~Log() = default;

    // One message, one line, no trailing newline. Callable from every thread.
    virtual void write(Severity severity, std::string_view message) = 0;

    void debug(std::string_view message) { write(Severity::debug, message); }
    void info(std::string_view message) { write(Severity::info, message); }
    void warning(std::string_view message) { write(Severity::warning, message); }
    void error(std::string_view message) { write(Severity::error, message); }
};

// Drops everything.
class NullLog final : public Log {
public:
    void write(Severity, std::string_view) override {}
};

// ---- clock and randomness ------------------------------------------------------------------

using TimePoint = std::chrono::steady_clock::time_point;

class Clock {
public:
    Clock() = default;
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;
    virtual ~Clock() = default;
    [[nodiscard]] virtual TimePoint now() const = 0;
};

class SteadyClock final : public Clock {
public:
    [[nodiscard]] TimePoint now() const override { return std::chrono::steady_clock::now(); }
};

// A repeatable stream of numbers (splitmix64, public domain algorithm by S. Vigna): the same seed
// gives the same stream on every machine. Not thread-safe.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    [[nodiscard]] std::uint64_t next();
    // Uniform enough in [0, limit); 0 for a limit of 0.
    [[nodiscard]] std::uint64_t below(std::uint64_t limit) { return limit ? next() % limit : 0; }

private:
    std::uint64_t state_;
};

// ---- counters ------------------------------------------------------------------------------

// An event counter. Relaxed order: a counter is tied to no other memory.
class Counter {
public:
    void add(std::uint64_t n = 1) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t value() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint64_t> value_{0};
};

// N event counters for paths on which a locked instruction shows (5 ns on the machine it was
// measured on, beside 36 ns for a read of 512 bytes): each thread adds to a row of its own by a
// plain load and store.
//
// Invariant: a row has one owner, told by the address of a thread-local object, and only the owner
// stores to it; an address comes back only after its thread has ended. Who finds no free row shares
// the last one, by locked additions.
template<std::size_t N>
class ThreadCounters {
public:
    // The calling thread's row, for several additions. Valid in that thread only.
    class Row {
    public:
        void add(std::size_t which, std::uint64_t n = 1) noexcept {
            std::atomic<std::uint64_t>& value = values_[which];
            if (shared_)
                value.fetch_add(n, std::memory_order_relaxed);
            else
                value.store(value.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
        }

    private:
        friend class ThreadCounters;
        Row(std::atomic<std::uint64_t>* values, bool shared) : values_(values), shared_(shared) {}
        std::atomic<std::uint64_t>* values_;
        bool shared_;
    };

    [[nodiscard]] Row mine() noexcept {
        static thread_local const char mark = 0;
        constexpr std::uintptr_t kThreadAlignment = 64;
        const auto address = reinterpret_cast<std::uintptr_t>(&mark) / kThreadAlignment;
        const std::size_t start = (address ^ (address >> 6U) ^ (address >> 12U)) % kOwned;
        if (rows_[start].owner.load(std::memory_order_relaxed) == &mark)
            return Row(rows_[start].values.data(), false);
        return find_row(&mark, start);
    }

    void add(std::size_t which, std::uint64_t n = 1) noexcept { mine().add(which, n); }

    [[nodiscard]] std::uint64_t value(std::size_t which) const noexcept {
        std::uint64_t sum = 0;
        for (const Cells& row : rows_)
            sum += row.values[which].load(std::memory_order_relaxed);
        return sum;
    }

private:
    static constexpr std::size_t kOwned = 32; // power of two

    struct alignas(64) Cells {
        std::atomic<const void*> owner{nullptr};
        std::array<std::atomic<std::uint64_t>, N> values{};
    };

    [[nodiscard]] Row find_row(const void* mark, std::size_t start) noexcept {
        for (std::size_t i = 0; i < kOwned; ++i) {
            Cells& row = rows_[(start + i) % kOwned];
            const void* owner = nullptr;
            if (row.owner.compare_exchange_strong(owner, mark, std::memory_order_relaxed) ||
                owner == mark)
                return Row(row.values.data(), false);
        }
        return Row(rows_[kOwned].values.data(), true);
    }

    std::array<Cells, kOwned + 1> rows_{};
};

enum class MetricKind { counter, gauge };

// One line of MNT/metrics: `name` without the prefix "mtdfuse_", counters end in _total, base units
// (bytes, seconds). Each room has collect_metrics() functions that append theirs.
struct Metric {
    std::string name;
    std::string help;
    MetricKind kind = MetricKind::counter;
    std::uint64_t value = 0;
};

// ---- the process's surroundings ------------------------------------------------------------

// Owns a file descriptor. Not thread-safe.
class UniqueFd {
public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) : fd_(fd) {}
    UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept;
    UniqueFd(const UniqueFd&) = delete;
    UniqueFd& operator=(const UniqueFd&) = delete;
    ~UniqueFd() { reset(); }

    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
    void reset();

private:
    int fd_ = -1;
};

// One line of /proc/self/mountinfo (Documentation/filesystems/proc.rst, 3.5), octal escapes undone.
struct MountEntry {
    std::string source;
    std::string mount_point;
    std::string fs_type;
    unsigned device_major = 0;
    unsigned device_minor = 0;
};
[[nodiscard]] std::vector<MountEntry> parse_mountinfo(std::string_view text);

// The mounts this process sees. errno of the failing open or read.
[[nodiscard]] Result<std::vector<MountEntry>> read_mountinfo();

// The whole of a small file (procfs, sysfs, a log): read until end. errno of the failing call.
[[nodiscard]] Result<std::string> read_small_file(const std::string& path);

} // namespace mtdfuse
