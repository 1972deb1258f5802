// The mtdparts syntax, where partitions come to lie, and that nothing done through one reaches
// another.
#include <catch2/catch.hpp>

#include <cerrno>
#include <cstring>
#include <random>

#include <mtd/mtd-user.h>
#include <sys/ioctl.h>

#include <mtdfuse/mtd.hpp>

#include "fake_chip.hpp"

namespace mtdfuse::mtd {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

constexpr std::uint64_t kBlock = 65536;
constexpr std::uint64_t kSize = 16 * kBlock;

const chip::Geometry kGeometry = test::small_ram(kSize, kBlock);

std::vector<Partition> placed(std::string_view text) {
    const auto specs = parse_partitions(text);
    INFO(text);
    REQUIRE(specs);
    const auto parts = place_partitions(*specs, kGeometry);
    REQUIRE(parts);
    return *parts;
}

std::string place_refusal(std::string_view text) {
    const auto specs = parse_partitions(text);
    INFO(text);
    REQUIRE(specs);
    const auto parts = place_partitions(*specs, kGeometry);
    REQUIRE_FALSE(parts);
    CHECK(parts.error().number == EINVAL);
    return parts.error().context;
}

template<class T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

// The ways to erase: the call itself, and what the ioctls make of it.
bool erased(unsigned way, OpenFile& file, std::uint64_t at, std::uint64_t length) {
    switch (way) {
    case 0:
        return file.device().erase(at, length).has_value();
    case 1: {
        const erase_info_user range{static_cast<std::uint32_t>(at),
                                    static_cast<std::uint32_t>(length)};
        return file.ioctl(MEMERASE, 0, bytes_of(range), 0).has_value();
    }
    default: {
        const erase_info_user64 range{at, length};
        return file.ioctl(MEMERASE64, 0, bytes_of(range), 0).has_value();
    }
    }
}

} // namespace

TEST_CASE("partitions are read as mtdparts writes them") {
    struct Case {
        std::string_view text, name;
        std::uint64_t offset, size;
        bool read_only;
    };
    const Case cases[] = {
        {"-", "Partition_000", 0, kSize, false},
        {"64K", "Partition_000", 0, kBlock, false},
        {"64k(a b)", "a b", 0, kBlock, false},
        {"64KiB(boot)ro", "boot", 0, kBlock, true},
        {"64Kro", "Partition_000", 0, kBlock, true},
        {"0x10000@0x20000(env)", "env", 2 * kBlock, kBlock, false},
        {"65536@128k(a,b+c)", "a,b+c", 2 * kBlock, kBlock, false},
        {"-@64K(rest)ro", "rest", kBlock, kSize - kBlock, true},
        {"64K(a)lk", "a", 0, kBlock, false},
        {"64Krolk", "Partition_000", 0, kBlock, true},
        {"64K@0x10000", "Partition_000", kBlock, kBlock, false},
    };
    for (const Case& c : cases) {
        INFO(c.text);
        const auto parts = placed(c.text);
        REQUIRE(parts.size() == 1);
        CHECK(parts[0].name == c.name);
        CHECK(parts[0].offset_bytes == c.offset);
        CHECK(parts[0].size_bytes == c.size);
        CHECK(parts[0].read_only == c.read_only);
        CHECK(parts[0].on_grid);
    }
}

TEST_CASE("a partition follows the one before, after a comma or a plus") {
    for (const std::string_view text :
         {"128K(boot),64K@256K,-(rootfs)", "128K(boot)+64K@256K+-(rootfs)"}) {
        const auto parts = placed(text);
        REQUIRE(parts.size() == 3);
        CHECK(parts[1].name == "Partition_001");
        CHECK(parts[1].offset_bytes == 4 * kBlock);
        CHECK(parts[2].offset_bytes == 5 * kBlock);
        CHECK(parts[2].size_bytes == kSize - 5 * kBlock);
    }
    // An earlier place may come later.
    CHECK(placed("64K@64K(b),64K@0(a)")[1].offset_bytes == 0);
}

TEST_CASE("a list that mtdparts cannot be is refused with the syntax") {
    for (const std::string_view text : {"",          ",",          "64K,",
                                        "64K,,64K",  "(boot)",     "@0",
                                        "64K@",      "64K@(a)",    "64K(a",
                                        "64K()",     "64K)",       "64K(a)rw",
                                        "64K(a)ro,", "64K(a)lkro", "64K(a)slc",
                                        "64K(a)@0",  "-@",         "--",
                                        "64K@-1",    " 64K",       "64K;mtd1:64K",
                                        "-5",        "+64K",       "64K 64K",
                                        "0x",        "64Q",        "99999999999999999999",
                                        "mtd0:64K",  "64K(a\nb)",  "64K(a\"b)",
                                        "0(a)",      "0",          "-,64K",
                                        "-(a),-(b)"}) {
        INFO(text);
        const auto specs = parse_partitions(text);
        REQUIRE_FALSE(specs);
        CHECK(specs.error().number == EINVAL);
        CHECK_FALSE(specs.error().context.empty());
    }
    CHECK_THAT(parse_partitions("64K(a)rw").error().context,
               Contains("'rw' does not continue partition \"a\"") &&
                   Contains("256K(boot),64K(env)ro,-(rootfs)"));
    CHECK_THAT(parse_partitions("64K,99999999999999999999(b)").error().context,
               Contains("the size of a partition: '99999999999999999999' is too large"));
    CHECK_THAT(parse_partitions("64K,64K(a\"b)").error().context, StartsWith("partition 1: "));
    CHECK_THAT(parse_partitions("-(a),64K").error().context,
               Contains("nothing can follow \"a\", which takes the rest"));
}

TEST_CASE("partitions past the end or over each other are refused with both values") {
    CHECK_THAT(place_refusal("1M(a),64K(b)"),
               Contains("\"b\" begins at 0x100000") && Contains("ends at 0x100000"));
    CHECK_THAT(place_refusal("2M(big)"),
               Contains("\"big\" (0x200000 bytes at 0x0)") && Contains("room for 1M"));
    CHECK_THAT(place_refusal("0xffffffffffffffff@64K(a)"), Contains("room for 960K"));
    CHECK_THAT(place_refusal("64K@0xffffffffffffffff(a)"), Contains("\"a\" begins at"));
    CHECK_THAT(place_refusal("128K(a),64K@64K(b)"),
               Contains("\"a\" (0x20000 bytes at 0x0)") &&
                   Contains("\"b\" (0x10000 bytes at 0x10000) overlap"));
    CHECK_THAT(place_refusal("64K@64K(a),128K@0(b)"), Contains("overlap"));
    CHECK_THAT(place_refusal("64K@64K(a),-@0(b)"), Contains("\"a\"") && Contains("\"b\""));
    CHECK_THAT(place_refusal("128K@64K(a),128K@64K(a)"), Contains("overlap"));
    CHECK_THAT(place_refusal("1M(a),-(b)"), Contains("ends at"));
}

TEST_CASE("a partition smaller than one erase block is refused") {
    CHECK_THAT(place_refusal("64K(a),32K(b)"),
               Contains("\"b\" (0x8000 bytes at 0x10000) is smaller than one erase block") &&
                   Contains("64K or more"));
    CHECK_THAT(place_refusal("0xffff(a)"), Contains("\"a\" (0xffff bytes"));
    CHECK_THAT(place_refusal("1000K(a),-(b)"), Contains("\"b\" (0x6000 bytes"));
}

TEST_CASE("a partition off the erase-block grid is read-only") {
    const auto parts = placed("96K(a),64K(b),-(c)");
    for (const Partition& part : parts) {
        CHECK(part.read_only);
        CHECK_FALSE(part.on_grid);
    }
    const auto half = placed("64K(a),100K(b)");
    CHECK_FALSE(half[0].read_only);
    CHECK(half[1].read_only);
}

TEST_CASE("a device on a partition ends where the partition does") {
    test::FakeChip chip(kGeometry, std::byte{0x5a});
    Device device(chip, 1, placed("128K(a),64K(b),-(c)")[1]);
    std::vector<std::byte> buffer(2 * kBlock, std::byte{1});
    CHECK(device.name() == "b");
    CHECK(device.offset_bytes() == 2 * kBlock);
    CHECK(device.geometry().size_bytes == kBlock);
    CHECK(device.geometry().block_count() == 1);

    CHECK(device.write(kBlock - 16, buffer) == 16U);
    CHECK(chip.bytes[3 * kBlock - 17] == std::byte{0x5a});
    CHECK(chip.bytes[3 * kBlock - 16] == std::byte{1});
    CHECK(chip.bytes[3 * kBlock] == std::byte{0x5a});
    CHECK(device.write(kBlock, buffer).error().number == ENOSPC);
    CHECK(device.read(kBlock - 16, buffer) == 16U);
    CHECK(device.read(kBlock, buffer) == 0U);
    CHECK(device.erase(kBlock, kBlock).error().number == EINVAL);
    CHECK(device.erase(0, 2 * kBlock).error().number == EINVAL);
    CHECK(device.erase(0, UINT64_MAX).error().number == EINVAL);
    CHECK(device.block_is_bad(kBlock).error().number == EINVAL);
    CHECK(chip.erases.empty());
    CHECK(device.erase(0, kBlock));
    CHECK(chip.erases == std::vector<test::FakeChip::Erase>{{2, 1}});

    Device whole(chip, 0, "whole", false);
    CHECK_FALSE(whole.offset_bytes());
}

TEST_CASE("the ioctls of a partition know its size, not the chip's") {
    test::FakeChip chip(kGeometry, std::byte{0x5a});
    const auto parts = placed("128K(a),64K(b)ro,-(c)");
    Device middle(chip, 1, parts[1]);
    Device last(chip, 2, parts[2]);
    CHECK(OpenFile::open(middle, Access::read_write, false).error().number == EACCES);
    const auto reader = std::move(OpenFile::open(middle, Access::read, false).value());
    const auto writer = std::move(OpenFile::open(last, Access::read_write, false).value());

    mtd_info_user info{};
    const auto answer = reader->ioctl(MEMGETINFO, 0, {}, sizeof info);
    REQUIRE(answer);
    std::memcpy(&info, answer->out.data(), sizeof info);
    CHECK(info.size == kBlock);
    CHECK(info.erasesize == kBlock);
    CHECK((info.flags & MTD_WRITEABLE) == 0);
    int regions = -1;
    const auto count = reader->ioctl(MEMGETREGIONCOUNT, 0, {}, sizeof regions);
    REQUIRE(count);
    std::memcpy(&regions, count->out.data(), sizeof regions);
    CHECK(regions == 0);
    const erase_info_user own{0, kBlock};
    CHECK(reader->ioctl(MEMERASE, 0, bytes_of(own), 0).error().number == EPERM);

    // Inside the chip, but past the partition.
    const std::uint64_t size = kSize - 3 * kBlock;
    for (const std::uint64_t at : {size, kSize - kBlock, UINT64_MAX - kBlock + 1}) {
        const erase_info_user64 range{at, kBlock};
        CHECK(writer->ioctl(MEMERASE64, 0, bytes_of(range), 0).error().number == EINVAL);
        CHECK(writer->ioctl(MEMGETBADBLOCK, 0, bytes_of(at), 0).error().number == EINVAL);
    }
    // To where the offset on the chip would wrap to its begin.
    const erase_info_user64 wraps{UINT64_MAX - 3 * kBlock + 1, kBlock};
    CHECK(writer->ioctl(MEMERASE64, 0, bytes_of(wraps), 0).error().number == EINVAL);
    for (const unsigned long command : {MEMLOCK, MEMUNLOCK}) {
        CHECK(writer->ioctl(static_cast<std::uint32_t>(command), 0, bytes_of(own), 0)
                  .error()
                  .number == EOPNOTSUPP);
    }
    CHECK(chip.erases.empty());
    CHECK(writer->ioctl(MEMERASE, 0, bytes_of(own), 0));
    CHECK(chip.erases == std::vector<test::FakeChip::Erase>{{3, 1}});
}

TEST_CASE("model: what is done through one partition reaches no other") {
    const auto seed = static_cast<unsigned>(std::random_device()());
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const auto below = [&](std::uint64_t limit) { return random() % limit; };

    test::FakeChip chip(kGeometry, std::byte{0x5a});
    std::vector<std::byte> model = chip.bytes;
    // A gap at the begin, one between, one at the end; two neighbours; a read-only one.
    const auto parts = placed("128K@64K(a),64K(b),64K@320K(c)ro,256K(d),64K@768K(e)");
    std::vector<std::unique_ptr<Device>> devices;
    std::vector<std::unique_ptr<OpenFile>> files;
    for (const Partition& part : parts) {
        devices.push_back(
            std::make_unique<Device>(chip, static_cast<unsigned>(devices.size()), part));
        const Access access = part.read_only ? Access::read : Access::read_write;
        files.push_back(std::move(OpenFile::open(*devices.back(), access, false).value()));
    }
    std::uint64_t writes = 0, erases = 0, refusals = 0;
    for (int step = 0; step < 20000; ++step) {
        const std::size_t which = below(devices.size());
        Device& device = *devices[which];
        const Partition& part = parts[which];
        // Up to a third past the end, so that every bound is met.
        const std::uint64_t at = below(part.size_bytes + part.size_bytes / 3);
        const auto place = model.begin() + static_cast<std::ptrdiff_t>(part.offset_bytes + at);
        if (below(2) == 0) {
            std::vector<std::byte> bytes(1 + below(3000), static_cast<std::byte>(random()));
            const auto written = device.write(at, bytes);
            const bool right = at < part.size_bytes && !part.read_only;
            REQUIRE(written.has_value() == right);
            if (!right) {
                ++refusals;
                continue;
            }
            REQUIRE(*written == std::min<std::uint64_t>(bytes.size(), part.size_bytes - at));
            std::copy_n(bytes.begin(), *written, place);
            ++writes;
        } else {
            const std::uint64_t block = at / kBlock * kBlock;
            const std::uint64_t length = (1 + below(3)) * kBlock;
            const bool right = block + length <= part.size_bytes && !part.read_only;
            const auto way = static_cast<unsigned>(below(3));
            INFO("way " << way << ", mtd" << which << ", erase of " << length << " at " << block);
            REQUIRE(erased(way, *files[which], block, length) == right);
            // Whether a block is bad, asked of the file, has the same end.
            REQUIRE(files[which]->ioctl(MEMGETBADBLOCK, 0, bytes_of(at), 0).has_value() ==
                    (at < part.size_bytes));
            if (!right) {
                ++refusals;
                continue;
            }
            const auto start =
                model.begin() + static_cast<std::ptrdiff_t>(part.offset_bytes + block);
            std::fill_n(start, length, std::byte{0xff});
            ++erases;
        }
        std::vector<std::byte> back(1 + below(3000));
        const auto got = device.read(at, back);
        REQUIRE(got);
        REQUIRE(std::equal(back.begin(), back.begin() + static_cast<std::ptrdiff_t>(*got), place));
        if (step % 100 == 0)
            REQUIRE(chip.bytes == model);
    }
    CHECK(chip.bytes == model);
    CHECK((writes > 1000 && erases > 1000 && refusals > 1000));
}

} // namespace mtdfuse::mtd
