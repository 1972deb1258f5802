#include "support.hpp"

#include "image.hpp"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mtdfuse;
using namespace mtdfuse::storage;
using namespace mtdfuse::storage::test;

namespace {

// Long enough that only a defect reaches it.
constexpr std::chrono::milliseconds kLong{60000};
constexpr std::chrono::milliseconds kNone{0};

struct Fixture {
    Fixture() { write_file(path, "first"); }

    [[nodiscard]] Result<Image> open(bool read_only, std::chrono::milliseconds wait) {
        return open_image(path, {.read_only = read_only, .lock_wait = wait}, log, surroundings);
    }

    TempDir dir;
    std::string path = std::filesystem::canonical(dir.path(".")).string() + "/flash.img";
    ListeningLog log;
    Surroundings surroundings{.mounts = [] { return std::vector<MountEntry>{}; }};
};

UniqueFd lock_file(const std::string& path) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(fd);
    REQUIRE(::flock(fd.get(), LOCK_EX | LOCK_NB) == 0);
    return fd;
}

MountEntry mount(const std::string& source, const std::string& type) {
    return {.source = source, .mount_point = "/mnt/flash", .fs_type = type};
}

} // namespace

TEST_CASE_METHOD(Fixture, "lock: one writer, or any number of readers") {
    {
        const auto writer = open(false, kNone);
        REQUIRE(writer);
        check_error(error_of(open(false, kNone)), EBUSY, {path, "locked", "fuser"});
        check_error(error_of(open(true, kNone)), EBUSY, {path, "locked"});
    }
    {
        const auto reader = open(true, kNone);
        REQUIRE(reader);
        CHECK(open(true, kNone));
        check_error(error_of(open(false, kNone)), EBUSY, {path, "locked"});
    }
    CHECK(open(false, kNone));
}

TEST_CASE_METHOD(Fixture, "lock: a start waits for a process that ends") {
    int said[2];
    int heard[2];
    REQUIRE(::pipe2(said, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(heard, O_CLOEXEC) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
        char letter = ::flock(fd, LOCK_EX | LOCK_NB) == 0 ? 'y' : 'n';
        ssize_t moved = ::write(said[1], &letter, 1);
        moved = ::read(heard[0], &letter, 1);
        ::_exit(moved == 1 ? 0 : 1);
    }
    char letter = 0;
    REQUIRE(::read(said[0], &letter, 1) == 1);
    REQUIRE(letter == 'y');
    log.on_line = [&](const std::string&) { CHECK(::write(heard[1], "x", 1) == 1); };
    const auto image = open(false, kLong);
    REQUIRE(image);
    CHECK(log.has(Severity::info, path));
    CHECK(image->backing->write_at(ByteOffset(0), bytes_of("x")));
    int status = 0;
    CHECK(::waitpid(child, &status, 0) == child);
    for (const int fd : {said[0], said[1], heard[0], heard[1]})
        ::close(fd);
}

TEST_CASE_METHOD(Fixture, "lock: the size is taken after the wait") {
    UniqueFd holder = lock_file(path);
    log.on_line = [&](const std::string&) {
        write_file(path, "longer", 100);
        holder.reset();
    };
    const auto image = open(false, kLong);
    REQUIRE(image);
    CHECK(image->size_bytes == 106);
}

TEST_CASE_METHOD(Fixture, "lock: held without a visible mount, the wait ends in EBUSY") {
    const UniqueFd holder = lock_file(path);
    // A mount of another image or type is no reason to give up early.
    surroundings.mounts = [&] {
        return std::vector<MountEntry>{mount(path, "ext4"), mount(path + "2", "fuse.mtdfuse")};
    };
    check_error(error_of(open(false, std::chrono::milliseconds(50))), EBUSY,
                {path, "50 ms", "fuser -v"});
    CHECK(log.has(Severity::info, "waiting"));
}

TEST_CASE_METHOD(Fixture, "lock: held by a daemon whose mount is seen, refused at once") {
    const UniqueFd holder = lock_file(path);
    surroundings.mounts = [&] { return std::vector<MountEntry>{mount(path, "fuse.mtdfuse")}; };
    check_error(error_of(open(false, kLong)), EBUSY, {path, "/mnt/flash", "fusermount3 -u"});
    CHECK_FALSE(log.has(Severity::info, "waiting"));
}

TEST_CASE_METHOD(Fixture, "lock: a mount that appears during the wait ends it") {
    const UniqueFd holder = lock_file(path);
    int looks = 0;
    surroundings.mounts = [&] {
        return ++looks < 3 ? std::vector<MountEntry>{}
                           : std::vector<MountEntry>{mount(path, "fuse.mtdfuse")};
    };
    check_error(error_of(open(false, kLong)), EBUSY, {path, "/mnt/flash"});
    CHECK(looks == 3);
}

TEST_CASE_METHOD(Fixture, "lock: a stale mount whose daemon is gone does not stand in the way") {
    surroundings.mounts = [&] { return std::vector<MountEntry>{mount(path, "fuse.mtdfuse")}; };
    CHECK(open(false, kNone));
}

TEST_CASE_METHOD(Fixture, "lock: a mount table that cannot be read is said") {
    const UniqueFd holder = lock_file(path);
    surroundings.mounts = [] { return fail(EACCES, "no table"); };
    check_error(error_of(open(false, kLong)), EACCES, {"no table"});
}
