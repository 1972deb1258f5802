// Memory and dirt stay within their bounds whatever many threads do; pins and the flusher.
#include "fixture.hpp"

namespace mtdfuse::cache {

namespace {

using namespace std::chrono_literals;

template<class Condition>
void wait_until(const Condition& condition) {
    while (!condition())
        std::this_thread::sleep_for(1ms);
}

} // namespace

TEST_CASE("memory stays within the capacity under threads, two mappings, caches down to one") {
    const auto folios = GENERATE(as<std::uint64_t>{}, 1, 2, 8);
    CacheUnderTest under(folios);
    constexpr std::uint64_t kSize = 40 * kFolio + 100;
    Mapping& first = under.map(kSize, 0x11);
    Mapping& second = under.map(kSize, 0x22);
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> exceeded{0};
    std::atomic<std::uint64_t> compared{0};
    std::thread watcher([&] {
        while (!stop) {
            // Two looks are one only where nothing was evicted from the first before the second.
            const auto evictions = under.metric("cache_evictions_total");
            const auto held_by_first = Inspector::allocated_bytes(first);
            const auto held = held_by_first + Inspector::allocated_bytes(second);
            if (evictions != under.metric("cache_evictions_total"))
                continue;
            ++compared;
            if (held > folios * kFolio || under.cache->resident_bytes() > folios * kFolio)
                ++exceeded;
            const auto dirty = Inspector::state(*under.cache).dirty.used_bytes();
            if (dirty > std::max(folios / 2, std::uint64_t{1}) * kFolio)
                ++exceeded;
        }
    });
    std::atomic<std::uint64_t> failed{0};
    run_threads(4, [&](unsigned thread) {
        Random random(thread + 1);
        std::vector<std::byte> buffer(3 * kFolio);
        for (int i = 0; i < 800; ++i) {
            Mapping& mapping = random.below(2) == 0 ? first : second;
            const ByteOffset at(random.below(kSize - buffer.size()));
            const auto part = std::span(buffer).first(1 + random.below(buffer.size()));
            Status done;
            switch (random.below(4)) {
            case 0:
                done = mapping.write(at, part, Combine::replace);
                break;
            case 1:
                done = mapping.fill_ff(at, part.size());
                break;
            case 2:
                if (mapping.pin(at, part.size()))
                    std::this_thread::yield();
                break;
            default:
                done = mapping.read(at, part);
            }
            if (!done)
                ++failed;
        }
    });
    stop = true;
    watcher.join();
    CHECK(exceeded == 0);
    CHECK(compared > 0);
    CHECK(failed == 0);
    CHECK(under.leaks() == "");
    CHECK(under.metric("cache_evictions_total") > 0);
    CHECK(under.metric("cache_writebacks_total") > 0);
}

TEST_CASE("a folio in use is kept longer than one read once") {
    CacheUnderTest under(4);
    Mapping& mapping = under.map(40 * kFolio);
    for (std::uint64_t i = 1; i < 40; ++i) {
        read_all(mapping, 0, 10);
        read_all(mapping, i * kFolio, 10);
    }
    CHECK(under.backing->reads == 40);
}

TEST_CASE("neighbours are evicted in one hole and written in one write") {
    CacheUnderTest under(64);
    Mapping& mapping = under.map(128 * kFolio);
    REQUIRE(write(mapping, 0, filled(32 * kFolio, 0x01)));
    REQUIRE(sync(mapping));
    CHECK(under.backing->writes == 1);
    read_all(mapping, 32 * kFolio, 32 * kFolio);
    read_all(mapping, 100 * kFolio, 1);
    // A sixteenth of the capacity at once.
    CHECK(under.metric("cache_evictions_total") == 4);
}

TEST_CASE("a pin covers what the budget allows, at least the first folio") {
    CacheUnderTest under(4);
    Mapping& mapping = under.map(10 * kFolio, 0x11);
    const auto some = mapping.pin(ByteOffset(kFolio + 10), 8 * kFolio);
    REQUIRE(some);
    CHECK(some->bytes().size() == 4 * kFolio - 10);
    CHECK(mapping.pin(ByteOffset(0), 1).error().number == ENOMEM);
    // Reading what is pinned needs no room.
    CHECK(read_all(mapping, kFolio, 10) == filled(10, 0x11));
    CHECK(mapping.pin(ByteOffset(2 * kFolio), 1));
    CHECK(mapping.pin(ByteOffset(2 * kFolio), 0)->bytes().empty());
}

TEST_CASE("a moved pin is released once, by its last owner") {
    CacheUnderTest under(4);
    Mapping& mapping = under.map(4 * kFolio);
    {
        auto a = std::move(mapping.pin(ByteOffset(0), 2 * kFolio).value());
        auto b = std::move(a);
        auto c = std::move(mapping.pin(ByteOffset(3 * kFolio), 1).value());
        c = std::move(b);
        CHECK(c.bytes().size() == 2 * kFolio);
        CHECK((Inspector::word(mapping, 0) & kPinMask) == kPinOne);
        CHECK((Inspector::word(mapping, 3) & kPinMask) == 0);
    }
    CHECK(under.leaks() == "");
}

TEST_CASE("a writer waits for a pin, a reader does not, and the pinned bytes stand still") {
    CacheUnderTest under(4);
    Mapping& mapping = under.map(4 * kFolio, 0x11);
    std::atomic<bool> written{false};
    std::thread writer;
    {
        const auto pinned = mapping.pin(ByteOffset(0), kFolio);
        REQUIRE(pinned);
        writer = std::thread([&] {
            static_cast<void>(write(mapping, 0, filled(kFolio, 0x22)));
            written = true;
        });
        wait_until([&] { return (Inspector::word(mapping, 0) & kContended) != 0; });
        CHECK(read_all(mapping, 0, kFolio) == filled(kFolio, 0x11));
        CHECK_FALSE(written);
        CHECK(pinned->bytes()[0] == std::byte{0x11});
    }
    writer.join();
    CHECK(read_all(mapping, 0, kFolio) == filled(kFolio, 0x22));
}

TEST_CASE("who needs room in a cache full of pins waits for their release") {
    CacheUnderTest under(1);
    Mapping& mapping = under.map(4 * kFolio, 0x11);
    std::thread reader;
    std::atomic<bool> done{false};
    {
        const auto pinned = mapping.pin(ByteOffset(0), 1);
        REQUIRE(pinned);
        reader = std::thread([&] {
            std::vector<std::byte> one(1);
            static_cast<void>(mapping.read(ByteOffset(kFolio), one));
            done = true;
        });
        wait_until([&] { return (Inspector::word(mapping, 0) & kContended) != 0; });
        CHECK_FALSE(done);
    }
    reader.join();
    CHECK(Inspector::resident(mapping, 1));
}

TEST_CASE("the flusher's pass writes what is older than dirty_expire, and only that") {
    CacheUnderTest under(16);
    CacheState& state = Inspector::state(*under.cache);
    Mapping& mapping = under.map(16 * kFolio);
    const std::atomic<bool> never{false};
    REQUIRE(write(mapping, 0, filled(1, 0x01)));
    under.clock.now_ms += 3000;
    REQUIRE(write(mapping, kFolio, filled(1, 0x01)));
    REQUIRE(write(mapping, 1, filled(1, 0x02))); // dirty already: as old as its first byte
    under.clock.now_ms += 1999;
    flush_expired(state, never);
    CHECK(mapping.dirty_bytes() == 2 * kFolio);
    under.clock.now_ms += 1;
    flush_expired(state, never);
    CHECK_FALSE(Inspector::dirty(mapping, 0));
    CHECK(Inspector::dirty(mapping, 1));
    // Written back and dirtied again: young again.
    REQUIRE(write(mapping, 0, filled(1, 0x03)));
    under.clock.now_ms += 3000;
    flush_expired(state, never);
    CHECK(Inspector::dirty(mapping, 0));
    CHECK_FALSE(Inspector::dirty(mapping, 1));
    CHECK(under.leaks() == "");
}

TEST_CASE("the flusher thread writes old dirt by itself, and ends with the cache") {
    Options options;
    options.dirty_expire = 4ms;
    CacheUnderTest under(16, options);
    Mapping& mapping = under.map(16 * kFolio);
    REQUIRE(write(mapping, 0, filled(kFolio, 0x01)));
    under.clock.now_ms += 10;
    wait_until([&] { return mapping.dirty_bytes() == 0; });
    REQUIRE(write(mapping, kFolio, filled(kFolio, 0x01)));
    under.clock.now_ms += 10;
    wait_until([&] { return mapping.dirty_bytes() == 0; });
    CHECK(under.metric("cache_writebacks_total") == 2);
}

TEST_CASE("a write during writeback waits and leaves the folio dirty") {
    CacheUnderTest under(8);
    Mapping& mapping = under.map(4 * kFolio);
    REQUIRE(write(mapping, 0, filled(kFolio, 0x01)));
    std::thread writer;
    under.backing->fault = [&](storage::Operation operation, ByteOffset, std::uint64_t) {
        if (operation == storage::Operation::write && !writer.joinable()) {
            writer = std::thread([&] { static_cast<void>(write(mapping, 0, filled(1, 0x02))); });
            wait_until([&] { return (Inspector::word(mapping, 0) & kContended) != 0; });
            // Readers go on.
            std::vector<std::byte> one(1);
            static_cast<void>(mapping.read(ByteOffset(0), one));
        }
        return 0;
    };
    REQUIRE(sync(mapping));
    writer.join();
    under.backing->fault = nullptr;
    CHECK(under.backing->bytes()[0] == std::byte{0x01});
    CHECK(Inspector::dirty(mapping, 0));
    REQUIRE(sync(mapping));
    CHECK(under.backing->bytes()[0] == std::byte{0x02});
}

} // namespace mtdfuse::cache
