// Erases through a mount: the control file, and what readers see afterwards.

#include "mounted.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <sys/ioctl.h>
#include <sys/sendfile.h>

namespace mtdfuse::fuse {

namespace {

// What sendfile, which reads through the page cache, finds at an offset.
int byte_by_sendfile(const UniqueFd& from, off_t at) {
    const UniqueFd sink(open("/tmp", O_TMPFILE | O_RDWR, 0600));
    if (sendfile(sink.get(), from.get(), &at, 1) != 1) {
        return -1;
    }
    unsigned char byte = 0;
    return pread(sink.get(), &byte, 1, 0) == 1 ? byte : -1;
}

ssize_t command(const Mounted& mounted, const std::string& text) {
    const UniqueFd fd = mounted.open("ctl/mtd0/erase", O_WRONLY | O_TRUNC);
    return write(fd.get(), text.data(), text.size());
}

// Ends the process where a deadlock would hang it.
class Watchdog {
public:
    Watchdog() : thread_([this] { watch(); }) {}
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
    ~Watchdog() {
        done_ = true;
        thread_.join();
    }

private:
    void watch() const {
        for (int tenths = 0; tenths < 600 && !done_; ++tenths) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
        if (!done_) {
            std::fputs("a request has waited for a minute: deadlock\n", stderr);
            std::_Exit(1);
        }
    }
    std::atomic<bool> done_{false};
    std::thread thread_;
};

} // namespace

TEST_CASE("every write to a control file is one command") {
    if (fuse_is_missing()) {
        return;
    }
    const Mounted mounted;
    const UniqueFd fd = mounted.open("ctl/mtd0/erase", O_WRONLY);
    REQUIRE(write(fd.get(), "block 1\n", 8) == 8);
    REQUIRE(write(fd.get(), "block 3\n", 8) == 8);
    REQUIRE(pwrite(fd.get(), "block 5", 7, 123456) == 7);
    CHECK(mounted.chip.erases() == std::vector<std::uint64_t>{1, 3, 5});
}

TEST_CASE("a refused command is an errno, told once, and changes nothing") {
    if (fuse_is_missing()) {
        return;
    }
    const Mounted mounted;
    const std::string text =
        GENERATE(std::string("garbage"), std::string("block 1\nblock 2\n"), std::string(1, '\0'),
                 std::string(5000, ' '), std::string(600 * 1024, ' '), std::string("block 99999"));
    CHECK(command(mounted, text) == -1);
    CHECK(errno == EINVAL);
    CHECK(mounted.chip.erases().empty());
    CHECK(mounted.log.lines().size() == 1);
    CHECK_FALSE(mounted.device.last_error().text().empty());
}

TEST_CASE("closing a control file that wrote leaves nothing dirty") {
    if (fuse_is_missing()) {
        return;
    }
    const Mounted mounted;
    mounted.open("ctl/mtd0/erase", O_WRONLY).reset();
    CHECK(mounted.chip.write_backs == 0);
    REQUIRE(command(mounted, "all") == 3);
    CHECK(mounted.chip.write_backs == 1);
}

TEST_CASE("sendfile sees an erase, by ioctl and by control file, on both nodes") {
    if (fuse_is_missing()) {
        return;
    }
    const Mounted mounted;
    const UniqueFd node = mounted.open("mtd0", O_RDWR);
    const UniqueFd read_only = mounted.open("mtd0ro", O_RDONLY);
    CHECK(byte_by_sendfile(node, 0) == 0);
    CHECK(byte_by_sendfile(read_only, 0) == 0);
    if (GENERATE(false, true)) {
        REQUIRE(command(mounted, "block 0") == 7);
    } else {
        std::uint32_t range[] = {0, Mounted::kBlockBytes};
        REQUIRE(ioctl(node.get(), 0x40084d02, range) == 0);
    }
    CHECK(byte_by_sendfile(node, 0) == 0xff);
    CHECK(byte_by_sendfile(read_only, 0) == 0xff);
}

TEST_CASE("sendfile sees the blocks that an erase which failed half way has erased") {
    if (fuse_is_missing()) {
        return;
    }
    Mounted mounted;
    mounted.chip.fail_at_block = 1;
    const UniqueFd node = mounted.open("mtd0", O_RDWR);
    CHECK(byte_by_sendfile(node, 0) == 0);
    if (GENERATE(false, true)) {
        CHECK(command(mounted, "block 0 2") == -1);
    } else {
        std::uint32_t range[] = {0, 2 * Mounted::kBlockBytes};
        CHECK(ioctl(node.get(), 0x40084d02, range) == -1);
    }
    CHECK(errno == EIO);
    CHECK(byte_by_sendfile(node, 0) == 0xff);
}

TEST_CASE("sendfile sees a write through the other node, every time") {
    if (fuse_is_missing()) {
        return;
    }
    const Mounted mounted;
    const UniqueFd node = mounted.open("mtd0", O_RDWR);
    const UniqueFd read_only = mounted.open("mtd0ro", O_RDONLY);
    for (int value = 1; value < 20; ++value) {
        const auto byte = static_cast<unsigned char>(value);
        REQUIRE(pwrite(node.get(), &byte, 1, 100) == 1);
        REQUIRE(byte_by_sendfile(read_only, 100) == value);
        REQUIRE(byte_by_sendfile(node, 100) == value);
    }
    CHECK(mounted.metric("invalidations_total") > 0);
}

TEST_CASE("writes cost no invalidation where nobody reads through the page cache") {
    if (fuse_is_missing()) {
        return;
    }
    const Mounted mounted;
    const UniqueFd node = mounted.open("mtd0", O_RDWR);
    const UniqueFd read_only = mounted.open("mtd0ro", O_RDONLY);
    char byte = 0;
    for (int i = 0; i < 10; ++i) {
        REQUIRE(pread(read_only.get(), &byte, 1, 0) == 1);
        REQUIRE(pwrite(node.get(), &byte, 1, 0) == 1);
    }
    CHECK(mounted.metric("invalidations_total") == 0);
}

TEST_CASE(
    "erases, writes and readers of every kind do not deadlock, and nobody reads stale bytes") {
    if (fuse_is_missing()) {
        return;
    }
    const Watchdog watchdog;
    Mounted mounted("none", GENERATE(false, true));
    std::atomic<bool> done{false};
    std::atomic<unsigned> reads{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 6; ++i) {
        readers.emplace_back([&mounted, &done, &reads, i] {
            const UniqueFd fd = mounted.open(i % 2 ? "mtd0" : "mtd0ro", O_RDONLY);
            std::vector<char> bytes(256 * 1024);
            while (!done) {
                const off_t at = (i % 3) * 65536;
                const bool good = i < 3 ? byte_by_sendfile(fd, at) >= 0
                                        : pread(fd.get(), bytes.data(), bytes.size(), at) > 0;
                reads += good ? 1 : 0;
            }
        });
    }
    const UniqueFd node = mounted.open("mtd0", O_RDWR);
    unsigned stale = 0;
    for (int i = 0; i < 300; ++i) {
        const char byte = 1;
        REQUIRE(pwrite(node.get(), &byte, 1, 65536) == 1);
        stale += byte_by_sendfile(node, 65536) == 1 ? 0 : 1;
        std::uint32_t range[] = {0, 4 * Mounted::kBlockBytes};
        REQUIRE(ioctl(node.get(), 0x40084d02, range) == 0);
        stale += byte_by_sendfile(node, 65536) == 0xff ? 0 : 1;
    }
    // Ends in the middle of it: the readers' calls must come back.
    std::thread eraser([&mounted, &done] {
        while (!done) {
            command(mounted, "block 0 4");
        }
    });
    CHECK(mounted.end());
    mounted.session.reset();
    done = true;
    eraser.join();
    for (std::thread& reader : readers) {
        reader.join();
    }
    CHECK(stale == 0);
    CHECK(reads > 0);
}

} // namespace mtdfuse::fuse
