#include "support.hpp"

#include <cerrno>
#include <filesystem>

#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mtdfuse;
using namespace mtdfuse::storage;
using namespace mtdfuse::storage::test;

namespace {

// Access to files as an ordinary user has it, where the test runs as root.
class AsNobody {
public:
    AsNobody() : before_(::setfsuid(65534)) {}
    AsNobody(const AsNobody&) = delete;
    AsNobody& operator=(const AsNobody&) = delete;
    ~AsNobody() { ::setfsuid(static_cast<uid_t>(before_)); }

private:
    int before_;
};

Error refusal(const std::string& path, bool read_only = false) {
    NullLog log;
    return error_of(open_image(path, {.read_only = read_only}, log));
}

} // namespace

TEST_CASE("image: a file is opened for writing under its resolved name") {
    const TempDir dir;
    const std::string path = dir.path("flash.img");
    write_file(path, "first", 0, 8192);
    std::filesystem::create_directory(dir.path("sub"));
    std::filesystem::create_symlink("../flash.img", dir.path("sub/link"));
    NullLog log;
    {
        const auto image = open_image(dir.path("sub/../sub/link"), {}, log);
        REQUIRE(image);
        CHECK(image->path == std::filesystem::canonical(path));
        CHECK(image->size_bytes == 8192);
        CHECK(image->backing->size_bytes() == 8192);
        CHECK(image->backing->block_bytes() >= 512);
        CHECK_FALSE(image->read_only);
        CHECK_FALSE(image->block_device);
        REQUIRE(image->backing->write_at(ByteOffset(0), bytes_of("FIRST")));
        CHECK(error_of(image->backing->write_at(ByteOffset(8192), bytes_of("x"))).number == EINVAL);
    }
    CHECK(read_file(path) == "FIRST" + std::string(8192 - 5, '\0'));
}

TEST_CASE("image: asked for read-only, nothing can be written") {
    const TempDir dir;
    const std::string path = dir.path("flash.img");
    write_file(path, "first");
    NullLog log;
    const auto image = open_image(path, {.read_only = true}, log);
    REQUIRE(image);
    CHECK(image->read_only);
    CHECK(error_of(image->backing->write_at(ByteOffset(0), bytes_of("x"))).number == EROFS);
    CHECK(read_file(path) == "first");
}

TEST_CASE("image: what cannot be found is refused with the remedy") {
    const TempDir dir;
    const std::string absent = dir.path("absent.img");
    check_error(refusal(absent), ENOENT, {absent, "does not exist", "mtdfuse-image create"});
    CHECK_FALSE(std::filesystem::exists(absent));
    check_error(refusal(absent, true), ENOENT, {absent});

    std::filesystem::create_symlink("nowhere", dir.path("dangling"));
    check_error(refusal(dir.path("dangling")), ENOENT, {dir.path("dangling")});
    std::filesystem::create_symlink("loop", dir.path("loop"));
    check_error(refusal(dir.path("loop")), ELOOP, {dir.path("loop")});
    write_file(dir.path("file"), "x");
    check_error(refusal(dir.path("file/x")), ENOTDIR, {dir.path("file/x")});
    check_error(refusal(""), ENOENT, {"''"});
}

TEST_CASE("image: what is no file is refused, without being opened") {
    const TempDir dir;
    std::filesystem::create_directory(dir.path("folder"));
    check_error(refusal(dir.path("folder")), EISDIR,
                {dir.path("folder"), "is a directory", "regular file or a block device"});
    check_error(refusal("/dev/null"), EINVAL,
                {"'/dev/null' is a character device", "regular file or a block device"});
    // Opening a FIFO that nobody writes to would wait for ever.
    REQUIRE(::mkfifo(dir.path("fifo").c_str(), 0600) == 0);
    check_error(refusal(dir.path("fifo")), EINVAL, {dir.path("fifo"), "is a FIFO"});
    check_error(refusal(dir.path("fifo"), true), EINVAL, {dir.path("fifo"), "is a FIFO"});

    const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = dir.path("socket");
    REQUIRE(name.size() < sizeof(address.sun_path));
    name.copy(address.sun_path, name.size());
    REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) ==
            0);
    check_error(refusal(name), EINVAL, {name, "is a socket"});
}

TEST_CASE("image: an empty file is refused and stays empty") {
    const TempDir dir;
    const std::string path = dir.path("empty.img");
    write_file(path, "");
    check_error(refusal(path), EINVAL, {path, "is empty", "truncate -s", "mtdfuse-image create"});
    CHECK(std::filesystem::file_size(path) == 0);
}

TEST_CASE("image: a file that can be read but not written is refused unless asked read-only") {
    const TempDir dir;
    const std::string path = dir.path("flash.img");
    write_file(path, "first");
    REQUIRE(::chmod(path.c_str(), 0444) == 0);
    const AsNobody nobody;
    check_error(refusal(path), EACCES, {path, "can be read but not written", "--ro"});
    NullLog log;
    const auto image = open_image(path, {.read_only = true}, log);
    REQUIRE(image);
    CHECK(image->read_only);
}

TEST_CASE("image: a file that cannot even be read does not suggest --ro") {
    const TempDir dir;
    const std::string path = dir.path("flash.img");
    write_file(path, "first");
    REQUIRE(::chmod(path.c_str(), 0) == 0);
    const AsNobody nobody;
    for (const bool read_only : {false, true}) {
        const Error error = refusal(path, read_only);
        check_error(error, EACCES, {path, errno_text(EACCES)});
        CHECK_THAT(error.context, !Catch::Contains("--ro"));
    }
}

TEST_CASE("image: a program that runs is refused for writing") {
    const TempDir dir;
    const std::string path = dir.path("program");
    std::filesystem::copy_file("/bin/sleep", path);
    std::string name = path;
    std::string seconds = "1000";
    char* const arguments[] = {name.data(), seconds.data(), nullptr};
    pid_t child = 0;
    REQUIRE(::posix_spawn(&child, path.c_str(), nullptr, nullptr, arguments, environ) == 0);
    const Error error = refusal(path);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    check_error(error, ETXTBSY, {path, "--ro"});
}
