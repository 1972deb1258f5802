#include <catch2/catch.hpp>

#include <cerrno>

#include "assembly.hpp"
#include "memory_chip.hpp"

using namespace mtdfuse;
using namespace mtdfuse::daemon;
using Catch::Matchers::Contains;

namespace {

Options options_with(std::optional<std::uint64_t> size, std::optional<std::uint64_t> erasesize) {
    Options options;
    options.size_bytes = size;
    options.erasesize_bytes = erasesize;
    return options;
}

std::string refusal(const Options& options, std::uint64_t image_bytes) {
    const auto geometry = choose_geometry(options, {"flash.img", image_bytes});
    REQUIRE_FALSE(geometry);
    CHECK(geometry.error().number == EINVAL);
    return geometry.error().context;
}

} // namespace

TEST_CASE("the image gives the size, --size its front") {
    const auto whole = choose_geometry({}, {"flash.img", 1048576});
    REQUIRE(whole);
    CHECK(whole->size_bytes == 1048576);
    CHECK(whole->erasesize_bytes == 131072);
    const auto front = choose_geometry(options_with(196608, 65536), {"flash.img", 1048576});
    REQUIRE(front);
    CHECK(front->size_bytes == 196608);
    CHECK(front->erasesize_bytes == 65536);
    CHECK(choose_geometry(options_with(1048576, {}), {"flash.img", 1048576}));
    const auto memory = choose_geometry(options_with(1ULL << 40, {}), {"none", std::nullopt});
    REQUIRE(memory);
    CHECK(memory->size_bytes == 1ULL << 40);
}

TEST_CASE("sizes that do not fit are refused with what would") {
    CHECK(refusal(options_with(2097152, {}), 1048576) ==
          "--size 2M is larger than image 'flash.img' of 1M: give that or less");
    CHECK_THAT(refusal({}, 1000000), Contains("no multiple of erasesize 128K") &&
                                         Contains("--size 896K") && !Contains("--erasesize "));
    CHECK_THAT(refusal({}, 1000448), Contains("--size 896K") && Contains("--erasesize 1K"));
    CHECK_THAT(refusal({}, 65536), Contains("--erasesize 64K") && !Contains("--size "));
    CHECK_THAT(refusal({}, 1000), Contains("256"));
    CHECK_THAT(refusal(options_with({}, 3072), 1048576),
               Contains("erasesize 3K") && Contains("--size 1023K") && Contains("--erasesize 2K"));
}

TEST_CASE("the cache is as large as the device, within bounds") {
    Options options;
    CHECK(choose_cache_bytes(options, 1 << 20) == 1 << 20);
    CHECK(choose_cache_bytes(options, 1ULL << 40) == 256 << 20);
    CHECK(choose_cache_bytes(options, 4096) == options.folio_bytes);
    options.cache_bytes = 131072;
    CHECK(choose_cache_bytes(options, 1ULL << 40) == 131072);
}

TEST_CASE("the device is named after the image unless --name says otherwise") {
    Options options;
    options.image = "/some/where/flash.img";
    CHECK(choose_name(options).value() == "flash.img");
    options.image = "none";
    CHECK(choose_name(options).value() == "none");
    options.image = "dir/a\"b";
    const auto refused = choose_name(options);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().context, Contains("--name"));
    options.image = std::string(128, 'x');
    CHECK_FALSE(choose_name(options));
    options.name = "short";
    CHECK(choose_name(options).value() == "short");
}

TEST_CASE("--parts makes a device of each partition, without it there is one") {
    test::MemoryChip chip{16 * 65536, 65536};
    test::KeptLog log;
    Options options;
    options.image = "flash.img";
    const auto whole = make_devices(options, chip, true, log);
    REQUIRE(whole);
    REQUIRE(whole->size() == 1);
    CHECK(whole->front()->name() == "flash.img");
    CHECK(whole->front()->read_only());

    options.partitions = mtd::parse_partitions("64K(a),100K(b),-(c)ro").value();
    const auto parts = make_devices(options, chip, false, log);
    REQUIRE(parts);
    REQUIRE(parts->size() == 3);
    CHECK_FALSE((*parts)[0]->read_only());
    CHECK((*parts)[1]->read_only());
    CHECK((*parts)[2]->read_only());
    CHECK((*parts)[2]->index() == 2);
    CHECK((*parts)[2]->offset_bytes() == 164U * 1024);
    REQUIRE(log.lines().size() == 2); // b, and c behind it
    CHECK_THAT(log.lines()[0].second, Contains("partition \"b\" is read-only") && Contains("64K"));

    const auto all_read_only = make_devices(options, chip, true, log);
    REQUIRE(all_read_only);
    CHECK((*all_read_only)[0]->read_only());

    options.partitions = mtd::parse_partitions("2M(a)").value();
    const auto refused = make_devices(options, chip, false, log);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().number == EINVAL);
    CHECK_THAT(refused.error().context, Contains("--parts: partition \"a\"") && Contains("1M"));
}
