// One open file of mtdchar: access, the calls that FUSE cannot carry, close and fsync.
#include <catch2/catch.hpp>

#include <cerrno>

#include <mtdfuse/mtd.hpp>

#include "fake_chip.hpp"

namespace mtdfuse::mtd {
namespace {

constexpr std::uint64_t kSize = 1024 * 1024;
constexpr std::uint32_t kBlock = 64 * 1024;

struct Fixture {
    test::FakeChip chip{test::small_ram(kSize, kBlock)};
    Device device{chip, 3, "test", false};
    Device read_only{chip, 3, "test", true};
    std::vector<std::byte> buffer = std::vector<std::byte>(8192);

    std::span<std::byte> bytes(std::size_t count) { return std::span(buffer).first(count); }
    std::unique_ptr<OpenFile> open(Access access) {
        return std::move(OpenFile::open(device, access, false).value());
    }
};

int open_error(Device& device, Access access, bool read_only_node) {
    const auto file = OpenFile::open(device, access, read_only_node);
    return file ? 0 : file.error().number;
}

int number_of(const Status& status) {
    return status ? 0 : status.error().number;
}

} // namespace

TEST_CASE_METHOD(Fixture, "writing is refused at open on the read-only node and device") {
    for (const Access access : {Access::write, Access::read_write}) {
        CHECK(open_error(device, access, false) == 0);
        CHECK(open_error(device, access, true) == EACCES);
        CHECK(open_error(read_only, access, false) == EACCES);
    }
    CHECK(open_error(device, Access::read, true) == 0);
    CHECK(open_error(read_only, Access::read, false) == 0);
    CHECK_THAT(OpenFile::open(device, Access::write, true).error().context,
               Catch::Contains("use mtd3"));
}

TEST_CASE_METHOD(Fixture, "a file does what it was opened for") {
    CHECK(open(Access::read)->write(0, bytes(1)).error().number == EBADF);
    CHECK(open(Access::write)->read(0, bytes(1)).error().number == EBADF);
    CHECK(open(Access::read_write)->write(0, bytes(1)) == 1U);
    CHECK(open(Access::read)->read(0, bytes(1)) == 1U);
    CHECK(open(Access::write)->writable());
    CHECK_FALSE(open(Access::read)->writable());
}

TEST_CASE_METHOD(Fixture, "OOB calls of a device without OOB") {
    const auto file = open(Access::read_write);
    CHECK(file->read_oob(0, 16, bytes(16)).error().number == EINVAL);
    CHECK(file->read_oob(0, 0, {}).error().number == EOPNOTSUPP);
    CHECK(file->read_oob(0, 5000, bytes(5000)).error().number == EINVAL);
    CHECK(file->write_oob(0, bytes(16)).error().number == EOPNOTSUPP);
    CHECK(file->write_oob(kSize, bytes(16)).error().number == EOPNOTSUPP);
    CHECK(file->write_oob(0, bytes(4097)).error().number == EINVAL);
    CHECK(number_of(file->write_request({0, bytes(512), {}, 0})) == EOPNOTSUPP);
    CHECK(file->is_locked(0, kBlock).error().number == EOPNOTSUPP);

    const auto reader = open(Access::read);
    CHECK(reader->read_oob(0, 16, bytes(16)).error().number == EINVAL);
    CHECK(reader->write_oob(0, bytes(16)).error().number == EPERM);
    CHECK(number_of(reader->write_request({})) == EPERM);
}

TEST_CASE_METHOD(Fixture, "OTP of a device without OTP") {
    const auto file = open(Access::read);
    CHECK(number_of(file->otp_select(0)) == 0);
    CHECK(number_of(file->otp_select(1)) == EOPNOTSUPP);
    CHECK(number_of(file->otp_select(2)) == EOPNOTSUPP);
    CHECK(number_of(file->otp_select(9)) == EINVAL);
    CHECK(number_of(file->otp_select(-1)) == EINVAL);
    CHECK(file->otp_region_count().error().number == EINVAL);
}

TEST_CASE_METHOD(Fixture, "a writer's close writes back, fsync reaches stable storage") {
    CHECK(open(Access::read)->flush());
    CHECK(chip.syncs.empty());
    const auto writer = open(Access::write);
    CHECK(writer->flush());
    CHECK(writer->fsync());
    CHECK(open(Access::read)->fsync());
    CHECK(chip.syncs ==
          std::vector{Durability::written_back, Durability::stable, Durability::stable});
    chip.sync_failure = EIO;
    CHECK(number_of(writer->flush()) == EIO);
    CHECK(number_of(writer->fsync()) == EIO);
}

} // namespace mtdfuse::mtd
