#include <catch2/catch.hpp>

#include <mtdfuse/base.hpp>

using namespace mtdfuse;

TEST_CASE("mountinfo lines give source, place, type and device") {
    const auto mounts = parse_mountinfo(
        "36 35 98:3 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\n"
        "40 35 0:41 / /a\\040b\\134c rw,nosuid - fuse.mtdfuse /img\\011x rw,user_id=0\n");
    REQUIRE(mounts.size() == 2);
    CHECK(mounts[0].source == "/dev/root");
    CHECK(mounts[0].mount_point == "/mnt2");
    CHECK(mounts[0].fs_type == "ext3");
    CHECK(mounts[0].device_major == 98);
    CHECK(mounts[0].device_minor == 3);
    CHECK(mounts[1].mount_point == "/a b\\c");
    CHECK(mounts[1].source == "/img\tx");
    CHECK(mounts[1].fs_type == "fuse.mtdfuse");
}

TEST_CASE("a line that is cut short does no harm") {
    CHECK(parse_mountinfo("").empty());
    CHECK(parse_mountinfo("36 35\n").front().fs_type.empty());
    CHECK(parse_mountinfo("36 35 98:0 / /m rw - ext3").front().source.empty());
}

TEST_CASE("the machine's own mounts have absolute places and types") {
    const auto mounts = read_mountinfo();
    REQUIRE(mounts);
    // In a chroot the root itself need not be among them.
    CHECK_FALSE(mounts->empty());
    for (const MountEntry& mount : *mounts) {
        CHECK(mount.mount_point.starts_with('/'));
        CHECK_FALSE(mount.fs_type.empty());
    }
}
