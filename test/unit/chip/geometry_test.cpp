// The words of --type and the rules of a geometry, each refusal with what would be right.
#include <catch2/catch.hpp>

#include <cerrno>

#include <mtdfuse/chip.hpp>

namespace mtdfuse::chip {
namespace {

Geometry geometry_of(std::uint64_t size_bytes, std::uint32_t erasesize_bytes,
                     std::uint32_t writesize_bytes = 1) {
    Geometry geometry = default_geometry(Type::ram, size_bytes);
    geometry.erasesize_bytes = erasesize_bytes;
    geometry.writesize_bytes = writesize_bytes;
    return geometry;
}

std::string refusal(const Geometry& geometry) {
    const Status checked = check_geometry(geometry);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().number == EINVAL);
    return checked.error().context;
}

} // namespace

TEST_CASE("a type has one word") {
    CHECK(type_name(Type::ram) == "ram");
    CHECK(parse_type("ram") == Type::ram);
    for (const char* word : {"", "RAM", "ram ", "nor", "flash"}) {
        const Result<Type> parsed = parse_type(word);
        REQUIRE_FALSE(parsed);
        CHECK(parsed.error().number == EINVAL);
        CHECK_THAT(parsed.error().context, Catch::EndsWith("known: ram"));
    }
}

TEST_CASE("the default geometry of ram") {
    const Geometry geometry = default_geometry(Type::ram, 1024 * 1024);
    CHECK(geometry.size_bytes == 1024 * 1024);
    CHECK(geometry.erasesize_bytes == 128 * 1024);
    CHECK(geometry.writesize_bytes == 1);
    CHECK(geometry.oobsize_bytes == 0);
    CHECK(geometry.block_count() == 8);
    CHECK(geometry.block_of(ByteOffset(131072)) == BlockIndex(1));
    CHECK(geometry.block_of(ByteOffset(131071)) == BlockIndex(0));
    CHECK(geometry.start_of(BlockIndex(3)) == ByteOffset(393216));
    CHECK(check_geometry(geometry));
}

TEST_CASE("geometries that are right") {
    CHECK(check_geometry(geometry_of(0x3c00000, 64 * 1024)));
    CHECK(check_geometry(geometry_of(256, 256)));
    CHECK(check_geometry(geometry_of(1ULL << 40, 1024 * 1024 * 1024)));
    CHECK(check_geometry(geometry_of(3000, 1000, 8)));
}

TEST_CASE("a size that is no multiple of erasesize names the two next to it") {
    CHECK(refusal(geometry_of(1000000, 128 * 1024)) ==
          "size 1000000 is no multiple of erasesize 128K: use 896K or 1M");
    CHECK(refusal(geometry_of(1000, 128 * 1024)) ==
          "size 1000 is no multiple of erasesize 128K: use 128K");
    CHECK(refusal(geometry_of(INT64_MAX, 1000)) ==
          "size 9223372036854775807 is no multiple of erasesize 1000: use 9223372036854775000");
}

TEST_CASE("sizes out of range") {
    CHECK_THAT(refusal(geometry_of(0, 4096)), Catch::StartsWith("size 0: use 4K"));
    CHECK_THAT(refusal(geometry_of(1ULL << 63, 4096)), Catch::Contains("out of range"));
}

TEST_CASE("an erasesize out of range or off writesize") {
    CHECK(refusal(geometry_of(4096, 0)) == "erasesize 0 is out of range: use 256 to 1G");
    CHECK_THAT(refusal(geometry_of(4096, 255)), Catch::StartsWith("erasesize 255 is out of range"));
    CHECK_THAT(refusal(geometry_of(1ULL << 40, (1U << 30) + 1)), Catch::Contains("out of range"));
    CHECK(refusal(geometry_of(3000, 3000, 512)) ==
          "erasesize 3000 is no multiple of writesize 512: use 2560 or 3K");
    CHECK(refusal(geometry_of(4096, 4096, 0)) == "writesize 0: use 1 or more");
}

} // namespace mtdfuse::chip
