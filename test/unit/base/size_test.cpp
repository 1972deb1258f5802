#include <catch2/catch.hpp>

#include <cerrno>

#include <mtdfuse/base.hpp>

using namespace mtdfuse;

TEST_CASE("parse_size reads what users write") {
    const auto [text, bytes] = GENERATE(table<std::string, std::uint64_t>({
        {"0", 0},
        {"131072", 131072},
        {"0x20000", 131072},
        {"0X20000", 131072},
        {"128K", 131072},
        {"128KiB", 131072},
        {"1M", 1048576},
        {"3MiB", 3145728},
        {"2G", 2147483648},
        {"1TiB", 1099511627776},
        {"0x10K", 16384},
        {"18446744073709551615", UINT64_MAX},
    }));
    CAPTURE(text);
    const auto got = parse_size(text);
    REQUIRE(got);
    CHECK(*got == bytes);
}

TEST_CASE("parse_size refuses the rest") {
    const auto [text, number] = GENERATE(table<std::string, int>({
        {"", EINVAL},
        {"K", EINVAL},
        {"-1", EINVAL},
        {"+1", EINVAL},
        {" 1", EINVAL},
        {"1 ", EINVAL},
        {"1.5M", EINVAL},
        {"1e3", EINVAL},
        {"128k", EINVAL},
        {"128KB", EINVAL},
        {"128Ki", EINVAL},
        {"128KiBs", EINVAL},
        {"0x", EINVAL},
        {"0xg", EINVAL},
        {"12three", EINVAL},
        {"18446744073709551616", ERANGE},
        {"16777216T", ERANGE},
    }));
    CAPTURE(text);
    const auto got = parse_size(text);
    REQUIRE_FALSE(got);
    CHECK(got.error().number == number);
    CHECK(got.error().context.find("'" + text + "'") != std::string::npos);
}

TEST_CASE("format_size is the shortest exact form") {
    CHECK(format_size(0) == "0");
    CHECK(format_size(1000) == "1000");
    CHECK(format_size(131072) == "128K");
    CHECK(format_size(1048576) == "1M");
    CHECK(format_size(std::uint64_t{5} << 50) == "5120T");
}
