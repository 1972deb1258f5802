#include <catch2/catch.hpp>

#include <cerrno>

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

} // namespace

TEST_CASE("the JSON of a speed test") {
    CHECK(json_text({kRows.front()}, 1048576) ==
          R"({"v":1,"bytes":1048576,"rows":[{"work":"read_128k","folio":4096,"ms":3.000,)"
          R"("limit_ms":2.000,"ratio":1.500}]})"
          "\n");
    CHECK(json_text({}, 0) == "{\"v\":1,\"bytes\":0,\"rows\":[]}\n");
}

TEST_CASE("the table of a speed test has a line per work and a column per folio size") {
    CHECK(table_text(kRows, 1048576) ==
          "milliseconds for one pass over 1M, by folio size (times the limit)\n"
          "work                          limit              4K             64K\n"
          "read_128k             copy     2.00     3.00 (1.50)     2.00 (1.00)\n"
          "erase_data            fill     4.00     1.00 (0.25)     1.00 (0.25)\n");
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
    std::vector<std::byte> expected(4 * kEraseBlockBytes, std::byte{0xff});
    std::vector<std::byte> buffer(kEraseBlockBytes);
    CHECK(check_contents(*target, expected, buffer));
    expected[300000] = std::byte{0x5a};
    const Status found = check_contents(*target, expected, buffer);
    REQUIRE_FALSE(found);
    CHECK(found.error().context == "byte 300000 of the device is 0xff, written was 0x5a");
}
