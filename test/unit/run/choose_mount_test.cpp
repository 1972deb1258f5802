#include <catch2/catch.hpp>

#include <mtdfuse/run.hpp>

#include <cerrno>
#include <filesystem>

using namespace mtdfuse;
using namespace mtdfuse::run;
using Catch::Contains;

namespace {

std::vector<MountEntry> mounts(const std::vector<std::string>& points) {
    std::vector<MountEntry> entries{{.source = "/dev/root", .mount_point = "/", .fs_type = "ext4"},
                                    {.source = "x", .mount_point = "/other", .fs_type = "fuse"}};
    for (const std::string& point : points)
        entries.push_back({.source = "img", .mount_point = point, .fs_type = "fuse.mtdfuse"});
    return entries;
}

} // namespace

TEST_CASE("the only mount is chosen without asking") {
    CHECK(choose_mount(mounts({"/mnt/a b"}), "") == "/mnt/a b");
    CHECK(choose_mount(mounts({"/mnt/a", "/mnt/a"}), "") == "/mnt/a");
}

TEST_CASE("no mount: the ways to get one") {
    const auto none = choose_mount(mounts({}), "");
    REQUIRE_FALSE(none);
    CHECK(none.error().number == ENOENT);
    CHECK_THAT(none.error().context, Contains("mtdfuse IMAGE MOUNTPOINT"));
    const auto wanted = choose_mount(mounts({}), "/other");
    REQUIRE_FALSE(wanted);
    CHECK(wanted.error().number == ENOENT);
    CHECK_THAT(wanted.error().context, Contains("'/other'"));
}

TEST_CASE("several mounts: all are listed, and -m named") {
    const auto several = choose_mount(mounts({"/mnt/b", "/mnt/a"}), "");
    REQUIRE_FALSE(several);
    CHECK(several.error().number == EEXIST);
    CHECK_THAT(several.error().context, Contains("'/mnt/a', '/mnt/b'") && Contains("-m"));
}

TEST_CASE("the wanted mount is chosen however it is spelled") {
    const std::string here = std::filesystem::current_path().string();
    const auto table = mounts({"/mnt/none/a", here + "/none", "/usr"});
    CHECK(choose_mount(table, "/mnt/none/a") == "/mnt/none/a");
    CHECK(choose_mount(table, "/mnt/none//./b/../a/") == "/mnt/none/a");
    CHECK(choose_mount(table, "none") == here + "/none");
    CHECK(choose_mount(table, "/proc/self/root/usr") == "/usr");
    const auto other = choose_mount(table, "/mnt/none");
    REQUIRE_FALSE(other);
    CHECK(other.error().number == ENOENT);
    CHECK_THAT(other.error().context, Contains("'/mnt/none'") && Contains("'/mnt/none/a'"));
}
