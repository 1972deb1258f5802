#include "erase_command.hpp"

#include <catch2/catch.hpp>

#include <cerrno>

namespace mtdfuse::tree {

namespace {

// 64 blocks of 64 KiB.
const chip::Geometry kGeometry{chip::Type::ram, 4 * 1024 * 1024, 64 * 1024, 1, 0};

struct Good {
    std::string_view text;
    std::uint64_t at_bytes, length_bytes;
    bool skip_bad = false;
};

struct Bad {
    std::string_view text;
    std::string_view told; // must be part of the sentence
};

using namespace std::string_view_literals;

} // namespace

TEST_CASE("erase commands that mean something") {
    const auto& [text, at, length, skip_bad] = GENERATE(values<Good>({
        {"0 65536", 0, 65536},
        {"0 65536\n", 0, 65536},
        {"0x10000 0x20000\n", 0x10000, 0x20000},
        {"64K 128KiB", 65536, 131072},
        {"1M 1MiB", 1 << 20, 1 << 20},
        {"0 1G", 0, 1 << 30},
        {" 64K\t 64K \n", 65536, 65536},
        {"1 0", 1, 0},
        {"18446744073709551615 1", UINT64_MAX, 1},
        {"block 0", 0, 65536},
        {"block 63\n", 63 * 65536, 65536},
        {"block 0x3f 1", 63 * 65536, 65536},
        {"block 2 3", 2 * 65536, 3 * 65536},
        {"block 0 64", 0, 64 * 65536},
        {"block 5 0", 5 * 65536, 0},
        {"all", 0, 4 << 20},
        {"all\n", 0, 4 << 20},
        {"all skip-bad\n", 0, 4 << 20, true},
    }));
    CAPTURE(text);
    const auto command = parse_erase_command(text, kGeometry);
    REQUIRE(command);
    CHECK(command->at_bytes == at);
    CHECK(command->length_bytes == length);
    CHECK(command->skip_bad == skip_bad);
}

TEST_CASE("erase commands that are refused say what would be right") {
    const auto& [text, told] = GENERATE(values<Bad>({
        {"", "`START LENGTH` in bytes, `block N [COUNT]`, `all` or `all skip-bad`"},
        {"\n", "write one line"},
        {" ", "write one line"},
        {"65536", "\"65536\" is no erase command"},
        {"0 65536 65536", "write one line"},
        {"hello world", "START \"hello\" is no number"},
        {"0 hello", "LENGTH \"hello\" is no number"},
        {"-1 65536", "START \"-1\" is no number"},
        {"0 -65536", "LENGTH \"-65536\" is no number"},
        {"+0 65536", "START"},
        {"0 1.5M", "LENGTH"},
        {"0 0x", "LENGTH"},
        {"99999999999999999999999 1", "from 0 to 2^64-1"},
        {"0 65536\n65536 65536\n", "more than one line"},
        {"all\n\n", "more than one line"},
        {"\nall", "more than one line"},
        {"all\r\n", "\\x0d"},
        {"0 65536\0"sv, "\\x00"},
        {"all\0"sv, "\\x00"},
        {"\0"sv, "\\x00"},
        {"0,65536", "write one line"},
        {"ALL", "write one line"},
        {"all skip-good", "write one line"},
        {"all 1", "write one line"},
        {"all skip-bad now", "write one line"},
        {"block", "write one line"},
        {"block 1 2 3", "write one line"},
        {"block x", "N \"x\" is no number"},
        {"block -1", "N \"-1\" is no number"},
        {"block 1 x", "COUNT \"x\" is no number"},
        {"block 64", "one block from block 64 on: the device ends after block 63"},
        {"block 64 0", "ends after block 63"},
        {"block 63 2", "2 blocks from block 63 on: the device ends after block 63"},
        {"block 9223372036854775808", "ends after block 63"},
        {"block 1 18446744073709551615", "ends after block 63"},
        {"block 281474976710656 1", "ends after block 63"}, // times 64 KiB is 2^64
    }));
    CAPTURE(std::string(text));
    const auto command = parse_erase_command(text, kGeometry);
    REQUIRE_FALSE(command);
    CHECK(command.error().number == EINVAL);
    CHECK_THAT(command.error().context, Catch::Contains(std::string(told)));
    CHECK(command.error().context.find('\n') == std::string::npos);
}

TEST_CASE("a long text is cut short in a message") {
    CHECK(quoted(std::string(65, 'a')) == '"' + std::string(64, 'a') + "...\"");
    CHECK(quoted(std::string(64, 'a')) == '"' + std::string(64, 'a') + '"');
}

} // namespace mtdfuse::tree
