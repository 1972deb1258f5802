// Random operations against a plain array of bytes. MTDFUSE_TEST_SEED repeats a run;
// MTDFUSE_TEST_OPERATIONS sets how many operations each combination does at 4K folios: larger ones
// do fewer in proportion, but a hundredth at the least.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <catch2/catch.hpp>

#include "fake_backing.hpp"
#include "inspector.hpp"
#include "reclaim.hpp"

namespace mtdfuse::cache {

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : parse_size(text).value();
}

constexpr std::uint64_t kStripe = 512;

// One thread's bytes: stripe i of the device where i % threads == its number. A single thread owns
// everything, and takes ranges of any length.
class Worker {
public:
    Worker(Cache& cache, Mapping& mapping, std::vector<std::byte>& model, std::uint64_t seed,
           unsigned number, unsigned threads)
        : cache_(cache), mapping_(mapping), model_(model), random_(seed + number), number_(number),
          threads_(threads) {}

    void run(std::uint64_t operations) {
        for (std::uint64_t i = 0; i < operations && failure_.empty(); ++i)
            step();
    }
    [[nodiscard]] const std::string& failure() const { return failure_; }

private:
    struct Range {
        std::uint64_t at, length;
    };

    Range pick() {
        const std::uint64_t size = model_.size();
        if (threads_ == 1) {
            const std::uint64_t at = random_.below(size);
            // Mostly inside a folio, seldom over several, and now and then to the end.
            const std::uint64_t kind = random_.below(64);
            const std::uint64_t limit = kind == 0 ? size - at : kind < 8 ? size / 8 : 3000;
            return {at, 1 + random_.below(std::min(size - at, limit))};
        }
        const std::uint64_t stripes = size / kStripe / threads_;
        const std::uint64_t stripe = random_.below(stripes) * threads_ + number_;
        const std::uint64_t offset = random_.below(kStripe);
        return {stripe * kStripe + offset, 1 + random_.below(kStripe - offset)};
    }

    void step() {
        const Range range = pick();
        switch (random_.below(16)) {
        case 0:
            flush_or_evict();
            return;
        case 1:
            check_pinned(range);
            return;
        case 2:
        case 3:
            expect(mapping_.fill_ff(ByteOffset(range.at), range.length), "fill_ff");
            std::fill_n(model_.begin() + static_cast<std::ptrdiff_t>(range.at), range.length,
                        std::byte{0xff});
            return;
        case 4:
        case 5:
        case 6:
        case 7:
        case 8:
        case 9:
            do_write(range, random_.below(2) == 0 ? Combine::replace : Combine::and_bits);
            return;
        default:
            check_read(range);
        }
    }

    void flush_or_evict() {
        switch (random_.below(3)) {
        case 0:
            expect(mapping_.sync(Durability::written_back, cursor_), "sync");
            return;
        case 1:
            mapping_.drop();
            return;
        default: // room is made, and given back
            CacheState& state = Inspector::state(cache_);
            const std::uint64_t folios = 1 + random_.below(8);
            const std::uint64_t bytes = folios * state.options.folio_bytes;
            if (bytes <= state.options.capacity_bytes)
                static_cast<void>(reserve_resident(state, bytes, folios, Patience::never));
        }
    }

    void do_write(Range range, Combine combine) {
        std::vector<std::byte> bytes(range.length);
        // Few values, so that the same bytes are written again now and then.
        const auto value = static_cast<std::byte>(random_.next() % 4 * 0x35);
        for (std::byte& byte : bytes)
            byte = range.length < 100 ? static_cast<std::byte>(random_.next()) : value;
        expect(mapping_.write(ByteOffset(range.at), bytes, combine), "write");
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            std::byte& old = model_[range.at + i];
            old = combine == Combine::replace ? bytes[i] : old & bytes[i];
        }
    }

    void check_read(Range range) {
        std::vector<std::byte> bytes(range.length);
        expect(mapping_.read(ByteOffset(range.at), bytes), "read");
        compare(range.at, bytes, "read");
    }

    void check_pinned(Range range) {
        const auto pinned = mapping_.pin(ByteOffset(range.at), range.length);
        if (pinned)
            compare(range.at, pinned->bytes(), "pin");
        else if (pinned.error().number != ENOMEM || threads_ == 1)
            failure_ = "pin: " + pinned.error().context;
    }

    void expect(const Status& status, const char* what) {
        if (!status)
            failure_ = std::string(what) + ": " + status.error().context;
    }

    void compare(std::uint64_t at, std::span<const std::byte> bytes, const char* what) {
        if (threads_ == 1 && std::memcmp(bytes.data(), &model_[at], bytes.size()) == 0)
            return;
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            // A pin may cover stripes of others.
            const bool mine = threads_ == 1 || (at + i) / kStripe % threads_ == number_;
            if (mine && bytes[i] != model_[at + i]) {
                failure_ = std::string(what) + ": wrong byte at " + std::to_string(at + i);
                return;
            }
        }
    }

    Cache& cache_;
    Mapping& mapping_;
    std::vector<std::byte>& model_;
    Random random_;
    const unsigned number_;
    const unsigned threads_;
    ErrorCursor cursor_;
    std::string failure_;
};

// Now and then the folios are dropped between the look and the lock, also for a single thread.
class DropsInTheGap final : public Probe {
public:
    explicit DropsInTheGap(std::uint64_t seed) : seed_(seed) {}
    void before_lock(FolioIndex) override {
        looks_.add();
        if (mapping != nullptr && Random(seed_ + looks_.value()).below(kOneIn) == 0)
            mapping->drop();
    }
    Mapping* mapping = nullptr; // set while nobody looks

private:
    static constexpr std::uint64_t kOneIn = 500;
    const std::uint64_t seed_;
    Counter looks_;
};

struct Run {
    std::uint64_t folio_bytes;
    std::uint64_t folios; // of the cache, out of twenty
    unsigned threads;
    bool copies_without_hold;
    std::uint64_t share; // of the operations it does one in so many
};

struct Happened {
    std::uint64_t hits = 0, misses = 0, evictions = 0, writebacks = 0, retries = 0, lost = 0;
};

Happened agree_with_model(const Run& run, std::uint64_t seed, std::uint64_t operations) {
    NullLog log;
    SteadyClock clock;
    DropsInTheGap gap(seed);
    Options options;
    options.folio_bytes = run.folio_bytes;
    options.capacity_bytes = run.folios * run.folio_bytes;
    options.dirty_expire = std::chrono::milliseconds(10); // the flusher takes part
    options.probe = &gap;
    const auto cache = Cache::create(options, log, clock).value();
    auto made = std::make_unique<test::FakeBacking>(20 * run.folio_bytes + 5 * kStripe);
    test::FakeBacking& backing = *made;
    Mapping& mapping = *cache->map(std::move(made)).value();
    gap.mapping = &mapping;
    Inspector::state(*cache).copies_without_hold = run.copies_without_hold;
    std::vector<std::byte> model = backing.bytes();

    operations /= run.share;
    const std::uint64_t fewest = std::max<std::uint64_t>(operations / 100, 400);
    const std::uint64_t each =
        std::max(operations / (run.folio_bytes / 4096), fewest) / run.threads;
    std::vector<std::unique_ptr<Worker>> workers;
    for (unsigned t = 0; t < run.threads; ++t)
        workers.push_back(std::make_unique<Worker>(*cache, mapping, model, seed, t, run.threads));
    std::vector<std::thread> running;
    for (auto& worker : workers)
        running.emplace_back([&worker, each] { worker->run(each); });
    for (std::thread& thread : running)
        thread.join();
    for (const auto& worker : workers)
        CHECK(worker->failure() == "");

    ErrorCursor cursor = mapping.error_cursor();
    REQUIRE(mapping.sync(Durability::written_back, cursor));
    CHECK(mapping.dirty_bytes() == 0);
    CHECK(Inspector::leaks(*cache) == "");
    CHECK(Inspector::allocated_bytes(mapping) <= cache->resident_bytes());
    CHECK((backing.bytes() == model)); // in parentheses: nobody reads 40 MiB of bytes
    const CacheCounters& counters = Inspector::state(*cache).counters;
    CHECK(counters.writeback_errors.value() == 0);
    return {counters.hits.value(0),      counters.misses.value(),  counters.evictions.value(),
            counters.writebacks.value(), counters.retries.value(), counters.lost_copies.value()};
}

} // namespace

TEST_CASE("random operations agree with an array of bytes", "[model]") {
    const std::uint64_t seed = from_environment(
        "MTDFUSE_TEST_SEED",
        static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
    const std::uint64_t operations = from_environment("MTDFUSE_TEST_OPERATIONS", 20000);
    Happened all;
    for (const std::uint64_t folio_bytes : {4 * kKiB, 16 * kKiB, 64 * kKiB, 2048 * kKiB})
        for (const Run& run : {Run{folio_bytes, 8, 1, true, 1}, Run{folio_bytes, 8, 4, true, 1},
                               Run{folio_bytes, 8, 4, false, 10}, Run{folio_bytes, 1, 1, false, 10},
                               Run{folio_bytes, 1, 4, true, 10}}) {
            INFO("MTDFUSE_TEST_SEED=" << seed << " folio " << folio_bytes << " cache of "
                                      << run.folios << " folios, threads " << run.threads
                                      << ", copies without hold " << run.copies_without_hold);
            const Happened here = agree_with_model(run, seed, operations);
            // In a cache of one folio those who wait take what another has just brought in.
            CHECK((here.hits > 0 || (run.folios == 1 && run.threads > 1)));
            CHECK(here.misses > 0);
            CHECK(here.evictions > 0);
            CHECK(here.writebacks > 0);
            all.retries += here.retries;
            all.lost += here.lost;
        }
    // The rarer ones, at whichever folio size.
    CHECK(all.retries > 0);
    CHECK(all.lost > 0);
}

} // namespace mtdfuse::cache
