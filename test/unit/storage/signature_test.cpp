#include "support.hpp"

#include <cerrno>

using namespace mtdfuse;
using namespace mtdfuse::storage;
using namespace mtdfuse::storage::test;

namespace {

constexpr std::uint64_t kSizeBytes = std::uint64_t{4} << 20U;

std::string found_in(const std::string& path) {
    const auto found = probe_signature(path);
    REQUIRE(found);
    return *found;
}

} // namespace

TEST_CASE("signature: plain files, by what is in them") {
    const TempDir dir;
    const std::string path = dir.path("image");
    write_file(path, "", 0, kSizeBytes);
    CHECK(found_in(path).empty());

    SECTION("romfs") {
        write_file(path, "-rom1fs-");
        CHECK(found_in(path) == "romfs file system");
    }
    SECTION("swap") {
        write_file(path, std::string("\x01\0\0\0\xff\x03\0\0", 8), 1024);
        write_file(path, "SWAPSPACE2", 4086);
        CHECK(found_in(path) == "swap area");
    }
    SECTION("LUKS") {
        write_file(path, std::string("LUKS\xba\xbe\0\x01", 8));
        CHECK(found_in(path) == "crypto_LUKS encrypted volume");
    }
    SECTION("partitions") {
        write_file(path, std::string("\0\0\0\0\x83\0\0\0\x08\0\0\0\x10\0\0\0", 16), 446);
        write_file(path, "\x55\xaa", 510);
        CHECK(found_in(path) == "dos partition table");
    }
    SECTION("two at once") {
        write_file(path, "-rom1fs-");
        write_file(path, std::string("\x01\0\0\0\xff\x03\0\0", 8), 1024);
        write_file(path, "SWAPSPACE2", 4086);
        CHECK(found_in(path) == "several signatures");
    }
    SECTION("erased flash") {
        write_file(path, std::string(kSizeBytes, '\xff'));
        CHECK(found_in(path).empty());
    }
}

TEST_CASE("signature: ext4 as mkfs makes it") {
    const TempDir dir;
    const std::string path = dir.path("image");
    write_file(path, "", 0, kSizeBytes);
    if (run_program({"mkfs.ext4", "-q", "-F", path}) != 0) {
        WARN("SKIPPED: mkfs.ext4 (package e2fsprogs) is missing");
        return;
    }
    CHECK(found_in(path) == "ext4 file system");
}

TEST_CASE("signature: an empty file holds nothing, an absent one is an error") {
    const TempDir dir;
    write_file(dir.path("empty"), "");
    CHECK(found_in(dir.path("empty")).empty());
    check_error(error_of(probe_signature(dir.path("absent"))), ENOENT, {dir.path("absent")});
}
