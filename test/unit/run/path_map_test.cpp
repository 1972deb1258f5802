#include <mtdfuse/run.hpp>

#include <catch2/catch.hpp>

using namespace mtdfuse;
using run::path_in_mount;

TEST_CASE("paths of MTD devices lead to the mount") {
    const auto [path, below] = GENERATE(table<std::string, std::string>({
        {"/dev/mtd0", "mtd0"},
        {"/dev/mtd0ro", "mtd0ro"},
        {"/dev//mtd12", "mtd12"},
        {"//dev/./mtd0", "mtd0"},
        {"/tmp/../dev/mtd0", "mtd0"},
        {"/../dev/mtd0", "mtd0"},
        {"/sys/class/mtd", "sys/class/mtd"},
        {"/sys/class/mtd/", "sys/class/mtd"},
        {"/sys/class/mtd//mtd0/size", "sys/class/mtd/mtd0/size"},
        {"/sys/class/mtd/mtd0/../mtd1/name", "sys/class/mtd/mtd1/name"},
        {"/proc/mtd", "proc/mtd"},
        {"/proc//mtd", "proc/mtd"},
    }));
    CHECK(path_in_mount(path) == below);
}

TEST_CASE("no name of a real flash device is left over") {
    for (const std::string name : {"mtd", "mtd7", "mtd0rw", "mtdblock0", "mtd/0", "mtdr0"})
        CHECK(path_in_mount("/dev/" + name) == name);
}

TEST_CASE("all other paths are left alone") {
    for (const std::string_view path :
         {"", "/", "/dev", "/dev/", "/dev/sda", "/dev/xmtd0", "/tmp/mtd0", "/dev/mtd0/..",
          "/dev/../mtd0", "/sys/class", "/sys/class/mtdx", "/sys/class/ubi", "/proc/mtdx",
          "/proc/mtd/x", "/proc/self/mtd", "/sys/class/mtd/..", "/a/dev/mtd0"}) {
        INFO(path);
        CHECK_FALSE(path_in_mount(path));
    }
}
