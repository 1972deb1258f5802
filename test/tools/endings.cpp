// endings NODE IMAGE PROMISE SEED OPERATIONS - a load whose daemon may end under it, and what the
// image must hold afterwards.
//
// Four threads, each with an open NODE and erase blocks of its own, write (1 to 8 blocks of 4 KiB,
// each filled with one stamp), erase and fsync until a call fails or OPERATIONS are done. Then the
// program prints "ended", waits for a line on stdin (the daemon has ended), and looks at IMAGE.
// PROMISE is what each block of IMAGE must hold:
//   acknowledged  what the last successful call left; where a call failed, that or the call's
//   synced        what the last fsync found, or anything written since
// and nothing but one whole stamp. Exit status 0 if so; else 1, with SEED and the first fault.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <algorithm>
#include <fcntl.h>
#include <mtd/mtd-user.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace {

constexpr std::size_t kBlockBytes = 4096;
constexpr std::size_t kMostBlocks = 8; // of one write
constexpr unsigned kThreads = 4;

using Stamp = std::uint64_t;
constexpr Stamp kErased = ~Stamp{0};
using Block = std::array<Stamp, kBlockBytes / sizeof(Stamp)>;

// What a block may hold. `since_sync` begins with what the last fsync found and ends with what was
// sent last; `acknowledged` is the number of those that were answered with success.
struct Expected {
    std::vector<Stamp> since_sync;
    std::size_t acknowledged = 1;

    void send(Stamp stamp) { since_sync.push_back(stamp); }
    void answer() { acknowledged = since_sync.size(); }
    void sync() {
        since_sync.erase(since_sync.begin(), since_sync.end() - 1);
        acknowledged = 1;
    }
    [[nodiscard]] bool allows(Stamp stamp, bool only_acknowledged) const {
        const auto from = since_sync.begin() +
                          (only_acknowledged ? static_cast<std::ptrdiff_t>(acknowledged) - 1 : 0);
        return std::find(from, since_sync.end(), stamp) != since_sync.end();
    }
};

struct Counts {
    std::atomic<std::uint64_t> writes{0}, erases{0}, syncs{0}, failed{0};
};

// The blocks of IMAGE as they are; false, with a message, where one is no whole stamp.
bool stamps_of(const std::string& image, std::vector<Stamp>& stamps) {
    std::ifstream file(image, std::ios::binary);
    Block block;
    while (file.read(reinterpret_cast<char*>(block.data()), kBlockBytes)) {
        const auto other = std::find_if(block.begin(), block.end(),
                                        [&](Stamp stamp) { return stamp != block.front(); });
        if (other != block.end()) {
            std::cout << image << ": the block at " << stamps.size() * kBlockBytes << " holds "
                      << std::hex << block.front() << " and " << *other << std::dec << "\n";
            return false;
        }
        stamps.push_back(block.front());
    }
    return true;
}

class Load {
public:
    Load(std::string node, std::uint64_t seed, std::uint64_t operations,
         std::vector<Expected>& blocks, Counts& counts)
        : node_(std::move(node)), seed_(seed), operations_(operations), blocks_(blocks),
          counts_(counts) {}

    // The work of one thread; ends at the first call that fails.
    void run(unsigned thread) const {
        const int fd = open(node_.c_str(), O_RDWR);
        mtd_info_user info{};
        if (fd < 0 || ioctl(fd, MEMGETINFO, &info) != 0) {
            if (fd >= 0)
                close(fd);
            ++counts_.failed;
            return;
        }
        std::mt19937_64 random(seed_ * kThreads + thread);
        const std::size_t in_erase_block = info.erasesize / kBlockBytes;
        const std::size_t erase_blocks = blocks_.size() / in_erase_block;
        const std::size_t own = erase_blocks / kThreads;
        bool good = true;
        for (std::uint64_t i = 0; good && i < operations_; ++i) {
            const std::size_t first = (random() % own * kThreads + thread) * in_erase_block;
            const std::uint64_t what = random() % 64;
            if (what == 0) {
                good = sync(fd, thread, in_erase_block);
            } else if (what < 8) {
                good = erase(fd, first, in_erase_block);
            } else {
                const std::size_t at = random() % in_erase_block;
                const std::size_t count = 1 + random() % std::min(kMostBlocks, in_erase_block - at);
                // Different in each round, thread and operation.
                good = write(fd, first + at, count, (seed_ << 48) + (Stamp{thread} << 40) + i);
            }
        }
        if (!good)
            ++counts_.failed;
        close(fd);
    }

private:
    [[nodiscard]] bool write(int fd, std::size_t first, std::size_t count, Stamp stamp) const {
        std::array<Block, kMostBlocks> bytes;
        for (std::size_t i = 0; i < count; ++i) {
            bytes[i].fill(stamp);
            blocks_[first + i].send(stamp);
        }
        const ssize_t wanted = static_cast<ssize_t>(count * kBlockBytes);
        if (pwrite(fd, bytes.data(), count * kBlockBytes,
                   static_cast<off_t>(first * kBlockBytes)) != wanted)
            return false;
        for (std::size_t i = 0; i < count; ++i)
            blocks_[first + i].answer();
        ++counts_.writes;
        return true;
    }

    [[nodiscard]] bool erase(int fd, std::size_t first, std::size_t count) const {
        for (std::size_t i = 0; i < count; ++i)
            blocks_[first + i].send(kErased);
        erase_info_user64 range{first * kBlockBytes, count * kBlockBytes};
        if (ioctl(fd, MEMERASE64, &range) != 0)
            return false;
        for (std::size_t i = 0; i < count; ++i)
            blocks_[first + i].answer();
        ++counts_.erases;
        return true;
    }

    [[nodiscard]] bool sync(int fd, unsigned thread, std::size_t in_erase_block) const {
        if (fsync(fd) != 0)
            return false;
        for (std::size_t i = 0; i < blocks_.size(); ++i)
            if (i / in_erase_block % kThreads == thread)
                blocks_[i].sync();
        ++counts_.syncs;
        return true;
    }

    std::string node_;
    std::uint64_t seed_;
    std::uint64_t operations_;
    std::vector<Expected>& blocks_; // each used by one thread only
    Counts& counts_;
};

} // namespace

int main(int argc, char** argv) {
    const std::string promise = argc == 6 ? argv[3] : "";
    if (promise != "acknowledged" && promise != "synced") {
        std::cerr << "usage: endings NODE IMAGE acknowledged|synced SEED OPERATIONS\n";
        return 2;
    }
    const std::string image = argv[2];
    std::vector<Stamp> stamps;
    if (!stamps_of(image, stamps))
        return 1;
    std::vector<Expected> blocks(stamps.size());
    for (std::size_t i = 0; i < blocks.size(); ++i)
        blocks[i].send(stamps[i]);

    Counts counts;
    const std::string seed = argv[4];
    const Load load(argv[1], std::stoull(seed), std::stoull(argv[5]), blocks, counts);
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < kThreads; ++thread)
        threads.emplace_back([&, thread] { load.run(thread); });
    for (std::thread& thread : threads)
        thread.join();
    std::cout << "ended: " << counts.writes << " writes, " << counts.erases << " erases, "
              << counts.syncs << " syncs, " << counts.failed << " failed" << std::endl;

    std::string line;
    std::getline(std::cin, line);
    stamps.clear();
    if (!stamps_of(image, stamps))
        return 1;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (blocks[i].allows(stamps.at(i), promise == "acknowledged"))
            continue;
        std::cout << "seed " << seed << ": the block at " << i * kBlockBytes << " holds "
                  << std::hex << stamps[i] << ", allowed:";
        for (const Stamp stamp : blocks[i].since_sync)
            std::cout << " " << stamp;
        std::cout << std::dec << " (" << blocks[i].acknowledged << " answered)\n";
        return 1;
    }
    return 0;
}
