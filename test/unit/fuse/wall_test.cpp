#include "wall.hpp"

#include <catch2/catch.hpp>

#include <cerrno>
#include <new>
#include <stdexcept>

#include "memory_chip.hpp"

namespace mtdfuse::fuse {

namespace {

template<class Exception>
Error caught(const Exception& exception) {
    try {
        throw exception;
    } catch (...) {
        return current_exception_error();
    }
}

} // namespace

TEST_CASE("no errno that FUSE cannot carry passes the wall") {
    CHECK(wire_errno(EINVAL) == EINVAL);
    CHECK(wire_errno(EROFS) == EROFS);
    CHECK(wire_errno(1) == 1);
    CHECK(wire_errno(511) == 511);
    CHECK(wire_errno(512) == EIO);
    CHECK(wire_errno(524) == EOPNOTSUPP);
    CHECK(wire_errno(1000) == EIO);
    CHECK(wire_errno(0) == EIO);
    CHECK(wire_errno(-EINVAL) == EIO);
}

TEST_CASE("exceptions become errnos") {
    CHECK(caught(std::bad_alloc()).number == ENOMEM);
    const Error error = caught(std::runtime_error("the reason"));
    CHECK(error.number == EIO);
    CHECK_THAT(error.context, Catch::Contains("the reason"));
    CHECK(caught(7).number == EIO);
}

TEST_CASE("a refusal is logged by whose fault it is, and kept as the device's last error") {
    test::MemoryChip chip(65536, 4096);
    mtd::Device device(chip, 3, "flash", false);
    test::KeptLog log;

    tell({EINVAL, "off the grid"}, &device, log);
    CHECK(device.last_error().text() == "off the grid");
    tell({EIO, "worn out"}, &device, log);
    CHECK(device.last_error().text() == "worn out");
    tell({ENOTTY, "no such ioctl"}, &device, log);
    CHECK(device.last_error().text() == "worn out");
    tell({EPERM, "fixed"}, nullptr, log);

    const auto lines = log.lines();
    REQUIRE(lines.size() == 4);
    CHECK(lines[0] ==
          std::pair(Severity::info, std::string("mtd3: off the grid (Invalid argument)")));
    CHECK(lines[1].first == Severity::error);
    CHECK(lines[2].first == Severity::debug);
    CHECK(lines[3] == std::pair(Severity::info, std::string("fixed (Operation not permitted)")));
}

} // namespace mtdfuse::fuse
