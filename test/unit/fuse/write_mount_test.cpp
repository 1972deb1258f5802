// What arrives at the chip when programs write through a mount.

#include "mounted.hpp"

#include <cerrno>
#include <cstdlib>

#include <sys/stat.h>

namespace mtdfuse::fuse {

namespace {

bool last_error_names(const Mounted& mounted, const std::string& words) {
    return mounted.device.last_error().text().find(words) != std::string::npos;
}

} // namespace

TEST_CASE("a write from an unaligned buffer is cut at multiples of 512 KiB only") {
    if (fuse_is_missing()) {
        return;
    }
    Mounted mounted;
    const std::size_t length = GENERATE(1u << 20, 8u << 20);
    const std::size_t shift = GENERATE(0u, 16u, 4095u);
    CAPTURE(length, shift);
    std::vector<char> memory(length + 2 * 4096, 'x');
    const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
    char* const unaligned = memory.data() + (4096 - start % 4096) + shift;
    const UniqueFd fd = mounted.open("mtd0", O_RDWR);
    REQUIRE(pwrite(fd.get(), unaligned, length, 0) == static_cast<ssize_t>(length));
    std::uint64_t end = 0;
    for (const auto& call : mounted.chip.programs()) {
        CHECK(call.at_bytes == end);
        CHECK(call.length_bytes == 512 * 1024);
        end += call.length_bytes;
    }
    CHECK(end == length);
    CHECK(pread(fd.get(), unaligned, length, 0) == static_cast<ssize_t>(length));
}

TEST_CASE("a write past the end is ENOSPC, one across it is short") {
    if (fuse_is_missing()) {
        return;
    }
    const Mounted mounted;
    const UniqueFd fd = mounted.open("mtd0", O_RDWR);
    const std::vector<char> bytes(4096);
    CHECK(pwrite(fd.get(), bytes.data(), 4096, Mounted::kSizeBytes - 100) == 100);
    CHECK(pwrite(fd.get(), bytes.data(), 4096, Mounted::kSizeBytes) == -1);
    CHECK(errno == ENOSPC);
    CHECK(pread(fd.get(), std::vector<char>(16).data(), 16, Mounted::kSizeBytes) == 0);
}

TEST_CASE("O_APPEND arrives at the end of the device, also after a truncating open") {
    if (fuse_is_missing()) {
        return;
    }
    const Mounted mounted;
    if (GENERATE(false, true)) {
        REQUIRE(mounted.open("mtd0", O_WRONLY | O_TRUNC));
    }
    const UniqueFd fd = mounted.open("mtd0", O_WRONLY | O_APPEND);
    CHECK(write(fd.get(), "x", 1) == -1);
    CHECK(errno == ENOSPC);
    CHECK(mounted.chip.programs().empty());
}

TEST_CASE("truncation changes nothing, and the size stays the device's") {
    if (fuse_is_missing()) {
        return;
    }
    const Mounted mounted;
    const UniqueFd fd = mounted.open("mtd0", O_RDWR | O_TRUNC);
    struct stat attributes {};
    REQUIRE(fstat(fd.get(), &attributes) == 0);
    CHECK(attributes.st_size == static_cast<off_t>(Mounted::kSizeBytes));
    CHECK(lseek(fd.get(), 0, SEEK_END) == static_cast<off_t>(Mounted::kSizeBytes));
    CHECK(ftruncate(fd.get(), 0) == 0);
    CHECK(truncate(mounted.path("mtd0").c_str(), 100) == 0);
    REQUIRE(fstat(fd.get(), &attributes) == 0);
    CHECK(attributes.st_size == static_cast<off_t>(Mounted::kSizeBytes));
    CHECK(mounted.chip.programs().empty());
    CHECK(mounted.chip.erases().empty());
}

TEST_CASE("close of a writer writes back, close of a reader does nothing") {
    if (fuse_is_missing()) {
        return;
    }
    Mounted mounted;
    mounted.open("mtd0", O_RDONLY).reset();
    CHECK(mounted.chip.write_backs == 0);
    UniqueFd fd = mounted.open("mtd0", O_WRONLY);
    REQUIRE(fsync(fd.get()) == 0);
    CHECK(mounted.chip.stable_syncs == 1);
    fd.reset();
    CHECK(mounted.chip.write_backs == 1);
    mounted.chip.next_errno = EIO;
    const int failing = open(mounted.path("mtd0").c_str(), O_WRONLY);
    CHECK(close(failing) == -1);
    CHECK(errno == EIO);
}

TEST_CASE("a sparse copy fails at close and says what to do, once in the log") {
    if (fuse_is_missing()) {
        return;
    }
    const Mounted mounted;
    const int fd = open(mounted.path("mtd0").c_str(), O_WRONLY | O_TRUNC);
    REQUIRE(pwrite(fd, "a", 1, 0) == 1);
    REQUIRE(pwrite(fd, "b", 1, 65536) == 1);
    CHECK(close(dup(fd)) == -1);
    CHECK(errno == EIO);
    CHECK(close(fd) == -1);
    CHECK(errno == EIO);
    CHECK(last_error_names(mounted, "--sparse=never"));
    CHECK(last_error_names(mounted, "conv=sparse"));
    CHECK(mounted.log.lines().size() == 1);
}

TEST_CASE("a copy that ends in zeros fails at close, dd seek= does not") {
    if (fuse_is_missing()) {
        return;
    }
    const Mounted mounted;
    int fd = open(mounted.path("mtd0").c_str(), O_WRONLY | O_TRUNC);
    REQUIRE(pwrite(fd, "a", 1, 0) == 1);
    REQUIRE(ftruncate(fd, 65536) == 0);
    CHECK(close(fd) == -1);
    fd = open(mounted.path("mtd0").c_str(), O_WRONLY);
    REQUIRE(ftruncate(fd, 65536) == 0);
    REQUIRE(pwrite(fd, "a", 1, 65536) == 1);
    CHECK(close(fd) == 0);
}

} // namespace mtdfuse::fuse
