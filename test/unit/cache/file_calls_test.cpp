// The cache over a real file whose system calls answer short, with EINTR or with an error: at every
// call, one by one. What succeeds is whole, what fails is told, and nothing stays held.
#include <unistd.h>

#include <fcntl.h>
#include <sys/mman.h>

#include "fixture.hpp"

namespace mtdfuse::cache {

namespace {

enum class Answer { short_transfer, interrupted, no_space, io_error };

struct Plan {
    Answer answer;
    bool sticky;
    std::uint64_t nth;
    std::uint64_t calls = 0;
    std::uint64_t answered = 0;

    bool now() {
        ++calls;
        // An answer that lets nothing through may not be the last word.
        const bool due = calls == nth || (sticky && calls > nth && calls % 2 == nth % 2);
        answered += due ? 1 : 0;
        return due;
    }
    [[nodiscard]] bool fails() const {
        return answer == Answer::no_space || answer == Answer::io_error;
    }
};

class PlannedCalls final : public storage::FileCalls {
public:
    explicit PlannedCalls(Plan& plan) : plan_(plan) {}

    ssize_t read_once(int fd, void* into, std::size_t length_bytes, off_t at) override {
        if (!plan_.now())
            return FileCalls::read_once(fd, into, length_bytes, at);
        if (plan_.answer == Answer::short_transfer)
            return FileCalls::read_once(fd, into, (length_bytes + 1) / 2, at);
        return refuse();
    }
    ssize_t write_once(int fd, const iovec* segments, int count, off_t at) override {
        if (!plan_.now())
            return FileCalls::write_once(fd, segments, count, at);
        if (plan_.answer != Answer::short_transfer)
            return refuse();
        iovec half = segments[0];
        half.iov_len = (half.iov_len + 1) / 2;
        return FileCalls::write_once(fd, &half, 1, at);
    }
    int sync_once(int fd) override {
        if (!plan_.now() || plan_.answer == Answer::short_transfer)
            return FileCalls::sync_once(fd);
        return refuse();
    }

private:
    int refuse() {
        errno = plan_.answer == Answer::interrupted ? EINTR
                : plan_.answer == Answer::no_space  ? ENOSPC
                                                    : EIO;
        return -1;
    }
    Plan& plan_;
};

constexpr std::uint64_t kSize = 12 * kFolio + 700;

UniqueFd memory_file() {
    UniqueFd fd(::memfd_create("mtdfuse-test", MFD_CLOEXEC));
    const std::vector<std::byte> bytes(kSize, std::byte{0x5a});
    REQUIRE(::write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(kSize));
    return fd;
}

// Everything once, over more than fits; what of it failed.
std::uint64_t work_on(Mapping& mapping) {
    std::uint64_t failed = 0;
    const auto count = [&](const auto& result) { failed += result ? 0 : 1; };
    std::vector<std::byte> buffer(3 * kFolio);
    for (std::uint64_t at = 0; at < 12 * kFolio; at += 3 * kFolio) {
        count(mapping.read(ByteOffset(at + 7), std::span(buffer).first(2 * kFolio)));
        count(write(mapping, at + 99, filled(kFolio + 50, 0x33)));
        count(write(mapping, at + kFolio, filled(kFolio, 0x0f), Combine::and_bits));
        count(mapping.fill_ff(ByteOffset(at + 2 * kFolio - 1), kFolio + 1));
    }
    ErrorCursor cursor = mapping.error_cursor();
    count(mapping.sync(Durability::stable, cursor));
    return failed;
}

std::vector<std::byte> expected() {
    auto bytes = filled(kSize, 0x5a);
    for (std::uint64_t at = 0; at < 12 * kFolio; at += 3 * kFolio) {
        const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        std::fill_n(from + 99, kFolio + 50, std::byte{0x33});
        for (std::uint64_t i = kFolio; i < 2 * kFolio; ++i)
            from[static_cast<std::ptrdiff_t>(i)] &= std::byte{0x0f};
        std::fill_n(from + 2 * kFolio - 1, kFolio + 1, std::byte{0xff});
    }
    return bytes;
}

} // namespace

TEST_CASE("short transfers, EINTR, ENOSPC and EIO at every system call") {
    const auto answer =
        GENERATE(Answer::short_transfer, Answer::interrupted, Answer::no_space, Answer::io_error);
    const bool sticky = GENERATE(false, true);
    std::uint64_t met = 0;
    for (std::uint64_t nth = 1;; ++nth) {
        INFO("answer " << static_cast<int>(answer) << " at call " << nth << ", sticky " << sticky);
        Plan plan{answer, sticky, nth};
        UniqueFd file = memory_file();
        const UniqueFd same(::dup(file.get()));
        CacheUnderTest under(4);
        Mapping& mapping =
            *under.cache
                 ->map(storage::make_file_backing(std::move(file), kSize, 4096,
                                                  std::make_unique<PlannedCalls>(plan)))
                 .value();
        const std::uint64_t failed = work_on(mapping);
        const bool answered = plan.answered > 0;
        plan.nth = UINT64_MAX;
        plan.sticky = false;
        REQUIRE(under.leaks() == "");
        REQUIRE(Inspector::allocated_bytes(mapping) <= under.cache->resident_bytes());
        if (!plan.fails())
            REQUIRE(failed == 0);
        // What failed is done again; then all of it is in the file.
        if (failed > 0)
            REQUIRE(work_on(mapping) <= 1); // the sync may tell of an error that is over
        static_cast<void>(sync(mapping));
        REQUIRE(sync(mapping));
        std::vector<std::byte> bytes(kSize);
        REQUIRE(::pread(same.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(kSize));
        REQUIRE((bytes == expected()));
        if (!answered)
            break;
        ++met;
    }
    CHECK(met > 20);
}

TEST_CASE("256 MiB of dirt in random order: a hundredth of the system calls that folios need") {
    struct CountingCalls final : storage::FileCalls {
        explicit CountingCalls(Counter& to) : calls(to) {}
        ssize_t write_once(int fd, const iovec* segments, int count, off_t at) override {
            calls.add(2); // and the look whether the file is as long as it was
            return FileCalls::write_once(fd, segments, count, at);
        }
        int start_write_out_once(int, off_t, off_t) override {
            calls.add();
            return 0;
        }
        int sync_once(int) override {
            calls.add();
            return 0;
        }
        Counter& calls;
    };
    constexpr std::uint64_t kFolios = 65536;
    Counter calls;
    UniqueFd file(::memfd_create("mtdfuse-test", MFD_CLOEXEC));
    REQUIRE(::ftruncate(file.get(), kFolios * kFolio) == 0);
    CacheUnderTest under(2 * kFolios);
    Mapping& mapping =
        *under.cache
             ->map(storage::make_file_backing(std::move(file), kFolios * kFolio, 4096,
                                              std::make_unique<CountingCalls>(calls)))
             .value();
    const auto bytes = filled(kFolio, 0x01);
    for (std::uint64_t i = 0; i < kFolios; ++i) // an odd factor visits all of them
        REQUIRE(write(mapping, i * 40503 % kFolios * kFolio, bytes));
    CHECK(calls.value() == 0);
    ErrorCursor cursor = mapping.error_cursor();
    REQUIRE(mapping.sync(Durability::stable, cursor));
    CHECK(calls.value() <= kFolios / 100);
    CHECK(mapping.dirty_bytes() == 0);
}

} // namespace mtdfuse::cache
