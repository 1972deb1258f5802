// The ioctls as FUSE brings them: numbers, permission, structures, answers.
#include <catch2/catch.hpp>

#include <cerrno>
#include <cstring>

#include <mtd/mtd-user.h>
#include <sys/ioctl.h>

#include <mtdfuse/mtd.hpp>

#include "fake_chip.hpp"

namespace mtdfuse::mtd {
namespace {

constexpr std::uint64_t kSize = 1024 * 1024;
constexpr std::uint32_t kBlock = 64 * 1024;

struct Fixture {
    test::FakeChip chip{test::small_ram(kSize, kBlock)};
    Device device{chip, 0, "test", false};
    std::unique_ptr<OpenFile> writer{
        std::move(OpenFile::open(device, Access::read_write, false).value())};
    std::unique_ptr<OpenFile> reader{
        std::move(OpenFile::open(device, Access::read, false).value())};
};

template<class T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

// The call as FUSE makes it: the number's own bits say what goes in and how much may come out.
Result<IoctlReply> call(OpenFile& file, std::uint32_t command, std::span<const std::byte> in = {}) {
    const std::size_t out = (command & (2U << 30U)) != 0 ? (command >> 16U) & 0x3fffU : 0;
    return file.ioctl(command, 0, in, out);
}

int error_of(const Result<IoctlReply>& reply) {
    return reply ? 0 : reply.error().number;
}

template<class T>
T answer_of(const Result<IoctlReply>& reply) {
    REQUIRE(reply);
    REQUIRE(reply->out.size() == sizeof(T));
    T value;
    std::memcpy(&value, reply->out.data(), sizeof value);
    return value;
}

constexpr std::uint32_t kAll[] = {MEMGETINFO,
                                  MEMERASE,
                                  MEMWRITEOOB,
                                  MEMREADOOB,
                                  MEMLOCK,
                                  MEMUNLOCK,
                                  MEMGETREGIONINFO,
                                  MEMGETOOBSEL,
                                  MEMGETBADBLOCK,
                                  MEMSETBADBLOCK,
                                  OTPSELECT,
                                  OTPGETREGIONINFO,
                                  OTPLOCK,
                                  ECCGETLAYOUT,
                                  ECCGETSTATS,
                                  MTDFILEMODE,
                                  MEMERASE64,
                                  MEMWRITEOOB64,
                                  MEMREADOOB64,
                                  MEMISLOCKED,
                                  MEMWRITE,
                                  OTPERASE,
                                  MEMREAD,
                                  OTPGETREGIONCOUNT,
                                  MEMGETREGIONCOUNT,
                                  0x1269 /* BLKPG */,
                                  0x125f /* BLKRRPART */};

} // namespace

TEST_CASE_METHOD(Fixture, "MEMGETINFO describes the device") {
    const auto info = answer_of<mtd_info_user>(call(*reader, MEMGETINFO));
    CHECK(info.type == MTD_RAM);
    CHECK(info.flags == MTD_CAP_RAM);
    CHECK(info.size == kSize);
    CHECK(info.erasesize == kBlock);
    CHECK(info.writesize == 1);
    CHECK(info.oobsize == 0);
    CHECK(info.padding == 0);
}

TEST_CASE("a device of 4 GiB and more: MEMGETINFO gives the size modulo 2^32") {
    constexpr std::uint64_t kGiB = 1ULL << 30;
    struct Case {
        std::uint64_t size;
        std::uint32_t shown;
    };
    for (const Case c :
         {Case{4 * kGiB, 0}, Case{4 * kGiB - 65536, 0xffff0000U}, Case{6 * kGiB, 0x80000000U}}) {
        INFO("size " << c.size);
        test::FakeChip chip(test::small_ram(c.size, 65536));
        Device device(chip, 0, "big", false);
        const auto file = std::move(OpenFile::open(device, Access::read_write, false).value());
        CHECK(answer_of<mtd_info_user>(call(*file, MEMGETINFO)).size == c.shown);

        // 32-bit erases reach what 32 bits can name, and never wrap to the front.
        const erase_info_user last32{0xffff0000U, 0x20000U};
        const Result<IoctlReply> wrapped = call(*file, MEMERASE, bytes_of(last32));
        if (c.size <= 4 * kGiB) {
            CHECK(error_of(wrapped) == EINVAL);
            CHECK(chip.erases.empty());
        } else {
            CHECK(wrapped);
            CHECK(chip.erases == std::vector{test::FakeChip::Erase{0xffff, 2}});
        }
        chip.erases.clear();
        const erase_info_user64 last{c.size - 65536, 65536};
        CHECK(call(*file, MEMERASE64, bytes_of(last)));
        CHECK(chip.erases == std::vector{test::FakeChip::Erase{c.size / 65536 - 1, 1}});
        const std::byte one{1};
        CHECK(file->write(c.size - 1, std::span(&one, 1)) == 1U);
        CHECK(chip.program_starts == std::vector{c.size - 1});
    }
}

TEST_CASE_METHOD(Fixture, "erase ioctls erase and say that flash changed") {
    const erase_info_user range{kBlock, 2 * kBlock};
    const Result<IoctlReply> done = call(*writer, MEMERASE, bytes_of(range));
    REQUIRE(done);
    CHECK(done->value == 0);
    CHECK(done->changed_flash);
    CHECK(done->out.empty());
    const erase_info_user64 last{kSize - kBlock, kBlock};
    CHECK(call(*writer, MEMERASE64, bytes_of(last))->changed_flash);
    CHECK(chip.erases == std::vector{test::FakeChip::Erase{1, 2}, test::FakeChip::Erase{15, 1}});

    const erase_info_user nothing{kBlock, 0};
    CHECK_FALSE(call(*writer, MEMERASE, bytes_of(nothing))->changed_flash);
    const erase_info_user outside{kSize, 0};
    CHECK(error_of(call(*writer, MEMERASE, bytes_of(outside))) == EINVAL);
    const erase_info_user64 wraps{UINT64_MAX - kBlock + 1, 2 * kBlock};
    CHECK(error_of(call(*writer, MEMERASE64, bytes_of(wraps))) == EINVAL);
    chip.failing_block = 0;
    const erase_info_user all{0, kSize};
    CHECK(error_of(call(*writer, MEMERASE, bytes_of(all))) == EIO);
}

TEST_CASE_METHOD(Fixture, "what a ram device has not") {
    CHECK(answer_of<int>(call(*reader, MEMGETREGIONCOUNT)) == 0);
    const region_info_user region{};
    CHECK(error_of(call(*reader, MEMGETREGIONINFO, bytes_of(region))) == EINVAL);
    CHECK(error_of(call(*reader, MEMGETOOBSEL)) == EOPNOTSUPP);
    CHECK(error_of(call(*reader, ECCGETLAYOUT)) == EOPNOTSUPP);
    const erase_info_user range{0, kBlock};
    CHECK(error_of(call(*writer, MEMLOCK, bytes_of(range))) == EOPNOTSUPP);
    CHECK(error_of(call(*writer, MEMUNLOCK, bytes_of(range))) == EOPNOTSUPP);
    const auto stats = answer_of<mtd_ecc_stats>(call(*reader, ECCGETSTATS));
    CHECK((stats.corrected | stats.failed | stats.badblocks | stats.bbtblocks) == 0);
    const otp_info otp{};
    CHECK(error_of(call(*writer, OTPERASE, bytes_of(otp))) == EINVAL);
    CHECK(error_of(call(*reader, 0x125f /* BLKRRPART */)) == 0);
}

TEST_CASE_METHOD(Fixture, "bad blocks: none, and none can be made") {
    const std::uint64_t inside = kBlock + 5;
    const std::uint64_t end = kSize;
    const std::uint64_t minus_one = UINT64_MAX;
    CHECK(call(*reader, MEMGETBADBLOCK, bytes_of(inside))->value == 0);
    CHECK(error_of(call(*reader, MEMGETBADBLOCK, bytes_of(end))) == EINVAL);
    CHECK(error_of(call(*reader, MEMGETBADBLOCK, bytes_of(minus_one))) == EINVAL);
    CHECK(error_of(call(*writer, MEMSETBADBLOCK, bytes_of(inside))) == EOPNOTSUPP);
}

TEST_CASE_METHOD(Fixture, "MTDFILEMODE takes its value, not a pointer") {
    const auto mode = [&](std::uint64_t value) {
        return error_of(reader->ioctl(MTDFILEMODE, value, {}, 0));
    };
    CHECK(mode(0) == 0);
    CHECK(mode(1) == EOPNOTSUPP);
    CHECK(mode(2) == EOPNOTSUPP);
    CHECK(mode(3) == EOPNOTSUPP);
    CHECK(mode(4) == EINVAL);
    CHECK(mode(1ULL << 32) == EINVAL);
}

TEST_CASE_METHOD(Fixture, "unknown before permission, permission before all else") {
    CHECK(error_of(call(*reader, _IO('M', 99))) == ENOTTY);
    CHECK(error_of(call(*reader, 0x5401 /* TCGETS */)) == ENOTTY);
    CHECK(error_of(call(*reader, MEMERASE + 1)) == ENOTTY);
    // The right letter and number in a wrong encoding.
    CHECK(error_of(call(*reader, _IO('M', 1))) == ENOTTY);

    const std::uint32_t dangerous[] = {
        MEMERASE,      MEMERASE64, MEMLOCK, MEMUNLOCK, MEMSETBADBLOCK, MEMWRITEOOB,
        MEMWRITEOOB64, MEMWRITE,   OTPLOCK, OTPERASE,  0xc00c4d03 /* MEMWRITEOOB of i386 */};
    for (const std::uint32_t command : kAll) {
        INFO("command 0x" << std::hex << command);
        const bool needs_write =
            std::find(std::begin(dangerous), std::end(dangerous), command) != std::end(dangerous);
        CHECK((error_of(call(*reader, command)) == EPERM) == needs_write);
        CHECK(error_of(call(*writer, command)) != EPERM);
        CHECK(error_of(call(*writer, command)) != ENOTTY);
    }
    CHECK(error_of(call(*reader, 0xc00c4d03)) == EPERM);
}

TEST_CASE_METHOD(Fixture, "what FUSE cannot carry is EOPNOTSUPP and names the remedy") {
    for (const std::uint32_t command :
         {std::uint32_t{MEMISLOCKED}, std::uint32_t{OTPSELECT}, std::uint32_t{OTPLOCK},
          std::uint32_t{OTPGETREGIONCOUNT}, std::uint32_t{OTPGETREGIONINFO},
          std::uint32_t{MEMREADOOB}, std::uint32_t{MEMREADOOB64}, std::uint32_t{MEMWRITEOOB},
          std::uint32_t{MEMWRITEOOB64}, std::uint32_t{MEMWRITE}, std::uint32_t{MEMREAD}, 0x1269U,
          0xc00c4d03U, 0xc00c4d04U, 0xc03c4d1aU}) {
        INFO("command 0x" << std::hex << command);
        const Result<IoctlReply> reply = call(*writer, command);
        REQUIRE(error_of(reply) == EOPNOTSUPP);
        CHECK_THAT(reply.error().context, Catch::Contains("mtdfuse-run"));
    }
}

TEST_CASE_METHOD(Fixture, "a structure that is cut short is EFAULT, never read past its end") {
    for (const std::uint32_t command :
         {std::uint32_t{MEMERASE}, std::uint32_t{MEMERASE64}, std::uint32_t{MEMLOCK},
          std::uint32_t{MEMUNLOCK}, std::uint32_t{MEMGETBADBLOCK}, std::uint32_t{MEMSETBADBLOCK},
          std::uint32_t{MEMGETREGIONINFO}}) {
        INFO("command 0x" << std::hex << command);
        // On the heap and exactly as long as said: a read past it is seen by AddressSanitizer.
        const std::size_t whole = (command >> 16U) & 0x3fffU;
        for (const std::size_t length : {std::size_t{0}, whole - 1}) {
            const std::vector<std::byte> in(length);
            CHECK(error_of(call(*writer, command, in)) == EFAULT);
        }
    }
    CHECK(chip.erases.empty());
    for (const std::uint32_t command : {std::uint32_t{MEMGETINFO}, std::uint32_t{ECCGETSTATS},
                                        std::uint32_t{MEMGETREGIONCOUNT}}) {
        const std::size_t whole = (command >> 16U) & 0x3fffU;
        CHECK(error_of(writer->ioctl(command, 0, {}, whole - 1)) == EFAULT);
        CHECK(error_of(writer->ioctl(command, 0, {}, whole)) == 0);
    }
}

TEST_CASE_METHOD(Fixture, "a refusal names the ioctl") {
    const erase_info_user range{1, kBlock};
    CHECK_THAT(call(*writer, MEMERASE, bytes_of(range)).error().context,
               Catch::StartsWith("MEMERASE: "));
    CHECK_THAT(call(*reader, MEMERASE64).error().context, Catch::StartsWith("MEMERASE64: "));
}

} // namespace mtdfuse::mtd
