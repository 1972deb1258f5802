#include <catch2/catch.hpp>

#include <cerrno>
#include <set>

#include "speedtest_backing.hpp"
#include "speedtest_run.hpp"
#include "speedtest_works.hpp"

using namespace mtdfuse;
using namespace mtdfuse::tools;

namespace {

const std::vector<Row> kRows{
    {"read_128k", 4096, 3.0, 2.0, "copy"},
    {"read_128k", 65536, 2.0, 2.0, "copy"},
    {"erase_data", 4096, 1.0, 4.0, "fill"},
    {"erase_data", 65536, 1.0, 4.0, "fill"},
};

const std::vector<BackingRow> kBackingRows{
    {"writeback_random", "pwrite", 4096, 120.0, 961.0, 290, 65537},
    {"writeback_random", "pwrite", 65536, 110.0, 275.0, 289, 4097},
};

} // namespace

TEST_CASE("the JSON of a speed test") {
    CHECK(json_text({1048576, {kRows.front()}, {kBackingRows.front()}}) ==
          R"({"v":1,"bytes":1048576,"rows":[{"work":"read_128k","folio":4096,"ms":3.000,)"
          R"("limit_ms":2.000,"ratio":1.500},)"
          R"({"work":"writeback_random","folio":4096,"ms":120.000,"limit_ms":961.000,)"
          R"("ratio":0.125,"calls":290,"limit_calls":65537}]})"
          "\n");
    CHECK(json_text({}) == "{\"v\":1,\"bytes\":0,\"rows\":[]}\n");
}

TEST_CASE("the tables of a speed test have a line per work and a column per folio size") {
    const std::string works =
        "milliseconds for one pass over 1M, by folio size (times the limit)\n"
        "work                          limit              4K             64K\n"
        "read_128k             copy     2.00     3.00 (1.50)     2.00 (1.00)\n"
        "erase_data            fill     4.00     1.00 (0.25)     1.00 (0.25)\n";
    CHECK(table_text({1048576, kRows, {}}) == works);
    CHECK(table_text({1048576, kRows, kBackingRows}) ==
          works + "\n"
                  "the same between cache and file: milliseconds / the limit's (times the limit)\n"
                  "work                 limit                       4K                      64K\n"
                  "writeback_random    pwrite     120.0 / 961.0 (0.12)     110.0 / 275.0 (0.40)\n"
                  "\n"
                  "system calls for it / the limit's\n"
                  "work                 limit                       4K                      64K\n"
                  "writeback_random    pwrite              290 / 65537               289 / 4097\n");
}

TEST_CASE("a small speed test times every work on every device, in memory and over a file") {
    SpeedtestOptions options;
    options.size_bytes = 4 * kEraseBlockBytes;
    options.folio_bytes = {4096, 65536};
    options.rounds = 1;
    options.directory = GENERATE("", "/tmp");
    options.engine_only = GENERATE(false, true);
    options.kernels = "plain";
    NullLog log;
    const auto rows = run_speedtest(options, log);
    REQUIRE(rows);
    REQUIRE(rows->size() == kWorks.size() * 2);
    for (const Row& row : *rows) {
        CAPTURE(row.work);
        CHECK(row.milliseconds > 0);
        CHECK(row.limit_milliseconds > 0);
    }
}

TEST_CASE("writeback is timed in fewer system calls than folios, cold reads in those of dd") {
    SpeedtestOptions options;
    // Also with a last folio that is shorter.
    options.size_bytes = 2 * kMiB + 2 * kEraseBlockBytes;
    options.folio_bytes = {4096, 2 * kMiB};
    options.rounds = 1;
    options.directory = "/tmp";
    NullLog log;
    const auto rows = run_backing_works(options, log);
    REQUIRE(rows);
    REQUIRE(rows->size() == 4);
    for (const BackingRow& row : *rows) {
        CAPTURE(row.work, row.folio_bytes);
        CHECK(row.milliseconds > 0);
        CHECK(row.limit_milliseconds > 0);
    }
    // Each folio and the sync.
    CHECK(rows->at(0).limit_calls == options.size_bytes / 4096 + 1);
    CHECK(rows->at(1).limit_calls == 2 + 1);
    // Each MiB, one set-out and the sync.
    CHECK(rows->at(0).calls == 3 + 1 + 1);
    CHECK(rows->at(2).limit_calls == 3);
    CHECK(rows->at(2).calls >= 3);
}

TEST_CASE("a directory without room for nameless files stops the speed test") {
    SpeedtestOptions options;
    options.directory = "/proc";
    NullLog log;
    const auto rows = run_backing_works(options, log);
    REQUIRE_FALSE(rows);
    CHECK(rows.error().context.find("'/proc'") != std::string::npos);
}

TEST_CASE("a folio size or kernels that the cache refuses stop the speed test") {
    SpeedtestOptions options;
    if (GENERATE(true, false))
        options.folio_bytes = {5000};
    else
        options.kernels = "fastest";
    NullLog log;
    const auto rows = run_speedtest(options, log);
    REQUIRE_FALSE(rows);
    CHECK(rows.error().number == EINVAL);
}

TEST_CASE("check_contents names the byte that is wrong") {
    NullLog log;
    SteadyClock clock;
    const auto cache = cache::Cache::create({}, log, clock);
    REQUIRE(cache);
    const auto mapping = (*cache)->map_anonymous(4 * kEraseBlockBytes);
    REQUIRE(mapping);
    const auto chip =
        chip::make_ram(chip::default_geometry(chip::Type::ram, 4 * kEraseBlockBytes), **mapping);
    mtd::Device device(*chip, 0, "test", false);
    const auto target = make_target(device);
    std::vector<std::byte> data(kDataBytes, std::byte{0xff});
    std::vector<std::byte> buffer(kEraseBlockBytes);
    CHECK(check_contents(*target, data, buffer));
    // Past the end of what the erase blocks before the last one were written with.
    constexpr std::uint64_t kOffsetBytes = 127000;
    data[3 * kShiftBytes + kOffsetBytes] = std::byte{0x5a};
    const Status found = check_contents(*target, data, buffer);
    REQUIRE_FALSE(found);
    CHECK(found.error().context == "byte 520216 of the device is 0xff, written was 0x5a");
}

TEST_CASE("neighbouring erase blocks are written with different bytes, all from the data") {
    std::vector<std::byte> data(kDataBytes);
    std::set<const std::byte*> starts;
    for (std::uint64_t block = 0; block < kShifts; ++block) {
        const auto whole = data_at(data, block * kEraseBlockBytes, kEraseBlockBytes);
        starts.insert(whole.data());
        const auto last = data_at(data, (block + 1) * kEraseBlockBytes - 512, 512);
        CHECK(last.data() + last.size() == whole.data() + whole.size());
    }
    CHECK(starts.size() == kShifts);
    CHECK(data_at(data, kShifts * kEraseBlockBytes, 512).data() == data.data());
}
