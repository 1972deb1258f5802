#include "mounted.hpp"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fstream>
#include <set>
#include <sstream>

#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

namespace mtdfuse::fuse {

namespace {

std::string content(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// 0 or the errno of a call that returns -1.
template<class Call>
int error_of(Call call) {
    errno = 0;
    return call() < 0 ? errno : 0;
}

std::set<std::string> listing(const std::string& path) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
        names.insert(entry.path().filename());
    }
    return names;
}

} // namespace

TEST_CASE("the tree is there, with types, sizes and texts") {
    if (fuse_is_missing()) {
        return;
    }
    const Mounted mounted;
    CHECK(listing(mounted.path("")) ==
          std::set<std::string>{"mtd0", "mtd0ro", "dev", "sys", "ctl", "proc", "metrics", "stats"});
    CHECK(content(mounted.path("proc/mtd")) == "dev:    size   erasesize  name\n"
                                               "mtd0: 01000000 00010000 \"flash\"\n");
    CHECK(content(mounted.path("sys/class/mtd/mtd0/size")) == "16777216\n");
    CHECK(std::filesystem::read_symlink(mounted.path("dev/mtd0")) == "../mtd0");

    struct stat node {};
    REQUIRE(stat(mounted.path("dev/mtd0").c_str(), &node) == 0);
    CHECK(node.st_mode == (S_IFREG | 0600));
    CHECK(node.st_size == static_cast<off_t>(Mounted::kSizeBytes));
    CHECK(node.st_uid == geteuid());
    CHECK(node.st_ino == mounted.tree.at_path("mtd0")->inode);
    REQUIRE(stat(mounted.path("sys/class/mtd/mtd0/size").c_str(), &node) == 0);
    CHECK(node.st_mode == (S_IFREG | 0444));
    CHECK(node.st_size == 4096);
    REQUIRE(stat(mounted.path("").c_str(), &node) == 0);
    CHECK(node.st_mode == (S_IFDIR | 0555));
    CHECK(node.st_nlink == 2 + 5); // dev sys proc ctl stats

    DIR* directory = opendir(mounted.path("sys/class/mtd").c_str());
    REQUIRE(directory);
    std::vector<std::string> names;
    while (const dirent* entry = readdir(directory)) {
        names.emplace_back(entry->d_name);
        CHECK(entry->d_type == DT_DIR);
    }
    closedir(directory);
    CHECK(names == std::vector<std::string>{".", "..", "mtd0", "mtd0ro"});

    struct statfs statistics {};
    REQUIRE(statfs(mounted.path("").c_str(), &statistics) == 0);
    CHECK(static_cast<std::uint64_t>(statistics.f_bsize) * statistics.f_blocks ==
          Mounted::kSizeBytes);
    CHECK(statistics.f_bfree == 0);
}

TEST_CASE("an attribute is read whole in one read, and then is at its end") {
    if (fuse_is_missing()) {
        return;
    }
    const Mounted mounted;
    const UniqueFd fd = mounted.open("sys/class/mtd/mtd0/type", O_RDONLY);
    char text[64];
    CHECK(read(fd.get(), text, sizeof text) == 4);
    CHECK(read(fd.get(), text, sizeof text) == 0);
    CHECK(pread(fd.get(), text, 2, 1) == 2);
    CHECK(std::string_view(text, 2) == "am");
    CHECK(pread(fd.get(), text, 2, 100) == 0);
}

TEST_CASE("opens that the tree has no side for") {
    if (fuse_is_missing()) {
        return;
    }
    const Mounted mounted;
    const auto refused = [&](const char* path, int flags) {
        return error_of([&] { return mounted.open(path, flags).get(); });
    };
    CHECK(refused("mtd0ro", O_WRONLY) == EACCES);
    CHECK(refused("mtd0ro", O_RDWR) == EACCES);
    CHECK(refused("mtd0ro", O_RDONLY) == 0);
    CHECK(refused("sys/class/mtd/mtd0/size", O_WRONLY) == EACCES);
    CHECK(refused("ctl/mtd0/erase", O_RDONLY) == EACCES);
    CHECK(refused("ctl/mtd0/erase", O_RDWR) == EACCES);
    CHECK(refused("ctl/mtd0/erase", O_WRONLY | O_TRUNC | O_APPEND | O_CREAT) == 0);
    CHECK(refused("mtd0", O_WRONLY | O_CREAT | O_TRUNC) == 0);
    CHECK(refused("absent", O_RDONLY) == ENOENT);
}

TEST_CASE("names cannot be made, moved or removed") {
    if (fuse_is_missing()) {
        return;
    }
    const Mounted mounted;
    const auto node = mounted.path("mtd0");
    const auto other = mounted.path("other");
    CHECK(error_of([&] { return open(other.c_str(), O_CREAT | O_WRONLY, 0600); }) == EPERM);
    CHECK(error_of([&] { return mknod(other.c_str(), S_IFREG | 0600, 0); }) == EPERM);
    CHECK(error_of([&] { return mkdir(other.c_str(), 0700); }) == EPERM);
    CHECK(error_of([&] { return symlink("x", other.c_str()); }) == EPERM);
    CHECK(error_of([&] { return link(node.c_str(), other.c_str()); }) == EPERM);
    CHECK(error_of([&] { return rename(node.c_str(), other.c_str()); }) == EPERM);
    CHECK(error_of([&] { return unlink(node.c_str()); }) == EPERM);
    CHECK(error_of([&] { return rmdir(mounted.path("ctl").c_str()); }) == EPERM);
    CHECK(error_of([&] { return chmod(node.c_str(), 0644); }) == EPERM);
    CHECK(error_of([&] { return chown(node.c_str(), 1, 1); }) == EPERM);
    CHECK(error_of([&] { return setxattr(node.c_str(), "user.a", "b", 1, 0); }) == EOPNOTSUPP);
    CHECK(error_of([&] { return getxattr(node.c_str(), "user.a", nullptr, 0); }) == EOPNOTSUPP);
    CHECK(error_of([&] { return listxattr(node.c_str(), nullptr, 0); }) == EOPNOTSUPP);
    const UniqueFd fd = mounted.open("mtd0", O_RDWR);
    CHECK(error_of([&] { return fallocate(fd.get(), 0, 0, 4096); }) == ENODEV);
    CHECK(error_of([&] { return futimens(fd.get(), nullptr); }) == 0);
}

TEST_CASE("ioctls: a positive answer passes, unknown ones and other files are ENOTTY") {
    if (fuse_is_missing()) {
        return;
    }
    const Mounted mounted;
    const UniqueFd node = mounted.open("mtd0", O_RDWR);
    constexpr unsigned long kMemErase = 0x40084d02;
    constexpr unsigned long kMemIsLocked = 0x80084d17;
    std::uint32_t range[] = {Mounted::kBlockBytes, 2 * Mounted::kBlockBytes};
    CHECK(ioctl(node.get(), kMemErase, range) == 0);
    CHECK(mounted.chip.erases() == std::vector<std::uint64_t>{1, 2});
    CHECK(mounted.metric("invalidations_total") == 1);
    CHECK(error_of([&] { return ioctl(node.get(), 0x40084dff, range); }) == ENOTTY);
    CHECK(error_of([&] { return ioctl(node.get(), kMemIsLocked, range); }) == EOPNOTSUPP);
    CHECK_THAT(content(mounted.path("ctl/mtd0/last_error")), Catch::Contains("mtdfuse-run"));
    const UniqueFd attribute = mounted.open("sys/class/mtd/mtd0/size", O_RDONLY);
    CHECK(error_of([&] { return ioctl(attribute.get(), kMemErase, range); }) == ENOTTY);
    const UniqueFd directory = mounted.open("ctl", O_RDONLY | O_DIRECTORY);
    CHECK(error_of([&] { return ioctl(directory.get(), kMemErase, range); }) == ENOTTY);
    const UniqueFd reader = mounted.open("mtd0", O_RDONLY);
    CHECK(error_of([&] { return ioctl(reader.get(), kMemErase, range); }) == EPERM);
}

TEST_CASE("a thrown exception is EIO and the mount lives on") {
    if (fuse_is_missing()) {
        return;
    }
    Mounted mounted;
    const UniqueFd fd = mounted.open("mtd0", O_RDWR);
    char byte = 0;
    mounted.chip.throw_next = true;
    CHECK(error_of([&] { return pread(fd.get(), &byte, 1, 0); }) == EIO);
    CHECK(error_of([&] { return pwrite(fd.get(), &byte, 1, 0); }) == EIO);
    mounted.chip.throw_next = false;
    CHECK(pread(fd.get(), &byte, 1, 0) == 1);
    CHECK(mounted.log.lines().front().first == Severity::error);
}

TEST_CASE("an errno that FUSE cannot carry does not hang the caller") {
    if (fuse_is_missing()) {
        return;
    }
    Mounted mounted;
    const UniqueFd fd = mounted.open("mtd0", O_RDWR);
    char byte = 0;
    mounted.chip.next_errno = GENERATE(512, 524, 1000);
    CHECK(error_of([&] { return pread(fd.get(), &byte, 1, 0); }) == EIO);
}

TEST_CASE("stop ends serve with files open and without traffic") {
    if (fuse_is_missing()) {
        return;
    }
    Mounted mounted("none", GENERATE(false, true));
    const UniqueFd fd = mounted.open("mtd0", O_RDWR);
    const UniqueFd text = mounted.open("metrics", O_RDONLY);
    CHECK(mounted.metric("open_handles") == 2);
    CHECK(mounted.end());
    mounted.session.reset();
    char byte = 0;
    CHECK(error_of([&] { return pread(fd.get(), &byte, 1, 0); }) == ENOTCONN);
    CHECK(listing(mounted.path("")).empty());
}

TEST_CASE("umount ends serve with success") {
    if (fuse_is_missing()) {
        return;
    }
    Mounted mounted;
    REQUIRE(umount(mounted.path("").c_str()) == 0);
    CHECK(mounted.served.get());
}

TEST_CASE("a source of any name is shown by the kernel as it is") {
    if (fuse_is_missing()) {
        return;
    }
    const std::string source = GENERATE("/dir with space/a,b.img", "back\\slash", "\\,", "a=b#c");
    CAPTURE(source);
    const Mounted mounted(source);
    const auto mounts = read_mountinfo();
    REQUIRE(mounts);
    bool found = false;
    for (const MountEntry& entry : *mounts) {
        if (entry.mount_point + '/' == mounted.path("")) {
            found = true;
            CHECK(entry.source == source);
            CHECK(entry.fs_type == "fuse.mtdfuse");
        }
    }
    CHECK(found);
}

TEST_CASE("a mount that cannot be says why") {
    NullLog log;
    test::MemoryChip chip(65536, 4096);
    mtd::Device device(chip, 0, "flash", false);
    const tree::Tree tree(tree::Sources{{&device}, nullptr, nullptr, &log, {}});
    MountOptions options;
    options.source = "none";
    options.mount_point = "/absent/place";
    const auto absent = Session::mount(tree, options, log);
    REQUIRE_FALSE(absent);
    CHECK(absent.error().number == ENOENT);
    CHECK_THAT(absent.error().context, Catch::Contains("/absent/place"));
    options.mount_point = "/tmp";
    options.kernel_words = {"no_such_word"};
    const auto unknown = Session::mount(tree, options, log);
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().number == EINVAL);
    CHECK_THAT(unknown.error().context, Catch::Contains("no_such_word"));
}

} // namespace mtdfuse::fuse
