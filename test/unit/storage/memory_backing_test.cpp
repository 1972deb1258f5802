#include "support.hpp"

#include <array>
#include <cerrno>

using namespace mtdfuse;
using namespace mtdfuse::storage;
using namespace mtdfuse::storage::test;

namespace {

std::unique_ptr<Backing> memory(std::uint64_t size_bytes, std::byte fill) {
    auto backing = make_memory_backing(size_bytes, fill);
    REQUIRE(backing);
    return std::move(*backing);
}

// Resident bytes of this process.
std::uint64_t resident_bytes() {
    const auto text = read_small_file("/proc/self/statm");
    REQUIRE(text);
    return std::stoull(text->substr(text->find(' '))) * 4096;
}

} // namespace

TEST_CASE("memory: reads as the fill until written") {
    for (const std::byte fill : {std::byte{0xFF}, std::byte{0}, std::byte{0x5A}}) {
        const auto backing = memory(100000, fill);
        CHECK(backing->size_bytes() == 100000);
        std::vector<std::byte> expected(100000, fill);
        std::vector<std::byte> into(100000);
        REQUIRE(backing->read_at(ByteOffset(0), into));
        CHECK((into == expected)); // not shown byte by byte

        const auto one = bytes_of("one");
        const auto two = bytes_of("two22");
        const std::array<std::span<const std::byte>, 3> segments = {one, {}, two};
        REQUIRE(backing->write_vector_at(ByteOffset(4093), segments));
        REQUIRE(backing->write_at(ByteOffset(99999), std::span(one).first(1)));
        std::copy(one.begin(), one.end(), expected.begin() + 4093);
        std::copy(two.begin(), two.end(), expected.begin() + 4096);
        expected.back() = one.front();
        REQUIRE(backing->sync());
        REQUIRE(backing->read_at(ByteOffset(0), into));
        CHECK((into == expected)); // not shown byte by byte
    }
}

TEST_CASE(
    "memory: a write over several 64 KiB pieces is read back, and nothing beside it changes") {
    static constexpr std::uint64_t piece = 64 * kKiB;
    const auto backing = memory(6 * piece, std::byte{0xFF});
    std::vector<std::byte> expected(6 * piece, std::byte{0xFF});
    const std::vector<std::byte> bytes(2 * piece, std::byte{0x5A});
    const std::uint64_t at = piece * GENERATE(1U, 2U) + GENERATE(0U, 1U, 65535U);
    CAPTURE(at);
    REQUIRE(backing->write_at(ByteOffset(at), bytes));
    std::copy(bytes.begin(), bytes.end(), expected.begin() + static_cast<std::ptrdiff_t>(at));
    std::vector<std::byte> into(6 * piece);
    REQUIRE(backing->read_at(ByteOffset(0), into));
    CHECK((into == expected)); // not shown byte by byte
}

TEST_CASE("memory: a range past the end is EINVAL, however the sum overflows") {
    const auto backing = memory(10, std::byte{0xFF});
    auto two = bytes_of("XY");
    const std::array<std::span<const std::byte>, 2> twice = {two, two};
    for (const std::uint64_t at :
         {std::uint64_t{9}, std::uint64_t{11}, UINT64_MAX - 1, UINT64_MAX}) {
        CAPTURE(at);
        check_error(error_of(backing->read_at(ByteOffset(at), two)), EINVAL, {"10 bytes"});
        check_error(error_of(backing->write_at(ByteOffset(at), two)), EINVAL, {"10 bytes"});
        CHECK(error_of(backing->write_vector_at(ByteOffset(at), twice)).number == EINVAL);
    }
    CHECK(error_of(backing->write_vector_at(ByteOffset(7), twice)).number == EINVAL);
    CHECK(backing->read_at(ByteOffset(10), std::span(two).first(0)));
}

TEST_CASE("memory: none is used for what was never written") {
    const auto backing = memory(std::uint64_t{1} << 40U, std::byte{0xFF});
    std::vector<std::byte> into(std::size_t{1} << 20U);
    const std::uint64_t before = resident_bytes();
    for (std::uint64_t at = 0; at < std::uint64_t{256} << 20U; at += into.size())
        REQUIRE(backing->read_at(ByteOffset(at), into));
    CHECK(resident_bytes() < before + (std::uint64_t{16} << 20U));
    CHECK(into.back() == std::byte{0xFF});
    REQUIRE(backing->write_at(ByteOffset((std::uint64_t{1} << 40U) - 1), bytes_of("z")));
}

TEST_CASE("memory: sizes that cannot be") {
    check_error(error_of(make_memory_backing(0, std::byte{0})), EINVAL, {"0 bytes"});
    check_error(error_of(make_memory_backing(std::uint64_t{1} << 62U, std::byte{0})), ENOMEM,
                {"4611686018427387904 bytes"});
}
