#include <mtdfuse/tree.hpp>

#include <catch2/catch.hpp>

#include "memory_chip.hpp"

namespace mtdfuse::tree {

namespace {

struct Fixture {
    explicit Fixture(bool read_only = false) : device(chip, 0, "block2mtd: /dev/ram0", read_only) {}

    std::string show(std::string_view path) const {
        const Node* node = tree.at_path(path);
        REQUIRE(node);
        REQUIRE(node->kind == Kind::attribute);
        REQUIRE(node->show);
        return *node->show();
    }
    std::vector<std::string> names(std::string_view path) const {
        const Node* directory = tree.at_path(path);
        REQUIRE(directory);
        std::vector<std::string> result;
        for (const Inode child : directory->children) {
            result.push_back(tree.find(child)->name);
        }
        return result;
    }

    test::MemoryChip chip{4 * 1024 * 1024, 64 * 1024};
    mtd::Device device;
    NullLog log;
    storage::IoHistogram io;
    Tree tree{Sources{{&device}, nullptr, &io, &log, [](std::vector<Metric>& into) {
                          into.push_back({"requests_total", "R.", MetricKind::counter, 3});
                      }}};
};

} // namespace

TEST_CASE("proc/mtd is the kernel's, byte for byte") {
    const Fixture fixture;
    CHECK(fixture.show("proc/mtd") == "dev:    size   erasesize  name\n"
                                      "mtd0: 00400000 00010000 \"block2mtd: /dev/ram0\"\n");
}

TEST_CASE("sysfs attributes are the kernel's, byte for byte") {
    const Fixture fixture;
    const std::vector<std::pair<std::string, std::string>> attributes = {
        {"name", "block2mtd: /dev/ram0\n"},
        {"type", "ram\n"},
        {"flags", "0x1c00\n"},
        {"size", "4194304\n"},
        {"erasesize", "65536\n"},
        {"writesize", "1\n"},
        {"subpagesize", "1\n"},
        {"oobsize", "0\n"},
        {"oobavail", "0\n"},
        {"numeraseregions", "0\n"},
        {"dev", "90:0\n"},
        {"ecc_strength", "0\n"},
        {"ecc_step_size", "0\n"},
        {"bitflip_threshold", "0\n"},
        {"corrected_bits", "0\n"},
        {"ecc_failures", "0\n"},
        {"bad_blocks", "0\n"},
        {"bbt_blocks", "0\n"},
        {"uevent", "MAJOR=90\nMINOR=0\nDEVNAME=mtd0\nDEVTYPE=mtd\n"},
    };
    std::vector<std::string> names;
    for (const auto& [name, text] : attributes) {
        CAPTURE(name);
        CHECK(fixture.show("sys/class/mtd/mtd0/" + name) == text);
        CHECK(fixture.tree.at_path("sys/class/mtd/mtd0/" + name)->permissions == 0444);
        names.push_back(name);
    }
    CHECK(fixture.names("sys/class/mtd/mtd0") == names);
    CHECK(fixture.names("sys/class/mtd/mtd0ro") == std::vector<std::string>{"dev", "uevent"});
    CHECK(fixture.show("sys/class/mtd/mtd0ro/dev") == "90:1\n");
    CHECK(fixture.show("sys/class/mtd/mtd0ro/uevent") == "MAJOR=90\nMINOR=1\nDEVNAME=mtd0ro\n");
}

TEST_CASE("the nodes, and the links to them") {
    const Fixture fixture;
    const Node* node = fixture.tree.at_path("mtd0");
    REQUIRE(node);
    CHECK(node->kind == Kind::mtd_node);
    CHECK(node->permissions == 0600);
    CHECK(node->device == &fixture.device);
    CHECK_FALSE(node->read_only_node);
    const Node* read_only = fixture.tree.at_path("mtd0ro");
    REQUIRE(read_only);
    CHECK(read_only->permissions == 0400);
    CHECK(read_only->read_only_node);
    CHECK(fixture.tree.at_path("dev/mtd0")->target == "../mtd0");
    CHECK(fixture.tree.at_path("dev/mtd0ro")->target == "../mtd0ro");
    CHECK(fixture.tree.nodes_of(fixture.device) ==
          std::vector<Inode>{node->inode, read_only->inode});
}

TEST_CASE("the node of a read-only device has no write permission") {
    const Fixture fixture(true);
    CHECK(fixture.tree.at_path("mtd0")->permissions == 0400);
    CHECK(fixture.show("sys/class/mtd/mtd0/flags") == "0x1800\n");
}

TEST_CASE("directories list what is below them") {
    const Fixture fixture;
    using Names = std::vector<std::string>;
    CHECK(fixture.names("") ==
          Names{"mtd0", "mtd0ro", "dev", "sys", "ctl", "proc", "metrics", "stats"});
    CHECK(fixture.names("ctl") == Names{"mtd0", "sync", "drop_caches", "pid"});
    CHECK(fixture.names("ctl/mtd0") == Names{"erase", "last_error"});
    CHECK(fixture.names("stats") == Names{"io", "waf"});
    const Node* erase = fixture.tree.at_path("ctl/mtd0/erase");
    CHECK(erase->permissions == 0200);
    CHECK(erase->sync_on_close);
    CHECK_FALSE(erase->show);
    CHECK(fixture.tree.find(erase->parent)->name == "mtd0");
}

TEST_CASE("what is not there is not found") {
    const Fixture fixture;
    const std::string path = GENERATE("mtd1", "mtd0/x", "sys/class/mtd/mtd0/sizes", "ctl//mtd0",
                                      "/mtd0", "dev/mtd0/x", ".");
    CAPTURE(path);
    CHECK_FALSE(fixture.tree.at_path(path));
    CHECK_FALSE(fixture.tree.find(0));
    CHECK_FALSE(fixture.tree.find(100000));
    CHECK_FALSE(fixture.tree.lookup(100000, "mtd0"));
}

TEST_CASE("further devices get their own minor numbers and directories") {
    Fixture fixture;
    mtd::Device second(fixture.chip, 1, "env", false);
    const Tree tree(Sources{{&fixture.device, &second}, nullptr, nullptr, &fixture.log, {}});
    CHECK(*tree.at_path("sys/class/mtd/mtd1/dev")->show() == "90:2\n");
    CHECK(*tree.at_path("sys/class/mtd/mtd1ro/dev")->show() == "90:3\n");
    CHECK(tree.at_path("ctl/mtd1/erase")->device == &second);
    CHECK(*tree.at_path("proc/mtd")->show() == "dev:    size   erasesize  name\n"
                                               "mtd0: 00400000 00010000 \"block2mtd: /dev/ram0\"\n"
                                               "mtd1: 00400000 00010000 \"env\"\n");
    CHECK(tree.nodes_of(second).size() == 2);
}

TEST_CASE("partitions show their size and offset, and their chip's metrics once") {
    Fixture fixture;
    mtd::Partition boot, rest;
    boot.name = "boot";
    boot.size_bytes = 128 * 1024;
    boot.read_only = true;
    rest.name = "rest";
    rest.offset_bytes = 128 * 1024;
    rest.size_bytes = 64 * 1024;
    mtd::Device first(fixture.chip, 0, boot);
    mtd::Device second(fixture.chip, 1, rest);
    const Tree tree(Sources{{&first, &second}, nullptr, nullptr, &fixture.log, {}});
    std::vector<std::string> names;
    for (const Inode child : tree.find(kRootInode)->children) {
        names.push_back(tree.find(child)->name);
    }
    CHECK(names == std::vector<std::string>{"mtd0", "mtd0ro", "dev", "sys", "ctl", "mtd1", "mtd1ro",
                                            "proc", "metrics", "stats"});
    CHECK(tree.at_path("dev/mtd1")->target == "../mtd1");
    CHECK(tree.at_path("dev/mtd1ro")->target == "../mtd1ro");
    CHECK_FALSE(tree.at_path("sys/class/mtd/mtd1ro/offset"));
    CHECK(*tree.at_path("sys/class/mtd/mtd0/offset")->show() == "0\n");
    CHECK(*tree.at_path("sys/class/mtd/mtd0/flags")->show() == "0x1800\n");
    CHECK(*tree.at_path("sys/class/mtd/mtd1/offset")->show() == "131072\n");
    CHECK(*tree.at_path("sys/class/mtd/mtd1/size")->show() == "65536\n");
    CHECK(tree.at_path("mtd0")->permissions == 0400);
    CHECK(tree.at_path("mtd1")->permissions == 0600);
    CHECK(*tree.at_path("proc/mtd")->show() == "dev:    size   erasesize  name\n"
                                               "mtd0: 00020000 00010000 \"boot\"\n"
                                               "mtd1: 00010000 00010000 \"rest\"\n");
    REQUIRE(tree.at_path("ctl/mtd1/erase")->store("all"));
    CHECK(fixture.chip.erases() == std::vector<std::uint64_t>{2});
    CHECK_FALSE(tree.at_path("ctl/mtd1/erase")->store("block 1"));
    CHECK(second.last_error().text().find("the device ends after block 0") != std::string::npos);
    CHECK(first.last_error().text().empty());
    const std::string metrics = *tree.at_path("metrics")->show();
    const std::size_t line = metrics.find("\nmtdfuse_erases_total ");
    REQUIRE(line != std::string::npos);
    CHECK(metrics.find("\nmtdfuse_erases_total ", line + 1) == std::string::npos);
    // A whole chip has no such attribute.
    CHECK_FALSE(fixture.tree.at_path("sys/class/mtd/mtd0/offset"));
}

TEST_CASE("metrics and stats come from every room") {
    Fixture fixture;
    fixture.io.record(storage::Direction::write, ByteOffset(4096), 4096);
    const std::string metrics = fixture.show("metrics");
    for (const char* line :
         {"mtdfuse_erases_total 0\n", "mtdfuse_backing_reads_total 0\n",
          "mtdfuse_backing_writes_total 1\n", "mtdfuse_backing_write_bytes_total 4096\n",
          "mtdfuse_backing_syncs_total 0\n", "mtdfuse_requests_total 3\n"}) {
        CHECK_THAT(metrics, Catch::Contains(std::string("\n") + line));
    }
    CHECK(fixture.show("stats/io") == fixture.io.io_json());
    CHECK(fixture.show("stats/waf") == fixture.io.waf_json());
}

} // namespace mtdfuse::tree
