// What a mapping promises to one caller: bytes, cleanliness, bounds.
#include "fixture.hpp"

namespace mtdfuse::cache {

TEST_CASE("bytes written are read back, and reach the backing by sync alone") {
    CacheUnderTest under(8);
    Mapping& mapping = under.map(5 * kFolio + 100); // a short last folio
    const auto data = filled(3 * kFolio, 0x5a);
    REQUIRE(write(mapping, 2 * kFolio + 50, data));
    CHECK(read_all(mapping, 2 * kFolio + 50, data.size()) == data);
    CHECK(under.backing->bytes()[2 * kFolio + 50] == std::byte{0xff});
    CHECK(under.backing->writes == 0);
    CHECK(mapping.dirty_bytes() == 3 * kFolio + 100);
    CHECK(under.cache->dirty_bytes() == 3 * kFolio + 100);
    REQUIRE(sync(mapping));
    CHECK(under.backing->bytes()[2 * kFolio + 50] == std::byte{0x5a});
    CHECK(under.backing->bytes()[5 * kFolio + 49] == std::byte{0x5a});
    CHECK(under.backing->bytes()[5 * kFolio + 50] == std::byte{0xff});
    CHECK(mapping.dirty_bytes() == 0);
    CHECK(under.backing->writes == 1); // neighbours in one write
    // The folio is clean and resident now.
    REQUIRE(write(mapping, 3 * kFolio, filled(1, 0x5b)));
    CHECK(mapping.dirty_bytes() == kFolio);
    REQUIRE(sync(mapping));
    CHECK(under.backing->bytes()[3 * kFolio] == std::byte{0x5b});
    CHECK(under.leaks().empty());
}

TEST_CASE("stable syncs the backing, written_back does not") {
    CacheUnderTest under(8);
    Mapping& mapping = under.map(kFolio);
    ErrorCursor cursor = mapping.error_cursor();
    REQUIRE(mapping.sync(Durability::written_back, cursor));
    CHECK(under.backing->syncs == 0);
    REQUIRE(mapping.sync(Durability::stable, cursor));
    CHECK(under.backing->syncs == 1);
}

TEST_CASE("a range past the end is EINVAL and changes nothing") {
    CacheUnderTest under(8);
    Mapping& mapping = under.map(2 * kFolio);
    std::vector<std::byte> two(2);
    CHECK(mapping.read(ByteOffset(2 * kFolio - 1), two).error().number == EINVAL);
    CHECK(mapping.write(ByteOffset(2 * kFolio - 1), two, Combine::replace).error().number ==
          EINVAL);
    CHECK(mapping.fill_ff(ByteOffset(1), UINT64_MAX).error().number == EINVAL);
    CHECK(mapping.pin(ByteOffset(UINT64_MAX), 2).error().number == EINVAL);
    CHECK(mapping.fill_ff(ByteOffset(2 * kFolio), 0));
    CHECK(mapping.dirty_bytes() == 0);
    CHECK(under.cache->resident_bytes() == 0);
}

TEST_CASE("the same bytes leave a folio clean") {
    CacheUnderTest under(8);
    Mapping& mapping = under.map(4 * kFolio, 0x33);
    read_all(mapping, 0, 4 * kFolio);
    REQUIRE(write(mapping, 10, filled(2 * kFolio, 0x33)));
    CHECK(mapping.dirty_bytes() == 0);
    // Clears no bit that is set.
    REQUIRE(write(mapping, 10, filled(2 * kFolio, 0x3f), Combine::and_bits));
    CHECK(mapping.dirty_bytes() == 0);
    auto last_differs = filled(2 * kFolio, 0x33);
    last_differs.back() = std::byte{0x32};
    REQUIRE(write(mapping, 0, last_differs));
    CHECK_FALSE(Inspector::dirty(mapping, 0));
    CHECK(Inspector::dirty(mapping, 1));
}

TEST_CASE("the same bytes leave a folio clean that had to be read first") {
    CacheUnderTest under(8);
    Mapping& mapping = under.map(4 * kFolio, 0x33);
    REQUIRE(write(mapping, 10, filled(20, 0x33)));
    REQUIRE(write(mapping, kFolio, filled(kFolio, 0x33), Combine::and_bits));
    CHECK(under.backing->reads == 2);
    CHECK(mapping.dirty_bytes() == 0);
    CHECK(under.leaks().empty());
}

TEST_CASE("an erase leaves an erased range clean and dirties the rest") {
    CacheUnderTest under(8);
    Mapping& mapping = under.map(4 * kFolio, 0xff);
    under.backing->bytes()[kFolio + 17] = std::byte{0};
    read_all(mapping, 0, 4 * kFolio);
    REQUIRE(mapping.fill_ff(ByteOffset(0), 4 * kFolio));
    CHECK(mapping.dirty_bytes() == kFolio);
    CHECK(Inspector::dirty(mapping, 1));
    CHECK(read_all(mapping, 0, 4 * kFolio) == filled(4 * kFolio, 0xff));
    REQUIRE(sync(mapping));
    CHECK(under.backing->bytes()[kFolio + 17] == std::byte{0xff});
}

TEST_CASE("folios that are covered wholly are not read before they are overwritten") {
    CacheUnderTest under(8);
    Mapping& mapping = under.map(3 * kFolio + 100, 0x11);
    SECTION("by a write, short last folio included") {
        REQUIRE(write(mapping, kFolio, filled(2 * kFolio + 100, 0x22)));
        CHECK(mapping.dirty_bytes() == 2 * kFolio + 100);
    }
    SECTION("by an erase") {
        REQUIRE(mapping.fill_ff(ByteOffset(kFolio), 2 * kFolio + 100));
        CHECK(mapping.dirty_bytes() == 2 * kFolio + 100);
    }
    CHECK(under.backing->reads == 0);
    REQUIRE(write(mapping, 1, filled(kFolio - 1, 0x22)));
    CHECK(under.backing->reads == 1);
    CHECK(read_all(mapping, 0, 1) == filled(1, 0x11));
}

TEST_CASE("and_bits only clears bits, resident or not") {
    CacheUnderTest under(8);
    Mapping& mapping = under.map(2 * kFolio, 0xf0);
    const bool resident = GENERATE(false, true);
    if (resident)
        read_all(mapping, 0, 2 * kFolio);
    REQUIRE(write(mapping, 0, filled(kFolio, 0x3c), Combine::and_bits));
    REQUIRE(write(mapping, kFolio + 3, filled(13, 0x3c), Combine::and_bits));
    CHECK(read_all(mapping, 0, kFolio) == filled(kFolio, 0x30));
    CHECK(read_all(mapping, kFolio + 3, 13) == filled(13, 0x30));
    CHECK(read_all(mapping, kFolio + 16, 10) == filled(10, 0xf0));
    REQUIRE(write(mapping, kFolio, filled(3, 0xff), Combine::and_bits));
    CHECK(read_all(mapping, kFolio, 3) == filled(3, 0xf0));
}

TEST_CASE("drop forgets clean folios, not dirty and not pinned ones") {
    CacheUnderTest under(8);
    Mapping& mapping = under.map(4 * kFolio, 0x11);
    Mapping& other = under.map(kFolio, 0x22);
    read_all(mapping, 0, 3 * kFolio);
    read_all(other, 0, 1);
    REQUIRE(write(mapping, 0, filled(1, 0x77)));
    {
        const auto pinned = mapping.pin(ByteOffset(kFolio), 10);
        REQUIRE(pinned);
        mapping.drop();
        CHECK(Inspector::resident(mapping, 0));
        CHECK(Inspector::resident(mapping, 1));
        CHECK_FALSE(Inspector::resident(mapping, 2));
        CHECK(Inspector::resident(other, 0));
        CHECK(pinned->bytes()[9] == std::byte{0x11});
    }
    CHECK(Inspector::allocated_bytes(mapping) == 2 * kFolio);
    CHECK(under.cache->resident_bytes() == 3 * kFolio);
    mapping.drop();
    CHECK_FALSE(Inspector::resident(mapping, 1));
    CHECK(read_all(mapping, 0, 1) == filled(1, 0x77));
    CHECK(under.leaks().empty());
}

TEST_CASE("an anonymous mapping is memory: erased, never dirty, never reclaimed") {
    CacheUnderTest under(1);
    Mapping& mapping = *under.cache->map_anonymous(64 * kFolio + 10).value();
    CHECK(mapping.size_bytes() == 64 * kFolio + 10);
    CHECK(read_all(mapping, 0, 64 * kFolio + 10) == filled(64 * kFolio + 10, 0xff));
    REQUIRE(mapping.fill_ff(ByteOffset(0), 64 * kFolio + 10));
    CHECK(Inspector::allocated_bytes(mapping) == 0);
    REQUIRE(write(mapping, 5, filled(10 * kFolio, 0x42)));
    REQUIRE(write(mapping, 64 * kFolio, filled(10, 0x0f), Combine::and_bits));
    mapping.drop();
    CHECK(read_all(mapping, 0, 5) == filled(5, 0xff));
    CHECK(read_all(mapping, 5, 10 * kFolio) == filled(10 * kFolio, 0x42));
    CHECK(read_all(mapping, 64 * kFolio, 10) == filled(10, 0x0f));
    CHECK(mapping.dirty_bytes() == 0);
    CHECK(under.cache->resident_bytes() == 0);
    REQUIRE(sync(mapping));
    REQUIRE(mapping.fill_ff(ByteOffset(0), 64 * kFolio + 10));
    CHECK(read_all(mapping, 0, 64 * kFolio + 10) == filled(64 * kFolio + 10, 0xff));
    const auto pinned = mapping.pin(ByteOffset(20 * kFolio), 3 * kFolio);
    REQUIRE(pinned);
    CHECK(pinned->bytes().size() == 3 * kFolio);
    CHECK(pinned->bytes()[kFolio] == std::byte{0xff});
}

TEST_CASE("a mapping of 1 TiB is made at once and costs what it holds") {
    CacheUnderTest under(8);
#ifdef __SANITIZE_THREAD__
    // ThreadSanitizer leaves 1.5 TiB of addresses for all mappings: where the libraries lie in
    // their middle, no hole of 1 TiB is left.
    constexpr std::uint64_t kSize = std::uint64_t{1} << 38U;
#else
    constexpr std::uint64_t kSize = std::uint64_t{1} << 40U;
#endif
    const auto made = under.cache->map(std::make_unique<test::SparseBacking>(kSize));
    INFO((made ? "" : made.error().context));
    REQUIRE(made);
    Mapping& mapping = **made;
    for (std::uint64_t at = 0; at < kSize; at += kSize / 32)
        REQUIRE(write(mapping, at + 5, filled(3, 0x55)));
    REQUIRE(write(mapping, kSize - 3, filled(3, 0x66)));
    CHECK(under.cache->resident_bytes() <= 8 * kFolio);
    CHECK(Inspector::allocated_bytes(mapping) <= 8 * kFolio);
    for (std::uint64_t at = 0; at < kSize; at += kSize / 32)
        CHECK(read_all(mapping, at + 4, 4)[1] == std::byte{0x55});
    CHECK(read_all(mapping, kSize - 3, 3) == filled(3, 0x66));
}

TEST_CASE("sequential misses read ahead, others do not") {
    CacheUnderTest under(2048);
    Mapping& mapping = under.map(1024 * kFolio, 0x11);
    for (std::uint64_t at = 0; at < 1024 * kFolio; at += kFolio)
        REQUIRE(read_all(mapping, at, kFolio) == filled(kFolio, 0x11));
    // 1, 2, 4, ... 128 folios, then a MiB at a time, then the last folio.
    CHECK(under.backing->reads == 8 + 3 + 1);
    mapping.drop();
    under.backing->reads = 0;
    for (std::uint64_t i = 0; i < 50; ++i)
        read_all(mapping, (1000 - i * 20) * kFolio, 1);
    CHECK(under.backing->reads == 50);
    CHECK(under.cache->resident_bytes() == 50 * kFolio);
    // A long read asks for all of its folios at once.
    mapping.drop();
    under.backing->reads = 0;
    read_all(mapping, 500 * kFolio, 100 * kFolio);
    CHECK(under.backing->reads == 1);
    CHECK(under.leaks().empty());
}

TEST_CASE("reading ahead passes by what is there already, and takes a share of the cache only") {
    CacheUnderTest under(16);
    Mapping& mapping = under.map(64 * kFolio, 0x11);
    REQUIRE(write(mapping, 3 * kFolio, filled(1, 0x22)));
    for (std::uint64_t at = 0; at < 8 * kFolio; at += kFolio)
        read_all(mapping, at, 1);
    CHECK(read_all(mapping, 3 * kFolio, 1) == filled(1, 0x22));
    read_all(mapping, 8 * kFolio, 1);
    CHECK(under.cache->resident_bytes() <= 12 * kFolio);
    CHECK(under.leaks().empty());
}

TEST_CASE("a sync that has to be stable lets its bytes set out, every other leaves them") {
    CacheUnderTest under(8192);
    Mapping& mapping = under.map(8192 * kFolio);
    REQUIRE(write(mapping, 0, filled(4000 * kFolio, 0x01)));
    REQUIRE(sync(mapping));
    CHECK(under.backing->set_outs == 0);
    REQUIRE(write(mapping, 0, filled(4000 * kFolio, 0x02)));
    under.backing->writes = 0;
    ErrorCursor cursor = mapping.error_cursor();
    REQUIRE(mapping.sync(Durability::stable, cursor));
    CHECK(under.backing->writes == 16); // 15.6 MiB, a MiB each
    CHECK(under.backing->set_outs == 2);
    CHECK(under.backing->set_out_bytes == 4000 * kFolio);
}

TEST_CASE("writethrough: the backing has the bytes when write returns") {
    Options options;
    options.policy = Policy::writethrough;
    CacheUnderTest under(8, options);
    Mapping& mapping = under.map(4 * kFolio, 0xff);
    REQUIRE(write(mapping, kFolio - 1, filled(2, 0x12)));
    CHECK(under.backing->bytes()[kFolio - 1] == std::byte{0x12});
    CHECK(under.backing->bytes()[kFolio] == std::byte{0x12});
    CHECK(mapping.dirty_bytes() == 0);
    REQUIRE(mapping.fill_ff(ByteOffset(0), kFolio));
    CHECK(under.backing->bytes()[kFolio - 1] == std::byte{0xff});

    under.backing->fault = [](storage::Operation operation, ByteOffset, std::uint64_t) {
        return operation == storage::Operation::write ? ENOSPC : 0;
    };
    const Status failed = write(mapping, 0, filled(1, 0x13));
    REQUIRE_FALSE(failed);
    CHECK(failed.error().number == ENOSPC);
    CHECK(Inspector::dirty(mapping, 0));
    CHECK(read_all(mapping, 0, 1) == filled(1, 0x13));
    CHECK(under.metric("cache_writeback_errors_total") == 1);
    under.backing->fault = nullptr;
    REQUIRE(sync(mapping).has_value() == false); // of the failure above, once
    REQUIRE(sync(mapping));
    CHECK(under.backing->bytes()[0] == std::byte{0x13});
    CHECK(under.leaks().empty());
}

TEST_CASE("options out of range are refused with the rule") {
    NullLog log;
    FakeClock clock;
    const auto refused = [&](std::uint64_t folio_bytes, std::uint64_t capacity_bytes) {
        Options options;
        options.folio_bytes = folio_bytes;
        options.capacity_bytes = capacity_bytes;
        const auto made = Cache::create(options, log, clock);
        return !made && made.error().number == EINVAL;
    };
    CHECK(refused(2048, 1 << 20));
    CHECK(refused(12288, 1 << 20));
    CHECK(refused(4 << 20, 64 << 20));
    CHECK(refused(65536, 65535));
    CHECK_FALSE(refused(65536, 65536));
    Options options;
    options.kernels = "mmx";
    const auto made = Cache::create(options, log, clock);
    REQUIRE_FALSE(made);
    CHECK(made.error().number == EINVAL);
    options.kernels = "plain";
    CHECK(Cache::create(options, log, clock));
}

TEST_CASE("a device as large as the cache fits, with a last folio that is no whole page") {
    RecordingLog log;
    FakeClock clock;
    Options options;
    options.folio_bytes = 16384;
    options.capacity_bytes = 16384 + 5000;
    const auto cache = Cache::create(options, log, clock).value();
    Mapping& mapping =
        *cache->map(std::make_unique<test::FakeBacking>(options.capacity_bytes)).value();
    read_all(mapping, 0, options.capacity_bytes);
    CHECK(Inspector::resident(mapping, 0));
    CHECK(Inspector::resident(mapping, 1));
}

} // namespace mtdfuse::cache
