// The `ram` chip over the real cache: replace, erase, bounds, errors, counters.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cerrno>

#include <mtdfuse/chip.hpp>

namespace mtdfuse::chip {
namespace {

constexpr std::uint64_t kSize = 1024 * 1024;
constexpr std::uint32_t kBlock = 64 * 1024;

Geometry geometry_of(std::uint64_t size_bytes) {
    Geometry geometry = default_geometry(Type::ram, size_bytes);
    geometry.erasesize_bytes = kBlock;
    return geometry;
}

std::vector<std::byte> filled(std::size_t count, unsigned char value) {
    return std::vector<std::byte>(count, std::byte{value});
}

struct Fixture {
    NullLog log;
    SteadyClock clock;
    bool refuse_writes = false;
    std::uint64_t read_calls = 0;
    std::unique_ptr<cache::Cache> cache;
    std::unique_ptr<Chip> chip;

    explicit Fixture(std::uint64_t folio_bytes = 64 * 1024) {
        cache::Options options;
        options.folio_bytes = folio_bytes;
        options.capacity_bytes = 8 * 1024 * 1024;
        options.policy = cache::Policy::writethrough;
        cache = std::move(cache::Cache::create(options, log, clock).value());
        // One block longer than the chip: a chip must not reach it.
        auto memory = storage::make_memory_backing(kSize + kBlock, std::byte{0x5a});
        auto backing =
            storage::inject_faults(std::move(memory.value()), [this](storage::Operation operation,
                                                                     ByteOffset, std::uint64_t) {
                read_calls += operation == storage::Operation::read ? 1 : 0;
                return refuse_writes && operation == storage::Operation::write ? ENXIO : 0;
            });
        cache::Mapping* const data = cache->map(std::move(backing)).value();
        chip = make_ram(geometry_of(kSize), *data);
    }

    bool holds(std::uint64_t at, std::size_t count, unsigned char value) {
        std::vector<std::byte> bytes(count);
        REQUIRE(chip->read(ByteOffset(at), bytes));
        return bytes == filled(count, value);
    }
    std::uint64_t metric(std::string_view name) {
        std::vector<Metric> metrics;
        chip->collect_metrics(metrics);
        const auto found = std::find_if(metrics.begin(), metrics.end(),
                                        [=](const Metric& m) { return m.name == name; });
        REQUIRE(found != metrics.end());
        CHECK(found->kind == MetricKind::counter);
        CHECK_FALSE(found->help.empty());
        return found->value;
    }
};

struct BigFolioFixture : Fixture {
    BigFolioFixture() : Fixture(512 * 1024) {}
};

int number_of(const Status& status) {
    return status ? 0 : status.error().number;
}

} // namespace

TEST_CASE_METHOD(Fixture, "new bytes replace old ones, bits may rise without an erase") {
    CHECK(holds(0, 4096, 0x5a));
    CHECK(chip->program(ByteOffset(10), filled(100, 0x0f)));
    CHECK(chip->program(ByteOffset(10), filled(100, 0xf0)));
    CHECK(holds(0, 10, 0x5a));
    CHECK(holds(10, 100, 0xf0));
    CHECK(holds(110, 10, 0x5a));
}

TEST_CASE_METHOD(Fixture, "erase sets its blocks to 0xFF and no other byte") {
    CHECK(chip->erase(BlockIndex(1), 2));
    CHECK(holds(0, kBlock, 0x5a));
    CHECK(holds(kBlock, 2 * kBlock, 0xff));
    CHECK(holds(3 * kBlock, kBlock, 0x5a));
    CHECK(chip->erase(BlockIndex(5), 0));
    CHECK(holds(5 * kBlock, kBlock, 0x5a));
}

TEST_CASE_METHOD(BigFolioFixture, "an erase of folios larger than a block reads nothing first") {
    CHECK(chip->erase(BlockIndex(0), 16));
    CHECK(read_calls == 0);
    CHECK(holds(0, kSize, 0xff));
}

TEST_CASE_METHOD(Fixture, "the chip ends where its geometry says, not where the mapping does") {
    std::vector<std::byte> two(2);
    CHECK(chip->read(ByteOffset(kSize - 2), two));
    CHECK(number_of(chip->read(ByteOffset(kSize - 1), two)) == EINVAL);
    CHECK(number_of(chip->program(ByteOffset(kSize - 1), two)) == EINVAL);
    CHECK(number_of(chip->program(ByteOffset(UINT64_MAX), two)) == EINVAL);
    CHECK(number_of(chip->erase(BlockIndex(15), 2)) == EINVAL);
    CHECK(number_of(chip->erase(BlockIndex(17), 0)) == EINVAL);
    CHECK(number_of(chip->erase(BlockIndex(1), UINT64_MAX)) == EINVAL);
    CHECK(holds(0, kSize, 0x5a));
}

TEST_CASE_METHOD(Fixture, "a backing that refuses is an error and is not counted") {
    refuse_writes = true;
    CHECK(number_of(chip->program(ByteOffset(0), filled(1, 0))) == ENXIO);
    CHECK(number_of(chip->erase(BlockIndex(0), 1)) == ENXIO);
    CHECK(metric("chip_programs_total") == 0);
    CHECK(metric("chip_programmed_bytes_total") == 0);
    CHECK(metric("chip_erased_blocks_total") == 0);
    refuse_writes = false;
    ErrorCursor cursor = chip->error_cursor();
    (void)chip->sync(Durability::stable, cursor);
    CHECK(chip->sync(Durability::stable, cursor));
}

TEST_CASE_METHOD(Fixture, "the counters count calls and bytes") {
    std::vector<std::byte> bytes(100);
    CHECK(chip->read(ByteOffset(0), bytes));
    CHECK(chip->program(ByteOffset(0), bytes));
    CHECK(chip->program(ByteOffset(5), filled(7, 1)));
    CHECK(chip->erase(BlockIndex(2), 3));
    CHECK(metric("chip_reads_total") == 1);
    CHECK(metric("chip_read_bytes_total") == 100);
    CHECK(metric("chip_programs_total") == 2);
    CHECK(metric("chip_programmed_bytes_total") == 107);
    CHECK(metric("chip_erased_blocks_total") == 3);
    chip->drop_caches();
    CHECK(holds(5, 7, 1));
}

} // namespace mtdfuse::chip
