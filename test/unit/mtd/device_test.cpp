// The answers of mtdcore: bounds and errnos of read, write and erase.
#include <catch2/catch.hpp>

#include <cerrno>

#include <mtdfuse/mtd.hpp>

#include "fake_chip.hpp"

namespace mtdfuse::mtd {
namespace {

constexpr std::uint64_t kSize = 1024 * 1024;
constexpr std::uint32_t kBlock = 64 * 1024;

struct Fixture {
    test::FakeChip chip{test::small_ram(kSize, kBlock), std::byte{0x5a}};
    Device device{chip, 0, "test", false};
    Device read_only{chip, 0, "test", true};
    std::vector<std::byte> buffer = std::vector<std::byte>(4096, std::byte{1});

    std::span<std::byte> bytes(std::size_t count) { return std::span(buffer).first(count); }
    bool block_is(std::uint64_t block, std::byte value) const {
        const auto begin = chip.bytes.begin() + static_cast<std::ptrdiff_t>(block * kBlock);
        return std::all_of(begin, begin + kBlock, [=](std::byte b) { return b == value; });
    }
};

int number_of(const Status& status) {
    return status ? 0 : status.error().number;
}

} // namespace

TEST_CASE_METHOD(Fixture, "a read is cut at the end and empty behind it") {
    CHECK(device.read(0, bytes(512)) == 512U);
    CHECK(buffer[0] == std::byte{0x5a});
    CHECK(device.read(kSize - 1, bytes(2)) == 1U);
    CHECK(device.read(kSize, bytes(1)) == 0U);
    CHECK(device.read(kSize + 1, bytes(1)) == 0U);
    CHECK(device.read(UINT64_MAX, bytes(2)) == 0U);
    CHECK(device.read(5, bytes(0)) == 0U);
}

TEST_CASE_METHOD(Fixture, "a write is cut at the end and ENOSPC at it, even of nothing") {
    CHECK(device.write(0, bytes(0)) == 0U);
    CHECK(device.write(7, bytes(513)) == 513U);
    CHECK(chip.bytes[7] == std::byte{1});
    CHECK(device.write(kSize - 512, bytes(1024)) == 512U);
    for (const std::uint64_t at : {kSize, kSize + 512, UINT64_MAX}) {
        CHECK(device.write(at, bytes(512)).error().number == ENOSPC);
        CHECK(device.write(at, bytes(0)).error().number == ENOSPC);
    }
    CHECK_THAT(device.write(kSize, bytes(1)).error().context,
               Catch::Contains("the device ends at 0x100000"));
}

TEST_CASE_METHOD(Fixture, "erase stays on the block grid and inside the device") {
    struct Case {
        std::uint64_t at, length;
        int number;
    };
    const Case cases[] = {
        {0, kBlock, 0},
        {kSize - kBlock, kBlock, 0},
        {0, kSize, 0},
        {0, 0, 0},
        {1, 0, 0},
        {1, kBlock, EINVAL},
        {0, 1, EINVAL},
        {0, kBlock - 1, EINVAL},
        {0, kBlock + 1, EINVAL},
        {kBlock / 2, kBlock, EINVAL},
        {kSize, kBlock, EINVAL},
        {kSize, 0, EINVAL},
        {kSize - kBlock, 2 * kBlock, EINVAL},
        {0, kSize + kBlock, EINVAL},
        {UINT64_MAX, kBlock, EINVAL},
        {UINT64_MAX - kBlock + 1, 2 * kBlock, EINVAL},
        {kBlock, UINT64_MAX - kBlock + 1, EINVAL},
        {1ULL << 32, kBlock, EINVAL},
    };
    for (const Case& c : cases) {
        INFO("erase at " << c.at << " length " << c.length);
        chip.erases.clear();
        CHECK(number_of(device.erase(c.at, c.length)) == c.number);
        const bool reaches_chip = c.number == 0 && c.length > 0;
        CHECK(chip.erases.size() == (reaches_chip ? 1U : 0U));
    }
}

TEST_CASE_METHOD(Fixture, "an erase says which rule it broke") {
    CHECK_THAT(device.erase(kBlock + 1, kBlock).error().context,
               Catch::Contains("0x10001 is inside the block at 0x10000 (erasesize 64K)"));
    CHECK_THAT(device.erase(0, 5).error().context,
               Catch::Contains("5 bytes are no multiple of erasesize 64K"));
    CHECK_THAT(device.erase(kSize, kBlock).error().context, Catch::Contains("end at 0x100000"));
}

TEST_CASE_METHOD(Fixture, "whatever a chip fails with is EIO, the blocks before are erased") {
    chip.failing_block = 2;
    CHECK(number_of(device.erase(0, 4 * kBlock)) == EIO);
    CHECK(block_is(0, std::byte{0xff}));
    CHECK(block_is(1, std::byte{0xff}));
    CHECK(block_is(2, std::byte{0x5a}));
    CHECK(block_is(3, std::byte{0x5a}));
    CHECK_THAT(device.erase(2 * kBlock, kBlock).error().context,
               Catch::Contains("block told to fail"));
    CHECK(device.read(2 * kBlock, bytes(1)).error().number == EIO);
    CHECK(device.write(2 * kBlock, bytes(1)).error().number == EIO);
    chip.failure = ENOSPC;
    CHECK(device.write(2 * kBlock, bytes(1)).error().number == ENOSPC);
    CHECK(number_of(device.erase(2 * kBlock, kBlock)) == EIO);
}

TEST_CASE_METHOD(Fixture, "a read-only device refuses after the bounds, as mtdcore does") {
    CHECK(device.flags() == 0x1c00);
    CHECK(read_only.flags() == 0x1800);
    CHECK(read_only.write(0, bytes(1)).error().number == EROFS);
    CHECK(read_only.write(kSize, bytes(1)).error().number == ENOSPC);
    CHECK(number_of(read_only.erase(0, kBlock)) == EROFS);
    CHECK(number_of(read_only.erase(0, 0)) == EROFS);
    CHECK(number_of(read_only.erase(kSize, kBlock)) == EINVAL);
    CHECK(read_only.read(0, bytes(1)) == 1U);
    CHECK(chip.erases.empty());
    CHECK(chip.program_starts.empty());
}

TEST_CASE_METHOD(Fixture, "ram has neither bad blocks nor locks") {
    CHECK(device.block_is_bad(0) == false);
    CHECK(device.block_is_bad(kSize - 1) == false);
    CHECK(device.block_is_bad(kSize).error().number == EINVAL);
    CHECK(device.block_is_bad(UINT64_MAX).error().number == EINVAL);
    CHECK(number_of(device.mark_bad(UINT64_MAX)) == EOPNOTSUPP);
    CHECK(number_of(device.lock(UINT64_MAX, 1)) == EOPNOTSUPP);
    CHECK(number_of(device.unlock(0, kBlock)) == EOPNOTSUPP);
    CHECK(device.is_locked(0, kBlock).error().number == EOPNOTSUPP);
}

TEST_CASE("a name fits /proc/mtd") {
    CHECK(check_name(""));
    CHECK(check_name("block2mtd: /dev/ram0"));
    CHECK(check_name(std::string(127, 'x')));
    CHECK(number_of(check_name(std::string(128, 'x'))) == EINVAL);
    for (const char* bad : {"a\"b", "a\nb", "a\tb", "\x7f"}) {
        CHECK(number_of(check_name(bad)) == EINVAL);
    }
    CHECK(check_name("caf\xc3\xa9"));
}

TEST_CASE("the last error is the newest") {
    LastError last;
    CHECK(last.text().empty());
    last.set("first");
    last.set("second");
    CHECK(last.text() == "second");
}

} // namespace mtdfuse::mtd
