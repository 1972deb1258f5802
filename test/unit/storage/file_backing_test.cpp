#include "support.hpp"

#include "file_backing.hpp"
#include "range.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <deque>

#include <fcntl.h>
#include <unistd.h>

using namespace mtdfuse;
using namespace mtdfuse::storage;
using namespace mtdfuse::storage::test;

namespace {

using Segment = std::span<const std::byte>;

// What the kernel answers to the next calls: at most so many bytes, or a negated errno.
struct Script {
    std::deque<long> answers;
    std::vector<int> counts; // iovec entries of each write
    unsigned calls = 0;

    // Limit for the next call; nothing when it must fail, with errno set.
    std::optional<std::size_t> next(std::size_t wanted) {
        ++calls;
        if (answers.empty())
            return wanted;
        const long answer = answers.front();
        answers.pop_front();
        if (answer < 0) {
            errno = static_cast<int>(-answer);
            return std::nullopt;
        }
        return std::min(wanted, static_cast<std::size_t>(answer));
    }
};

class ScriptedCalls final : public FileCalls {
public:
    explicit ScriptedCalls(Script& script) : script_(script) {}

    ssize_t read_once(int fd, void* into, std::size_t length_bytes, off_t at) override {
        const auto limit = script_.next(length_bytes);
        return limit ? FileCalls::read_once(fd, into, *limit, at) : -1;
    }

    ssize_t write_once(int fd, const iovec* segments, int count, off_t at) override {
        script_.counts.push_back(count);
        std::vector<std::byte> all;
        for (int i = 0; i < count; ++i) {
            const auto* const start = static_cast<const std::byte*>(segments[i].iov_base);
            all.insert(all.end(), start, start + segments[i].iov_len);
        }
        const auto limit = script_.next(all.size());
        return limit ? ::pwrite(fd, all.data(), *limit, at) : -1;
    }

    int sync_once(int fd) override { return script_.next(0) ? FileCalls::sync_once(fd) : -1; }

private:
    Script& script_;
};

UniqueFd open_at(const std::string& path, int access = O_RDWR) {
    UniqueFd fd(::open(path.c_str(), access | O_CLOEXEC));
    REQUIRE(fd);
    return fd;
}

std::unique_ptr<Backing> scripted(const std::string& path, std::uint64_t size_bytes,
                                  Script& script) {
    return make_file_backing(FileHandles{UniqueFd(), open_at(path)}, size_bytes, 4096,
                             std::make_unique<ScriptedCalls>(script));
}

} // namespace

TEST_CASE("file: what is written is in the file and reads back") {
    const TempDir dir;
    const std::string path = dir.path("image");
    write_file(path, "0123456789");
    const auto backing = make_file_backing(open_at(path), 10, 512);
    CHECK(backing->size_bytes() == 10);
    CHECK(backing->block_bytes() == 512);
    REQUIRE(backing->write_at(ByteOffset(8), bytes_of("AB")));
    const auto ab = bytes_of("cde");
    const auto f = bytes_of("f");
    const std::array<Segment, 4> segments = {Segment(), ab, Segment(), f};
    REQUIRE(backing->write_vector_at(ByteOffset(2), segments));
    REQUIRE(backing->sync());
    CHECK(read_file(path) == "01cdef67AB");
    std::vector<std::byte> into(10);
    REQUIRE(backing->read_at(ByteOffset(0), into));
    CHECK(text_of(into) == "01cdef67AB");
    REQUIRE(backing->read_at(ByteOffset(10), std::span(into).first(0)));
}

TEST_CASE("file: a range past the end is EINVAL, however the sum overflows, and changes nothing") {
    const TempDir dir;
    const std::string path = dir.path("image");
    write_file(path, "0123456789");
    const auto backing = make_file_backing(open_at(path), 10, 512);
    auto two = bytes_of("XY");
    const std::array<Segment, 2> twice = {two, two};
    for (const std::uint64_t at : {std::uint64_t{9}, std::uint64_t{11}, UINT64_MAX - 1, UINT64_MAX,
                                   std::uint64_t{1} << 63U}) {
        CAPTURE(at);
        check_error(error_of(backing->read_at(ByteOffset(at), two)), EINVAL, {"10 bytes"});
        check_error(error_of(backing->write_at(ByteOffset(at), two)), EINVAL, {"10 bytes"});
        check_error(error_of(backing->write_vector_at(ByteOffset(at), twice)), EINVAL,
                    {"4 bytes at", "10 bytes"});
    }
    CHECK(error_of(backing->write_vector_at(ByteOffset(7), twice)).number == EINVAL);
    CHECK(read_file(path) == "0123456789");
}

TEST_CASE("range: no length is so large that the sum wraps to a valid end") {
    CHECK(error_of(check_range(ByteOffset(5), UINT64_MAX, 10)).number == EINVAL);
    CHECK(error_of(check_range(ByteOffset(5), UINT64_MAX - 4, 10)).number == EINVAL);
    CHECK(check_range(ByteOffset(5), 5, 10));
    CHECK(check_range(ByteOffset(0), UINT64_MAX, UINT64_MAX));
}

TEST_CASE("file: short reads and EINTR are continued") {
    const TempDir dir;
    const std::string path = dir.path("image");
    write_file(path, "0123456789");
    Script script;
    script.answers = {3, -EINTR, 1, -EINTR, -EINTR};
    std::vector<std::byte> into(8);
    REQUIRE(scripted(path, 10, script)->read_at(ByteOffset(1), into));
    CHECK(text_of(into) == "12345678");
    CHECK(script.calls == 6);
}

TEST_CASE("file: short writes and EINTR are continued across segments") {
    const TempDir dir;
    const std::string path = dir.path("image");
    write_file(path, std::string(12, '.'));
    const auto abc = bytes_of("abc");
    const auto de = bytes_of("de");
    const auto fghi = bytes_of("fghi");
    const std::array<Segment, 5> segments = {abc, Segment(), de, fghi, Segment()};
    // Ends inside the first, at the end of the second, inside the third.
    const std::deque<long> answers =
        GENERATE(std::deque<long>{}, std::deque<long>{2, -EINTR, 3, 1},
                 std::deque<long>{3, 2, -EINTR}, std::deque<long>(9, 1));
    Script script;
    script.answers = answers;
    REQUIRE(scripted(path, 12, script)->write_vector_at(ByteOffset(1), segments));
    CHECK(read_file(path) == ".abcdefghi..");
    CHECK(script.counts.front() == 3);
}

TEST_CASE("file: more segments than the kernel takes are split, and no further") {
    const TempDir dir;
    const std::string path = dir.path("image");
    constexpr std::size_t kCount = 2 * IOV_MAX + 1;
    std::string expected(kCount, '\0');
    for (std::size_t i = 0; i < kCount; ++i)
        expected[i] = static_cast<char>(i % 251);
    const auto bytes = bytes_of(expected);
    std::vector<Segment> segments;
    for (const std::byte& byte : bytes)
        segments.emplace_back(&byte, 1);
    write_file(path, "", 0, kCount);
    SECTION("as told") {
        Script script;
        REQUIRE(scripted(path, kCount, script)->write_vector_at(ByteOffset(0), segments));
        CHECK(script.counts == std::vector<int>{IOV_MAX, IOV_MAX, 1});
    }
    SECTION("as the kernel takes it") {
        const auto backing = make_file_backing(open_at(path), kCount, 512);
        REQUIRE(backing->write_vector_at(ByteOffset(0), segments));
    }
    CHECK(read_file(path) == expected);
}

TEST_CASE("file: errors of the system calls come back with errno, path and place") {
    const TempDir dir;
    const std::string path = dir.path("image");
    write_file(path, "0123456789");
    Script script;
    const auto backing = scripted(path, 10, script);
    std::vector<std::byte> bytes(4);
    script.answers = {2, -EIO};
    check_error(error_of(backing->read_at(ByteOffset(3), bytes)), EIO, {path, "read", "byte 5"});
    script.answers = {-ENOSPC};
    check_error(error_of(backing->write_at(ByteOffset(3), bytes)), ENOSPC,
                {path, "write", "byte 3", errno_text(ENOSPC)});
    script.answers = {1, 0};
    check_error(error_of(backing->write_at(ByteOffset(3), bytes)), EIO, {path, "byte 4"});
    script.answers = {-EINTR, -EIO};
    check_error(error_of(backing->sync()), EIO, {path, "sync"});
    script.answers = {-EINTR};
    script.calls = 0;
    CHECK(backing->sync());
    CHECK(script.calls == 2);
}

TEST_CASE("file: an image that was shortened in use is EIO and stays short") {
    const TempDir dir;
    const std::string path = dir.path("image");
    write_file(path, "0123456789");
    const auto backing = make_file_backing(open_at(path), 10, 512);
    REQUIRE(::truncate(path.c_str(), 6) == 0);
    std::vector<std::byte> into(10);
    check_error(error_of(backing->read_at(ByteOffset(0), into)), EIO,
                {path, "shortened", "before byte 7", "10 bytes"});
    CHECK(backing->read_at(ByteOffset(0), std::span(into).first(6)));
    check_error(error_of(backing->write_at(ByteOffset(8), bytes_of("x"))), EIO,
                {path, "shortened", "10 bytes"});
    CHECK(read_file(path) == "012345");
}

TEST_CASE("file: a write through a read-only descriptor is EROFS") {
    const TempDir dir;
    const std::string path = dir.path("image");
    write_file(path, "0123456789");
    const auto backing = make_file_backing(open_at(path, O_RDONLY), 10, 512);
    check_error(error_of(backing->write_at(ByteOffset(0), bytes_of("x"))), EROFS, {path});
    CHECK(backing->sync());
    CHECK(read_file(path) == "0123456789");
}
