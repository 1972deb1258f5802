#include "support.hpp"

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <thread>

using namespace mtdfuse;
using namespace mtdfuse::storage;
using namespace mtdfuse::storage::test;

namespace {

using Orders = std::map<unsigned, std::uint64_t>;

// The object after `name` within what follows `after`: {"12": 3, "16": 1}.
Orders orders_in(const std::string& json, const std::string& after, const std::string& name) {
    const std::size_t start = json.find('{', json.find(name, json.find(after)));
    REQUIRE(start != std::string::npos);
    Orders orders;
    std::size_t at = start + 1;
    while (json[at] != '}') {
        at = json.find('"', at) + 1;
        const auto order = static_cast<unsigned>(std::stoul(json.substr(at)));
        at = json.find(':', at) + 2;
        orders[order] = std::stoull(json.substr(at));
        at = json.find_first_of(",}", at);
    }
    return orders;
}

// The formula of stats/waf, applied to what stats/io shows.
std::string waf_from(const std::string& io_json, std::uint64_t unit) {
    double rounded = 0;
    double plain = 0;
    for (const auto& [order, count] : orders_in(io_json, "\"write\"", "\"Block size\"")) {
        const std::uint64_t size = std::uint64_t{1} << order;
        rounded += static_cast<double>(count * ((size + unit - 1) / unit * unit));
        plain += static_cast<double>(count * size);
    }
    std::array<char, 32> text;
    const int length =
        std::snprintf(text.data(), text.size(), "%.3f", plain == 0 ? 1.0 : rounded / plain);
    return {text.data(), static_cast<std::size_t>(length)};
}

std::string expected_waf(const std::string& io_json) {
    std::string text;
    for (const std::uint64_t unit : {4096U, 8192U, 16384U, 32768U, 65536U})
        text += (text.empty() ? "{\"" : ", \"") + std::to_string(unit) +
                "\": " + waf_from(io_json, unit);
    return text + "}\n";
}

} // namespace

TEST_CASE("histogram: nothing yet") {
    const IoHistogram histogram;
    CHECK(histogram.io_json() == "{\"read\": {\"Block size\": {}, \"Algn size\": {}}, "
                                 "\"write\": {\"Block size\": {}, \"Algn size\": {}}}\n");
    CHECK(histogram.waf_json() == "{\"4096\": 1.000, \"8192\": 1.000, \"16384\": 1.000, "
                                  "\"32768\": 1.000, \"65536\": 1.000}\n");
}

TEST_CASE("histogram: sizes and alignments by order, ascending") {
    IoHistogram histogram;
    histogram.record(Direction::read, ByteOffset(0), 1);
    histogram.record(Direction::read, ByteOffset(4096), 8191);     // size 12, alignment 0
    histogram.record(Direction::read, ByteOffset(0), 8192);        // 13, 13
    histogram.record(Direction::read, ByteOffset(4096), 8192);     // 13, 12
    histogram.record(Direction::write, ByteOffset(65536), 131072); // 17, 16
    histogram.record(Direction::write, ByteOffset(512), 0);        // is none
    histogram.record(Direction::write, ByteOffset(0), std::uint64_t{1} << 63U);
    CHECK(histogram.io_json() == "{\"read\": {\"Block size\": {\"0\": 1, \"12\": 1, \"13\": 2}, "
                                 "\"Algn size\": {\"0\": 2, \"12\": 1, \"13\": 1}}, "
                                 "\"write\": {\"Block size\": {\"17\": 1, \"63\": 1}, "
                                 "\"Algn size\": {\"16\": 1, \"63\": 1}}}\n");
    histogram.record_sync();
    const auto totals = histogram.totals();
    CHECK(totals.read_calls == 4);
    CHECK(totals.read_bytes == 1 + 8191 + 8192 + 8192);
    CHECK(totals.write_calls == 2);
    CHECK(totals.write_bytes == (std::uint64_t{1} << 63U) + 131072);
    CHECK(totals.sync_calls == 1);
}

TEST_CASE("histogram: write amplification of known loads") {
    IoHistogram histogram;
    histogram.record(Direction::read, ByteOffset(0), 512);
    histogram.record(Direction::write, ByteOffset(0), 4096);
    CHECK(histogram.waf_json() == "{\"4096\": 1.000, \"8192\": 2.000, \"16384\": 4.000, "
                                  "\"32768\": 8.000, \"65536\": 16.000}\n");
    histogram.record(Direction::write, ByteOffset(0), 32768 + 5); // counts as 32768
    CHECK(histogram.waf_json() == "{\"4096\": 1.000, \"8192\": 1.111, \"16384\": 1.333, "
                                  "\"32768\": 1.778, \"65536\": 3.556}\n");
}

TEST_CASE("histogram: stats/waf can be computed from stats/io alone") {
    const std::uint64_t seed = std::random_device{}();
    CAPTURE(seed);
    Random random(seed);
    for (int round = 0; round < 50; ++round) {
        IoHistogram histogram;
        for (std::uint64_t i = random.below(200); i != 0; --i)
            histogram.record(random.below(4) == 0 ? Direction::read : Direction::write,
                             ByteOffset(random.next() >> random.below(64)),
                             random.below(std::uint64_t{1} << random.below(24)) + 1);
        CHECK(histogram.waf_json() == expected_waf(histogram.io_json()));
    }
}

TEST_CASE("histogram: counts of many threads add up") {
    IoHistogram histogram;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&histogram] {
            for (int n = 0; n < 10000; ++n)
                histogram.record(Direction::write, ByteOffset(4096), 4096);
        });
    for (std::thread& thread : threads)
        thread.join();
    CHECK(histogram.totals().write_calls == 40000);
    CHECK(orders_in(histogram.io_json(), "\"write\"", "\"Block size\"") == Orders{{12, 40000}});
}

TEST_CASE("recording: every call is counted once, a vectored one too, and reaches the inside") {
    IoHistogram histogram;
    auto memory = make_memory_backing(65536, std::byte{0xFF});
    REQUIRE(memory);
    const auto backing = record_io(std::move(*memory), histogram);
    CHECK(backing->size_bytes() == 65536);
    CHECK(backing->block_bytes() == 1);

    const std::vector<std::byte> page(4096, std::byte{'p'});
    const std::array<std::span<const std::byte>, 3> segments = {page, page, page};
    REQUIRE(backing->write_vector_at(ByteOffset(4096), segments));
    REQUIRE(backing->write_at(ByteOffset(0), std::span(page).first(512)));
    REQUIRE(backing->sync());
    std::vector<std::byte> into(4096);
    REQUIRE(backing->read_at(ByteOffset(12288), into));
    CHECK(into == page);
    CHECK(histogram.io_json() == "{\"read\": {\"Block size\": {\"12\": 1}, \"Algn size\": "
                                 "{\"12\": 1}}, \"write\": {\"Block size\": {\"9\": 1, \"13\": 1}, "
                                 "\"Algn size\": {\"9\": 1, \"12\": 1}}}\n");
    const auto totals = histogram.totals();
    CHECK(totals.write_calls == 2);
    CHECK(totals.write_bytes == 12800);
    CHECK(totals.sync_calls == 1);
}

TEST_CASE("recording: errors from inside pass") {
    IoHistogram histogram;
    auto memory = make_memory_backing(10, std::byte{0xFF});
    REQUIRE(memory);
    const auto backing =
        record_io(inject_faults(std::move(*memory),
                                [](Operation operation, ByteOffset, std::uint64_t) {
                                    return operation == Operation::sync ? EIO : 0;
                                }),
                  histogram);
    CHECK(error_of(backing->sync()).number == EIO);
    CHECK(error_of(backing->write_at(ByteOffset(10), bytes_of("x"))).number == EINVAL);
}
