#include "sparse_guard.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <mtdfuse/base.hpp>

namespace mtdfuse::fuse {

namespace {

constexpr std::uint64_t kDevice = 1 << 20;

bool has_hole_at(const SparseGuard& guard, std::uint64_t at, std::uint64_t length) {
    const auto hole = guard.first_hole();
    return hole && hole->at_bytes == at && hole->length_bytes == length;
}

} // namespace

TEST_CASE("writes into a device leave no gap, wherever they are") {
    SparseGuard guard(kDevice);
    guard.wrote(4096, 512);
    guard.wrote(kDevice - 1, 1);
    CHECK_FALSE(guard.first_hole());
}

TEST_CASE("cp --sparse=auto: truncated at open, a run of zeros skipped with lseek") {
    SparseGuard guard(0);
    guard.wrote(0, 65536);
    CHECK_FALSE(guard.first_hole());
    guard.wrote(131072, 65536);
    CHECK(has_hole_at(guard, 65536, 65536));
}

TEST_CASE("cp --sparse=auto and dd conv=sparse: zeros at the end are an ftruncate") {
    SparseGuard guard(0);
    guard.wrote(0, 4096);
    guard.truncated(10000);
    CHECK(has_hole_at(guard, 4096, 5904));
}

TEST_CASE("a file of zeros alone is an ftruncate alone") {
    SparseGuard guard(0);
    guard.truncated(kDevice);
    CHECK(has_hole_at(guard, 0, kDevice));
}

TEST_CASE("dd seek=N cuts the file there before it writes: no gap") {
    SparseGuard guard(kDevice);
    guard.truncated(65536);
    guard.wrote(65536, 4096);
    guard.wrote(65536 + 4096, 4096);
    CHECK_FALSE(guard.first_hole());
}

TEST_CASE("truncate -s within the device leaves no gap, beyond it one") {
    SparseGuard guard(kDevice);
    guard.truncated(4096);
    CHECK_FALSE(guard.first_hole());
    SparseGuard longer(kDevice);
    longer.truncated(kDevice + 1);
    CHECK(has_hole_at(longer, kDevice, 1));
    SparseGuard same(kDevice);
    same.truncated(kDevice);
    CHECK_FALSE(same.first_hole());
}

TEST_CASE("a file made long first and then written whole has no gap") {
    SparseGuard guard(0);
    guard.truncated(3000);
    guard.wrote(1000, 1000);
    CHECK(has_hole_at(guard, 0, 1000));
    guard.wrote(0, 1000);
    CHECK(has_hole_at(guard, 2000, 1000));
    guard.wrote(2000, 1000);
    CHECK_FALSE(guard.first_hole());
}

TEST_CASE("a gap that is cut off is nobody's any more") {
    SparseGuard guard(0);
    guard.wrote(8192, 4096);
    guard.truncated(4096);
    CHECK(has_hole_at(guard, 0, 4096));
    guard.truncated(0);
    CHECK_FALSE(guard.first_hole());
    guard.wrote(0, 4096);
    CHECK_FALSE(guard.first_hole());
}

TEST_CASE("a write fills parts of gaps") {
    SparseGuard guard(0);
    guard.wrote(100, 1);  // [0,100)
    guard.wrote(201, 1);  // [101,201)
    guard.wrote(50, 101); // leaves [0,50) and [151,201)
    CHECK(has_hole_at(guard, 0, 50));
    guard.wrote(0, 50);
    CHECK(has_hole_at(guard, 151, 50));
    guard.wrote(160, 10);
    CHECK(has_hole_at(guard, 151, 9));
    guard.wrote(151, 9);
    CHECK(has_hole_at(guard, 170, 31));
    guard.wrote(0, 1000);
    CHECK_FALSE(guard.first_hole());
}

TEST_CASE("nothing arrived, nothing changes") {
    SparseGuard guard(0);
    guard.wrote(500, 0);
    CHECK_FALSE(guard.first_hole());
}

TEST_CASE("offsets past 4 GiB") {
    constexpr std::uint64_t kFar = 5ull << 32;
    SparseGuard guard(0);
    guard.wrote(kFar, 4096);
    CHECK(has_hole_at(guard, 0, kFar));
}

TEST_CASE("the guard agrees with a map of every byte") {
    const std::uint64_t seed = GENERATE(range(1u, 41u));
    INFO("seed " << seed);
    Random random(seed);
    constexpr std::uint64_t kSize = 64;
    SparseGuard guard(0);
    std::vector<bool> hole; // one per byte of the believed file
    for (int step = 0; step < 200; ++step) {
        const std::uint64_t at = random.below(kSize);
        if (random.below(4) == 0) {
            guard.truncated(at);
            hole.resize(at, true);
        } else {
            const std::uint64_t length = random.below(8);
            guard.wrote(at, length);
            if (length > 0 && hole.size() < at + length) {
                hole.resize(at + length, true);
            }
            for (std::uint64_t i = at; i < at + length; ++i) {
                hole[i] = false;
            }
        }
        std::uint64_t first = 0;
        while (first < hole.size() && !hole[first]) {
            ++first;
        }
        std::uint64_t length = 0;
        while (first + length < hole.size() && hole[first + length]) {
            ++length;
        }
        INFO("step " << step);
        REQUIRE((length > 0 ? has_hole_at(guard, first, length) : !guard.first_hole()));
    }
}

} // namespace mtdfuse::fuse
