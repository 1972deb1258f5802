#include "support.hpp"

#include "image.hpp"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

using namespace mtdfuse;
using namespace mtdfuse::storage;
using namespace mtdfuse::storage::test;

namespace {

constexpr std::uint64_t kSizeBytes = std::uint64_t{16} << 20U;

// A volume header as it stands at the start of every UBI erase block.
std::string ubi_header() {
    return std::string("UBI#\x01\0\0\0\0\0\0\0\0\0\0\x01\0\0\x08\0\0\0\x10\0\x5e\xed\xbe\xef", 28) +
           std::string(36, '\0');
}

struct Fixture {
    Fixture() { write_file(file, "", 0, kSizeBytes); }

    [[nodiscard]] Result<Image> open(const OpenOptions& options = {}) {
        return open_image(device->path(), options, log, surroundings);
    }
    [[nodiscard]] bool make_ext4() {
        if (run_program({"mkfs.ext4", "-q", "-F", file}) == 0)
            return true;
        WARN("SKIPPED: mkfs.ext4 (package e2fsprogs) is missing");
        return false;
    }

    TempDir dir;
    std::string file = dir.path("device.img");
    ListeningLog log;
    Surroundings surroundings;
    std::unique_ptr<LoopDevice> device;
};

class Mounted {
public:
    Mounted(const std::string& device, std::string at) : at_(std::move(at)) {
        std::filesystem::create_directory(at_);
        REQUIRE(::mount(device.c_str(), at_.c_str(), "ext4", MS_RDONLY, nullptr) == 0);
    }
    Mounted(const Mounted&) = delete;
    Mounted& operator=(const Mounted&) = delete;
    ~Mounted() { ::umount(at_.c_str()); }

private:
    std::string at_;
};

} // namespace

TEST_CASE_METHOD(Fixture, "device: an unused one is an image") {
    device = LoopDevice::attach(file);
    if (!device)
        return;
    {
        const auto image = open();
        REQUIRE(image);
        CHECK(image->block_device);
        CHECK_FALSE(image->read_only);
        CHECK(image->path == device->path());
        CHECK(image->size_bytes == kSizeBytes);
        CHECK(image->backing->size_bytes() == kSizeBytes);
        CHECK(image->backing->block_bytes() >= 512);
        REQUIRE(image->backing->write_at(ByteOffset(kSizeBytes - 3), bytes_of("end")));
        REQUIRE(image->backing->sync());
        // Nobody else: neither another daemon nor a mount.
        check_error(error_of(open({.lock_wait = std::chrono::milliseconds(0)})), EBUSY,
                    {device->path(), "locked"});
        const UniqueFd other(::open(device->path().c_str(), O_RDONLY | O_EXCL | O_CLOEXEC));
        CHECK(errno == EBUSY);
        CHECK_FALSE(other);
    }
    CHECK(read_file(file).substr(kSizeBytes - 3) == "end");
    CHECK(open());
}

TEST_CASE_METHOD(Fixture, "device: one with a file system is refused and unchanged") {
    if (!make_ext4())
        return;
    device = LoopDevice::attach(file);
    if (!device)
        return;
    const std::string before = read_file(file);
    check_error(error_of(open()), EEXIST, {device->path(), "ext4 file system", "--force"});
    CHECK(read_file(file) == before);
    const auto image = open({.force = true});
    REQUIRE(image);
    CHECK(log.has(Severity::warning, "ext4 file system"));
    CHECK(read_file(file) == before);
}

TEST_CASE_METHOD(Fixture, "device: one with a partition table is refused") {
    // One entry of type 0x83 and the boot signature.
    write_file(file, std::string("\0\0\0\0\x83\0\0\0\x08\0\0\0\x10\0\0\0", 16), 446);
    write_file(file, "\x55\xaa", 510);
    device = LoopDevice::attach(file);
    if (!device)
        return;
    check_error(error_of(open()), EEXIST, {device->path(), "dos partition table", "--force"});
    CHECK(open({.force = true}));
}

TEST_CASE_METHOD(Fixture, "device: what belongs on flash is welcome") {
    std::string recognised;
    SECTION("UBI") {
        write_file(file, ubi_header());
        recognised = "ubi volume";
    }
    SECTION("squashfs") {
        std::string superblock("hsqs", 4);
        superblock.resize(96, '\0');
        superblock[28] = 4; // major version
        write_file(file, superblock);
        recognised = "squashfs file system";
    }
    SECTION("romfs") {
        write_file(file, "-rom1fs-");
        recognised = "romfs file system";
    }
    SECTION("erased") {
        write_file(file, std::string(kSizeBytes, '\xff'));
    }
    device = LoopDevice::attach(file);
    if (!device)
        return;
    const auto found = probe_signature(device->path());
    REQUIRE(found);
    CHECK(*found == recognised);
    CHECK(open());
    CHECK_FALSE(log.has(Severity::warning, ""));
}

TEST_CASE_METHOD(Fixture, "device: a mounted one is refused, with --force too") {
    if (!make_ext4())
        return;
    device = LoopDevice::attach(file);
    if (!device)
        return;
    const Mounted mounted(device->path(), dir.path("mnt"));
    for (const bool force : {false, true})
        for (const bool read_only : {false, true})
            check_error(error_of(open({.read_only = read_only, .force = force})), EBUSY,
                        {device->path(), "mounted at", dir.path("mnt"), "unmount"});
}

TEST_CASE_METHOD(Fixture, "device: one in other use is refused, with --force too") {
    device = LoopDevice::attach(file);
    if (!device)
        return;
    const UniqueFd user(::open(device->path().c_str(), O_RDONLY | O_EXCL | O_CLOEXEC));
    REQUIRE(user);
    surroundings.exclusive_wait = std::chrono::milliseconds(50);
    check_error(error_of(open({.force = true})), EBUSY, {device->path(), "in use", "lsblk"});
    SECTION("the device number names a mount whose source is spelled otherwise") {
        struct stat about {};
        REQUIRE(::stat(device->path().c_str(), &about) == 0);
        surroundings.mounts = [&] {
            return std::vector<MountEntry>{{.source = "/dev/disk/by-label/data",
                                            .mount_point = "/data",
                                            .fs_type = "ext4",
                                            .device_major = major(about.st_rdev),
                                            .device_minor = minor(about.st_rdev)}};
        };
        check_error(error_of(open()), EBUSY, {device->path(), "mounted at '/data'"});
    }
    SECTION("the source names a mount whose device number differs") {
        surroundings.mounts = [&] {
            return std::vector<MountEntry>{
                {.source = device->path(), .mount_point = "/data", .fs_type = "btrfs"}};
        };
        check_error(error_of(open()), EBUSY, {device->path(), "mounted at '/data'"});
    }
}

TEST_CASE_METHOD(Fixture, "device: exclusive use that ends a little after the lock is waited for") {
    device = LoopDevice::attach(file);
    if (!device)
        return;
    UniqueFd ending(::open(device->path().c_str(), O_RDONLY | O_EXCL | O_CLOEXEC));
    REQUIRE(ending);
    int looks = 0;
    surroundings.exclusive_wait = std::chrono::milliseconds(60000);
    surroundings.mounts = [&] {
        if (++looks == 3)
            ending.reset();
        return std::vector<MountEntry>{};
    };
    CHECK(open());
    CHECK(looks == 3);
}

TEST_CASE_METHOD(Fixture, "device: the lock of an ending daemon is waited for") {
    device = LoopDevice::attach(file);
    if (!device)
        return;
    auto ending = open();
    REQUIRE(ending);
    log.on_line = [&](const std::string&) { ending->backing.reset(); };
    CHECK(open({.lock_wait = std::chrono::milliseconds(60000)}));
    CHECK(log.has(Severity::info, device->path()));
}

TEST_CASE_METHOD(Fixture, "device: a read-only one gives a read-only image and says so") {
    write_file(file, "data");
    device = LoopDevice::attach(file, true);
    if (!device)
        return;
    const auto image = open();
    REQUIRE(image);
    CHECK(image->read_only);
    CHECK(log.has(Severity::warning, device->path()));
    std::vector<std::byte> into(4);
    REQUIRE(image->backing->read_at(ByteOffset(0), into));
    CHECK(text_of(into) == "data");
    CHECK(error_of(image->backing->write_at(ByteOffset(0), into)).number == EROFS);
}

TEST_CASE_METHOD(Fixture, "device: one without a medium is refused") {
    device = LoopDevice::attach(file);
    if (!device)
        return;
    struct stat about {};
    REQUIRE(::stat(device->path().c_str(), &about) == 0);
    // The number of the device stays valid when its file is taken away.
    const std::string node = dir.path("node");
    REQUIRE(::mknod(node.c_str(), S_IFBLK | 0600, about.st_rdev) == 0);
    device.reset();
    const Error error = error_of(open_image(node, {}, log, surroundings));
    check_error(error, EINVAL, {node, "no bytes"});
}
