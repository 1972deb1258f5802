#include <mtdfuse/tree.hpp>

#include <catch2/catch.hpp>

#include <cerrno>

#include <unistd.h>

#include "memory_chip.hpp"

namespace mtdfuse::tree {

namespace {

struct Fixture {
    explicit Fixture(bool read_only = false) : device(chip, 0, "flash", read_only) {}

    Result<Stored> store(std::string_view path, std::string_view text) const {
        const Node* node = tree.at_path(path);
        REQUIRE(node);
        REQUIRE(node->store);
        return node->store(text);
    }
    std::string show(std::string_view path) const {
        const Node* node = tree.at_path(path);
        REQUIRE(node);
        REQUIRE(node->show);
        return *node->show();
    }

    test::MemoryChip chip{16 * 65536, 65536};
    mtd::Device device;
    test::KeptLog log;
    Tree tree{Sources{{&device}, nullptr, nullptr, &log, {}}};
};

} // namespace

TEST_CASE("a write to erase erases, and says whose bytes changed") {
    Fixture fixture;
    const auto stored = fixture.store("ctl/mtd0/erase", "block 2 3\n");
    REQUIRE(stored);
    CHECK(stored->changed_flash == &fixture.device);
    CHECK(fixture.chip.erases() == std::vector<std::uint64_t>{2, 3, 4});
    CHECK(fixture.show("ctl/mtd0/last_error").empty());
    CHECK(fixture.log.lines().empty());
}

TEST_CASE("all and all skip-bad erase every block") {
    Fixture fixture;
    REQUIRE(fixture.store("ctl/mtd0/erase", "all"));
    CHECK(fixture.chip.erases().size() == 16);
    REQUIRE(fixture.store("ctl/mtd0/erase", "all skip-bad"));
    CHECK(fixture.chip.erases().size() == 32);
}

TEST_CASE("a refused erase changes nothing, is logged once and kept in last_error") {
    Fixture fixture;
    const std::string text = GENERATE("garbage", "1 65536", "0 65537", "0 2M", "2M 64K",
                                      "0xffffffffffff0000 0x20000", "block 16");
    CAPTURE(text);
    const auto stored = fixture.store("ctl/mtd0/erase", text);
    REQUIRE_FALSE(stored);
    CHECK(stored.error().number == EINVAL);
    CHECK(fixture.chip.erases().empty());
    CHECK(fixture.show("ctl/mtd0/last_error") == stored.error().context + '\n');
    const auto lines = fixture.log.lines();
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].first == Severity::warning);
    CHECK(lines[0].second == "ctl/mtd0/erase: " + stored.error().context);
}

TEST_CASE("a command longer than a page is refused") {
    Fixture fixture;
    const auto stored = fixture.store("ctl/mtd0/erase", "all" + std::string(4094, ' '));
    REQUIRE_FALSE(stored);
    CHECK(stored.error().number == EINVAL);
    CHECK(fixture.chip.erases().empty());
    CHECK(fixture.store("ctl/mtd0/erase", "all" + std::string(4093, ' ')));
}

TEST_CASE("an erase that meets a failing block stops there with EIO") {
    Fixture fixture;
    fixture.chip.fail_at_block = 3;
    const std::string text = GENERATE("all", "all skip-bad");
    const auto stored = fixture.store("ctl/mtd0/erase", text);
    REQUIRE_FALSE(stored);
    CHECK(stored.error().number == EIO);
    CHECK(fixture.chip.erases() == std::vector<std::uint64_t>{0, 1, 2});
}

TEST_CASE("nothing of a read-only device is erased") {
    Fixture fixture(true);
    const auto stored = fixture.store("ctl/mtd0/erase", "all");
    REQUIRE_FALSE(stored);
    CHECK(stored.error().number == EROFS);
    CHECK_THAT(stored.error().context, Catch::Contains("read-only"));
    CHECK(fixture.chip.erases().empty());
}

TEST_CASE("sync and drop_caches put everything on stable storage, whatever is written") {
    Fixture fixture;
    const std::string text = GENERATE("1\n", "", "anything at all");
    REQUIRE(fixture.store("ctl/sync", text));
    CHECK(fixture.chip.stable_syncs == 1);
    CHECK(fixture.chip.drops == 0);
    REQUIRE(fixture.store("ctl/drop_caches", text));
    CHECK(fixture.chip.stable_syncs == 2);
    CHECK(fixture.chip.drops == 1);
}

TEST_CASE("a failing sync is told") {
    Fixture fixture;
    fixture.chip.next_errno = EIO;
    const auto stored = fixture.store("ctl/sync", "1");
    REQUIRE_FALSE(stored);
    CHECK(stored.error().number == EIO);
    CHECK(fixture.show("ctl/mtd0/last_error") == stored.error().context + '\n');
    CHECK(fixture.log.lines().size() == 1);
}

TEST_CASE("partitions are synced once, a failure is logged once and kept with each of them") {
    Fixture fixture;
    mtd::Device second(fixture.chip, 1, "env", false);
    const Tree tree(Sources{{&fixture.device, &second}, nullptr, nullptr, &fixture.log, {}});
    REQUIRE(tree.at_path("ctl/sync")->store("1"));
    CHECK(fixture.chip.stable_syncs == 1);
    REQUIRE(tree.at_path("ctl/drop_caches")->store("1"));
    CHECK(fixture.chip.stable_syncs == 2);
    CHECK(fixture.chip.drops == 1);
    fixture.chip.next_errno = EIO;
    CHECK_FALSE(tree.at_path("ctl/sync")->store("1"));
    CHECK(fixture.log.lines().size() == 1);
    CHECK_FALSE(fixture.device.last_error().text().empty());
    CHECK(second.last_error().text() == fixture.device.last_error().text());
}

TEST_CASE("a read-only partition says what can make it so") {
    test::MemoryChip chip{16 * 65536, 65536};
    test::KeptLog log;
    mtd::Partition part;
    part.name = "boot";
    part.size_bytes = 65536;
    part.read_only = true;
    mtd::Device device(chip, 0, part);
    const Tree tree(Sources{{&device}, nullptr, nullptr, &log, {}});
    const auto stored = tree.at_path("ctl/mtd0/erase")->store("all");
    REQUIRE_FALSE(stored);
    CHECK(stored.error().number == EROFS);
    CHECK_THAT(stored.error().context, Catch::Contains("--parts"));
    CHECK(chip.erases().empty());
}

TEST_CASE("pid is the process") {
    const Fixture fixture;
    CHECK(fixture.show("ctl/pid") == std::to_string(getpid()) + '\n');
}

} // namespace mtdfuse::tree
