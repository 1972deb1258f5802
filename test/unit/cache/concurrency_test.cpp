// What readers may see, and what memory may cost, while others change and reclaim folios.
#include <algorithm>
#include <array>

#include "fixture.hpp"

namespace mtdfuse::cache {

namespace {

// Each folio of the range holds one value only; else where the first mixture is.
std::string mixture_in(std::uint64_t at, std::span<const std::byte> bytes,
                       std::uint64_t folio_bytes) {
    std::size_t start = 0;
    while (start < bytes.size()) {
        const std::uint64_t to_folio_end = folio_bytes - (at + start) % folio_bytes;
        const auto part =
            bytes.subspan(start, std::min<std::size_t>(to_folio_end, bytes.size() - start));
        const auto other = std::find_if(part.begin(), part.end(),
                                        [&](std::byte byte) { return byte != part.front(); });
        if (other != part.end())
            return "mixed at " +
                   std::to_string(at + start + static_cast<std::size_t>(other - part.begin()));
        start += part.size();
    }
    return "";
}

// Now and then somebody is overtaken between look and copy: until the folio is gone.
class Overtaken final : public Probe {
public:
    void before_lock(FolioIndex index) override {
        looks_.add();
        if (mapping == nullptr || looks_.value() % kOneIn != 0)
            return;
        const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
        while (Inspector::resident(*mapping, index.value) &&
               std::chrono::steady_clock::now() < soon)
            std::this_thread::yield();
    }
    Mapping* mapping = nullptr; // set while nobody looks

private:
    static constexpr std::uint64_t kOneIn = 301;
    Counter looks_;
};

} // namespace

TEST_CASE("a reader sees each folio before or after a change, never a mixture") {
    const auto folio_bytes = GENERATE(as<std::uint64_t>{}, 4 * kKiB, 64 * kKiB, 256 * kKiB);
    // Memory alone, all of a backing in memory, a cache that reclaims all the time.
    const auto folios_of_cache = GENERATE(as<std::uint64_t>{}, 0, 16, 4);
    INFO("folios of " << folio_bytes << ", a cache of " << folios_of_cache);
    constexpr std::uint64_t kFolios = 16;
    constexpr unsigned kWriters = 2;
    constexpr unsigned kReaders = 2;
    constexpr int kMostChanges = 100000;
    const std::uint64_t size = kFolios * folio_bytes;

    RecordingLog log;
    SteadyClock clock;
    Options options;
    options.folio_bytes = folio_bytes;
    options.capacity_bytes = std::max<std::uint64_t>(folios_of_cache, 1) * folio_bytes;
    const auto cache = Cache::create(options, log, clock).value();
    Mapping& mapping =
        *(folios_of_cache == 0
              ? cache->map_anonymous(size)
              : cache->map(std::make_unique<test::FakeBacking>(size, std::byte{0xff})))
             .value();

    std::atomic<unsigned> writing{kWriters};
    std::array<std::string, kReaders> seen;
    // A reader that sees one value only proves nothing.
    constexpr std::uint64_t kFewestChanges = 50;
    std::array<std::atomic<std::uint64_t>, kReaders> changes{};
    const auto readers_wait = [&] {
        return std::any_of(changes.begin(), changes.end(),
                           [](const auto& number) { return number < kFewestChanges; });
    };
    Counter failed;
    run_threads(kWriters + kReaders, [&](unsigned thread) {
        Random random(thread + 1);
        std::vector<std::byte> buffer(3 * folio_bytes);
        if (thread < kWriters) {
            for (int i = 0; i < 100 || (i < kMostChanges && readers_wait()); ++i) {
                const std::uint64_t count = 1 + random.below(3);
                const ByteOffset at(random.below(kFolios - count + 1) * folio_bytes);
                const auto part = std::span(buffer).first(count * folio_bytes);
                std::fill(part.begin(), part.end(), static_cast<std::byte>(random.next()));
                const std::uint64_t how = random.below(8);
                const Status done =
                    how == 0
                        ? mapping.fill_ff(at, part.size())
                        : mapping.write(at, part, how == 1 ? Combine::and_bits : Combine::replace);
                if (!done)
                    failed.add();
            }
            --writing;
            return;
        }
        const unsigned reader = thread - kWriters;
        std::byte last{};
        while (writing > 0 && seen[reader].empty()) {
            const std::uint64_t at = random.below(size - buffer.size() + 1);
            const auto part = std::span(buffer).first(1 + random.below(buffer.size()));
            if (!mapping.read(ByteOffset(at), part))
                failed.add();
            seen[reader] = mixture_in(at, part, folio_bytes);
            changes[reader] += part.front() != last ? 1 : 0;
            last = part.front();
        }
    });
    for (unsigned reader = 0; reader < kReaders; ++reader) {
        CHECK(seen[reader] == "");
        CHECK(changes[reader] >= kFewestChanges);
    }
    CHECK(failed.value() == 0);
    CHECK(Inspector::leaks(*cache) == "");
}

TEST_CASE(
    "what the kernel holds stays within the capacity at every moment, late readers included") {
    constexpr std::uint64_t kFolioBytes = 64 * kKiB;
    constexpr std::uint64_t kCapacity = 32 * kMiB; // the smallest whose readers take no hold
    constexpr std::uint64_t kSize = 48 * kMiB;
    RecordingLog log;
    SteadyClock clock;
    Overtaken overtaken;
    Options options;
    options.folio_bytes = kFolioBytes;
    options.capacity_bytes = kCapacity;
    options.probe = &overtaken;
    const auto cache = Cache::create(options, log, clock).value();
    Mapping& mapping = *cache->map(std::make_unique<test::FakeBacking>(kSize)).value();
    overtaken.mapping = &mapping;
    CacheState& state = Inspector::state(*cache);
    REQUIRE(state.copies_without_hold);

    std::atomic<bool> stop{false};
    std::uint64_t most = 0;
    std::thread watcher([&] {
        while (!stop)
            most = std::max(most, Inspector::allocated_bytes(mapping));
    });
    Counter failed;
    constexpr int kMostRounds = 200; // each is likely to lose a copy
    for (int round = 0; round < kMostRounds && state.counters.lost_copies.value() < 3; ++round) {
        run_threads(4, [&](unsigned thread) {
            Random random(static_cast<std::uint64_t>(round) * 4 + thread + 1);
            std::vector<std::byte> buffer(128 * kKiB);
            for (int i = 0; i < 300; ++i) {
                const ByteOffset at(random.below(kSize - buffer.size() + 1));
                const Status done = thread == 0 && random.below(4) == 0
                                        ? mapping.write(at, buffer, Combine::replace)
                                        : mapping.read(at, buffer);
                if (!done)
                    failed.add();
            }
        });
    }
    stop = true;
    watcher.join();
    CHECK(most <= kCapacity);
    CHECK(most > kCapacity / 2);
    CHECK(state.counters.evictions.value() > 0);
    CHECK(state.counters.lost_copies.value() >= 3);
    CHECK(failed.value() == 0);
    CHECK(Inspector::allocated_bytes(mapping) <= cache->resident_bytes());
    CHECK(Inspector::leaks(*cache) == "");
}

TEST_CASE("a folio that looks clean is not accounted as dirty any more") {
    // Or a sync that finds another's write-back done returns before the accounts say so.
    constexpr std::uint64_t kFolios = 256; // one write of the backing
    constexpr int kRounds = 300;
    CacheUnderTest under(4 * kFolios);
    Mapping& mapping = under.map(kFolios * kFolio);
    const CacheState& state = Inspector::state(*under.cache);
    int still_accounted = 0;
    for (int round = 0; round < kRounds; ++round) {
        REQUIRE(write(mapping, 0, filled(kFolios * kFolio, static_cast<unsigned>(round) & 1)));
        std::atomic<bool> synced{false};
        std::thread other([&] { synced = sync(mapping).has_value(); });
        while (Inspector::dirty(mapping, 0) && !state.dirty_set.empty()) {
        }
        if (mapping.dirty_bytes() != 0 || state.dirty.used_bytes() != 0)
            ++still_accounted;
        other.join();
        REQUIRE(synced);
    }
    CHECK(still_accounted == 0);
    CHECK(under.leaks() == "");
}

} // namespace mtdfuse::cache
