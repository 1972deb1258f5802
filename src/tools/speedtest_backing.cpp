#include "speedtest_backing.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <numeric>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <mtdfuse/cache.hpp>

#include "speedtest_support.hpp"
#include "speedtest_works.hpp"

namespace mtdfuse::tools {

namespace {

constexpr std::uint64_t kPlainReadBytes = kMiB;
// No folio may be written before the clock runs.
constexpr std::chrono::hours kNeverExpires{24};

class CountedCalls final : public storage::FileCalls {
public:
    explicit CountedCalls(Counter& calls) : calls_(calls) {}

    ssize_t read_once(int fd, void* into, std::size_t length_bytes, off_t at) override {
        calls_.add();
        return FileCalls::read_once(fd, into, length_bytes, at);
    }
    ssize_t write_once(int fd, const iovec* segments, int count, off_t at) override {
        calls_.add();
        return FileCalls::write_once(fd, segments, count, at);
    }
    int start_write_out_once(int fd, off_t at, off_t length_bytes) override {
        calls_.add();
        return FileCalls::start_write_out_once(fd, at, length_bytes);
    }
    int sync_once(int fd) override {
        calls_.add();
        return FileCalls::sync_once(fd);
    }

private:
    Counter& calls_;
};

struct Measured {
    double milliseconds = 0;
    std::uint64_t calls = 0;
};

// A file that is worked on with system calls alone.
class PlainFile {
public:
    PlainFile(UniqueFd fd, std::uint64_t size_bytes)
        : fd_(std::move(fd)), size_bytes_(size_bytes) {}

    [[nodiscard]] int fd() const { return fd_.get(); }

    Status write(std::uint64_t at_bytes, std::span<const std::byte> from) {
        ++calls_;
        const ssize_t moved =
            ::pwrite(fd_.get(), from.data(), from.size(), static_cast<off_t>(at_bytes));
        return whole(moved, from.size());
    }
    Status read(std::uint64_t at_bytes, std::span<std::byte> into) {
        ++calls_;
        return whole(::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(at_bytes)),
                     into.size());
    }
    Status sync() {
        ++calls_;
        return ::fdatasync(fd_.get()) == 0 ? Status{} : fail_errno("fdatasync failed");
    }
    // From the kernel's memory, too.
    Status forget() {
        Status synced = sync();
        if (!synced)
            return synced;
        const int refused =
            ::posix_fadvise(fd_.get(), 0, static_cast<off_t>(size_bytes_), POSIX_FADV_DONTNEED);
        return refused == 0 ? Status{} : fail(refused, "posix_fadvise failed");
    }
    std::uint64_t take_calls() { return std::exchange(calls_, 0); }

private:
    static Status whole(ssize_t moved, std::size_t wanted) {
        if (moved < 0)
            return fail_errno("a transfer failed");
        if (static_cast<std::size_t>(moved) != wanted)
            return fail(EIO, fmt::format("{} of {} bytes moved", moved, wanted));
        return {};
    }
    UniqueFd fd_;
    std::uint64_t size_bytes_;
    std::uint64_t calls_ = 0;
};

// Invariant: between the works the mapping is clean and both files hold `stamp_` at the start of
// each folio.
class BackingWorks {
public:
    BackingWorks(std::unique_ptr<cache::Cache> cache, cache::Mapping& mapping, Counter& calls,
                 PlainFile ours, PlainFile plain, std::uint64_t folio_bytes)
        : cache_(std::move(cache)), mapping_(mapping), calls_(calls), ours_(std::move(ours)),
          plain_(std::move(plain)), folio_bytes_(folio_bytes), folio_(random_bytes(folio_bytes, 1)),
          buffer_(kPlainReadBytes, std::byte{0}),
          order_((mapping.size_bytes() + folio_bytes - 1) / folio_bytes) {
        std::iota(order_.begin(), order_.end(), std::uint64_t{0});
        Random random(2);
        for (std::size_t left = order_.size(); left > 1; --left)
            std::swap(order_[left - 1], order_[random.below(left)]);
    }

    Status writeback(Measured& ours, Measured& limit) {
        ++stamp_;
        std::memcpy(folio_.bytes().data(), &stamp_, sizeof stamp_);
        Status done;
        for (auto folio = order_.begin(); done && folio != order_.end(); ++folio)
            done = mapping_.write(ByteOffset(*folio * folio_bytes_), bytes_of(*folio),
                                  cache::Combine::replace);
        cache::ErrorCursor cursor = mapping_.error_cursor();
        const std::uint64_t calls_before = calls_.value();
        if (done)
            ours.milliseconds =
                time_ms([&] { done = mapping_.sync(cache::Durability::stable, cursor); });
        ours.calls = calls_.value() - calls_before;
        plain_.take_calls();
        limit.milliseconds = time_ms([&] {
            for (auto folio = order_.begin(); done && folio != order_.end(); ++folio)
                done = plain_.write(*folio * folio_bytes_, bytes_of(*folio));
            if (done)
                done = plain_.sync();
        });
        limit.calls = plain_.take_calls();
        return done;
    }

    Status cold_read(Measured& ours, Measured& limit) {
        Status done = ours_.forget();
        if (done)
            done = plain_.forget();
        mapping_.drop();
        const std::uint64_t calls_before = calls_.value();
        ours.milliseconds = time_ms([&] {
            for (std::uint64_t at = 0; done && at < mapping_.size_bytes(); at += kEraseBlockBytes)
                done = mapping_.read(ByteOffset(at), buffer_.bytes().first(kEraseBlockBytes));
        });
        ours.calls = calls_.value() - calls_before;
        plain_.take_calls();
        limit.milliseconds = time_ms([&] {
            for (std::uint64_t at = 0; done && at < mapping_.size_bytes();) {
                const std::uint64_t piece = std::min(kPlainReadBytes, mapping_.size_bytes() - at);
                done = plain_.read(at, buffer_.bytes().first(piece));
                at += piece;
            }
        });
        limit.calls = plain_.take_calls();
        return done;
    }

    // What is in the cache and what is in our file.
    Status check() {
        std::array<std::byte, sizeof stamp_> in_cache, in_file, wanted;
        std::memcpy(wanted.data(), &stamp_, sizeof stamp_);
        for (const std::uint64_t folio : order_) {
            const std::uint64_t at = folio * folio_bytes_;
            Status done = mapping_.read(ByteOffset(at), in_cache);
            if (done)
                done = ours_.read(at, in_file);
            if (!done)
                return done;
            if (in_cache != wanted || in_file != wanted)
                return fail(EIO, fmt::format("the folio at {} is not what was written", at));
        }
        return {};
    }

private:
    // The last folio of a file may be shorter.
    [[nodiscard]] std::span<const std::byte> bytes_of(std::uint64_t folio) const {
        return folio_.bytes().first(
            std::min(folio_bytes_, mapping_.size_bytes() - folio * folio_bytes_));
    }

    std::unique_ptr<cache::Cache> cache_;
    cache::Mapping& mapping_;
    Counter& calls_;
    PlainFile ours_; // the mapping's
    PlainFile plain_;
    std::uint64_t folio_bytes_;
    PageAligned folio_, buffer_;
    std::vector<std::uint64_t> order_; // of the folios
    std::uint64_t stamp_ = 0;
};

using Work = Status (BackingWorks::*)(Measured& ours, Measured& limit);
struct NamedWork {
    std::string_view name, limit;
    Work work;
};
constexpr std::array kBackingWorks{
    NamedWork{"writeback_random", "pwrite", &BackingWorks::writeback},
    NamedWork{"cold_read", "read", &BackingWorks::cold_read},
};

struct Samples {
    std::vector<double> ours, limit;
    std::uint64_t calls = 0, limit_calls = 0;
};
using AllSamples = std::array<Samples, kBackingWorks.size()>;

Status run_rounds(BackingWorks& works, unsigned rounds, AllSamples& samples) {
    for (unsigned round = 0; round <= rounds; ++round) {
        for (std::size_t w = 0; w < kBackingWorks.size(); ++w) {
            Measured ours, limit;
            Status done = (works.*kBackingWorks[w].work)(ours, limit);
            if (done)
                done = works.check();
            if (!done)
                return fail(done.error().number,
                            fmt::format("{}: {}", kBackingWorks[w].name, done.error().context));
            if (round == 0)
                continue; // the files get their blocks
            samples[w].ours.push_back(ours.milliseconds);
            samples[w].limit.push_back(limit.milliseconds);
            samples[w].calls = ours.calls;
            samples[w].limit_calls = limit.calls;
        }
    }
    return {};
}

Status run_with_folios(const SpeedtestOptions& options, std::uint64_t folio_bytes, Log& log,
                       AllSamples& samples) {
    SteadyClock clock;
    Counter calls;
    cache::Options cache_options;
    cache_options.folio_bytes = folio_bytes;
    cache_options.kernels = options.kernels;
    // Half of it may be dirty.
    cache_options.capacity_bytes = 2 * options.size_bytes + 2 * folio_bytes;
    cache_options.dirty_expire = kNeverExpires;
    auto cache = cache::Cache::create(cache_options, log, clock);
    if (!cache)
        return tl::make_unexpected(cache.error());
    auto ours = make_nameless_file(options.directory, options.size_bytes);
    auto plain = make_nameless_file(options.directory, options.size_bytes);
    if (!ours || !plain)
        return tl::make_unexpected(ours ? plain.error() : ours.error());
    UniqueFd second(::fcntl(ours->get(), F_DUPFD_CLOEXEC, 0));
    if (!second)
        return fail_errno("cannot duplicate a descriptor");
    const auto mapping = (*cache)->map(
        storage::make_file_backing(std::move(*ours), options.size_bytes, cache::kBasePageBytes,
                                   std::make_unique<CountedCalls>(calls)));
    if (!mapping)
        return tl::make_unexpected(mapping.error());
    BackingWorks works(std::move(*cache), **mapping, calls,
                       PlainFile(std::move(second), options.size_bytes),
                       PlainFile(std::move(*plain), options.size_bytes), folio_bytes);
    return run_rounds(works, options.rounds, samples);
}

} // namespace

Result<std::vector<BackingRow>> run_backing_works(const SpeedtestOptions& options, Log& log) {
    std::vector<AllSamples> all(options.folio_bytes.size());
    for (std::size_t f = 0; f < all.size(); ++f) {
        const Status done = run_with_folios(options, options.folio_bytes[f], log, all[f]);
        if (!done)
            return fail(done.error().number, fmt::format("folios of {}: {}", options.folio_bytes[f],
                                                         done.error().context));
    }
    std::vector<BackingRow> rows;
    for (std::size_t w = 0; w < kBackingWorks.size(); ++w)
        for (std::size_t f = 0; f < all.size(); ++f) {
            Samples& samples = all[f][w];
            rows.push_back(BackingRow{kBackingWorks[w].name, kBackingWorks[w].limit,
                                      options.folio_bytes[f], median(samples.ours),
                                      median(samples.limit), samples.calls, samples.limit_calls});
        }
    return rows;
}

} // namespace mtdfuse::tools
