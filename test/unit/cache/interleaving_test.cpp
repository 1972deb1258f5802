// What may happen between looking at a folio and locking it, forced.
#include "fixture.hpp"

namespace mtdfuse::cache {

namespace {

constexpr std::uint64_t kFolios = 8;

enum class Work { replace, replace_whole, and_bits, fill_ff, fill_ff_whole };

Status do_work(Mapping& mapping, Work work) {
    switch (work) {
    case Work::replace:
        return write(mapping, 100, filled(200, 0x5a));
    case Work::replace_whole:
        return write(mapping, 0, filled(kFolio, 0x5a));
    case Work::and_bits:
        return write(mapping, 100, filled(200, 0x5a), Combine::and_bits);
    case Work::fill_ff:
        return mapping.fill_ff(ByteOffset(100), 200);
    case Work::fill_ff_whole:
        return mapping.fill_ff(ByteOffset(0), kFolio);
    }
    return {};
}

std::vector<std::byte> expected_after(Work work, unsigned before) {
    auto bytes = filled(kFolio, before);
    const bool whole = work == Work::replace_whole || work == Work::fill_ff_whole;
    for (std::size_t i = whole ? 0 : 100; i < (whole ? kFolio : 300); ++i) {
        if (work == Work::and_bits)
            bytes[i] &= std::byte{0x5a};
        else if (work == Work::fill_ff || work == Work::fill_ff_whole)
            bytes[i] = std::byte{0xff};
        else
            bytes[i] = std::byte{0x5a};
    }
    return bytes;
}

const auto all_works = {Work::replace, Work::replace_whole, Work::and_bits, Work::fill_ff,
                        Work::fill_ff_whole};

// The device after everything was written back and forgotten.
std::vector<std::byte> settled(CacheUnderTest& under, Mapping& mapping) {
    REQUIRE(sync(mapping));
    mapping.drop();
    CHECK(under.leaks().empty());
    CHECK(read_all(mapping, 0, kFolio) ==
          std::vector<std::byte>(under.backing->bytes().begin(),
                                 under.backing->bytes().begin() + kFolio));
    return read_all(mapping, 0, kFolio);
}

} // namespace

TEST_CASE("a clean folio is dropped in the gap: no byte is lost") {
    const Work work = GENERATE(values(all_works));
    INFO("work " << static_cast<int>(work));
    CacheUnderTest under(4);
    Mapping& mapping = under.map(kFolios * kFolio, 0xa7);
    read_all(mapping, 0, kFolio);
    under.gap.arm(1, [&] { mapping.drop(); });
    REQUIRE(do_work(mapping, work));
    REQUIRE(under.gap.fired());
    CHECK(under.metric("cache_retries_total") == 1);
    CHECK(read_all(mapping, 0, kFolio) == expected_after(work, 0xa7));
    CHECK(settled(under, mapping) == expected_after(work, 0xa7));
}

TEST_CASE("a folio is reclaimed in the gap: no byte is lost") {
    const Work work = GENERATE(values(all_works));
    CacheUnderTest under(4);
    Mapping& mapping = under.map(kFolios * kFolio, 0xa7);
    read_all(mapping, 0, kFolio);
    under.gap.arm(1, [&] {
        // The third pass over more than fits has taken every second chance away.
        for (int pass = 0; pass < 3; ++pass)
            read_all(mapping, kFolio, (kFolios - 1) * kFolio);
        REQUIRE_FALSE(Inspector::resident(mapping, 0));
    });
    // The writer may hold a reservation for dirt, none for memory: it was resident.
    REQUIRE(do_work(mapping, work));
    REQUIRE(under.gap.fired());
    CHECK(under.metric("cache_retries_total") == 1);
    CHECK(settled(under, mapping) == expected_after(work, 0xa7));
}

TEST_CASE("a folio in the middle of a range is dropped in the gap: no byte is lost") {
    const int nth = GENERATE(1, 2, 3);
    const bool erase = GENERATE(false, true);
    CacheUnderTest under(8);
    Mapping& mapping = under.map(kFolios * kFolio, 0xa7);
    read_all(mapping, 0, 4 * kFolio);
    // What this operation holds already, reclaim passes by.
    under.gap.arm(nth, [&] { mapping.drop(); });
    const std::uint64_t length = 2 * kFolio + 500;
    if (erase)
        REQUIRE(mapping.fill_ff(ByteOffset(100), length));
    else
        REQUIRE(write(mapping, 100, filled(length, 0x5a)));
    REQUIRE(under.gap.fired());
    CHECK(under.metric("cache_retries_total") == 1);
    auto expected = filled(3 * kFolio, 0xa7);
    std::fill_n(expected.begin() + 100, length, std::byte(erase ? 0xff : 0x5a));
    CHECK(read_all(mapping, 0, 3 * kFolio) == expected);
    REQUIRE(sync(mapping));
    mapping.drop();
    CHECK(read_all(mapping, 0, 3 * kFolio) == expected);
    CHECK(under.leaks().empty());
}

TEST_CASE("a dirty folio is written back and dropped in the gap: nothing old comes back") {
    const Work work = GENERATE(values(all_works));
    CacheUnderTest under(4);
    Mapping& mapping = under.map(kFolios * kFolio, 0x11);
    REQUIRE(write(mapping, 0, filled(kFolio, 0xa7)));
    SECTION("written back and dropped") {
        under.gap.arm(1, [&] {
            REQUIRE(sync(mapping));
            mapping.drop();
        });
    }
    SECTION("written back only: it has to be counted as dirty again") {
        under.gap.arm(1, [&] { REQUIRE(sync(mapping)); });
    }
    REQUIRE(do_work(mapping, work));
    REQUIRE(under.gap.fired());
    CHECK(under.metric("cache_retries_total") == 1);
    CHECK(mapping.dirty_bytes() == kFolio);
    CHECK(settled(under, mapping) == expected_after(work, 0xa7));
}

TEST_CASE("somebody fills and changes an absent folio in the gap: both changes stand") {
    const Work work = GENERATE(values({Work::replace, Work::and_bits, Work::fill_ff}));
    CacheUnderTest under(4);
    Mapping& mapping = under.map(kFolios * kFolio, 0xa7);
    under.gap.arm(1, [&] { REQUIRE(write(mapping, 1000, filled(10, 0x01))); });
    REQUIRE(do_work(mapping, work));
    REQUIRE(under.gap.fired());
    auto expected = expected_after(work, 0xa7);
    std::fill_n(expected.begin() + 1000, 10, std::byte{0x01});
    CHECK(under.metric("cache_retries_total") == 1);
    CHECK(settled(under, mapping) == expected);
}

TEST_CASE("a folio is dropped in a reader's gap: it reads the device, not a hole") {
    CacheUnderTest under(4);
    Mapping& mapping = under.map(kFolios * kFolio, 0xa7);
    read_all(mapping, 0, kFolio);
    under.gap.arm(1, [&] { mapping.drop(); });
    CHECK(read_all(mapping, 0, kFolio) == filled(kFolio, 0xa7));
    CHECK(under.gap.fired());
    CHECK(under.metric("cache_retries_total") + under.metric("cache_lost_copies_total") == 1);
    under.gap.arm(1, [&] { mapping.drop(); });
    const auto pinned = mapping.pin(ByteOffset(0), kFolio);
    REQUIRE(pinned);
    CHECK(under.gap.fired());
    CHECK(pinned->bytes()[0] == std::byte{0xa7});
    CHECK(under.metric("cache_retries_total") + under.metric("cache_lost_copies_total") == 2);
}

TEST_CASE("a copy without a hold that loses its folio is thrown away, and so is what it touched") {
    CacheUnderTest under(4);
    Mapping& mapping = under.map(kFolios * kFolio, 0xa7);
    Inspector::state(*under.cache).copies_without_hold = true;
    read_all(mapping, 0, 4 * kFolio);
    SECTION("dropped") {
        under.gap.arm(1, [&] {
            mapping.drop();
            REQUIRE(Inspector::allocated_bytes(mapping) == 0);
        });
        CHECK(read_all(mapping, 0, kFolio) == filled(kFolio, 0xa7));
    }
    SECTION("several folios dropped") {
        under.gap.arm(1, [&] { mapping.drop(); });
        CHECK(read_all(mapping, 10, 3 * kFolio) == filled(3 * kFolio, 0xa7));
    }
    SECTION("dropped, and not to be read again") {
        under.gap.arm(1, [&] {
            mapping.drop();
            under.backing->fault = [](auto, auto, auto) { return EIO; };
        });
        std::vector<std::byte> into(3 * kFolio);
        CHECK(number_of(mapping.read(ByteOffset(0), into)) == EIO);
        CHECK(under.cache->resident_bytes() == 0);
    }
    SECTION("changed") {
        under.gap.arm(1, [&] { REQUIRE(write(mapping, 7, filled(1, 0x01))); });
        CHECK(read_all(mapping, 7, 1) == filled(1, 0x01));
    }
    REQUIRE(under.gap.fired());
    CHECK(under.metric("cache_lost_copies_total") == 1);
    CHECK(Inspector::allocated_bytes(mapping) == under.cache->resident_bytes());
    CHECK(under.leaks().empty());
}

} // namespace mtdfuse::cache
