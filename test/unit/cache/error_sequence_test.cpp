#include <cerrno>

#include <catch2/catch.hpp>

#include "error_sequence.hpp"

namespace mtdfuse::cache {

TEST_CASE("an error reaches each cursor once") {
    ErrorSequence errors;
    std::uint64_t a = errors.sample();
    std::uint64_t b = errors.sample();
    CHECK(errors.check_and_advance(a) == 0);
    errors.record(EIO);
    CHECK(errors.check_and_advance(a) == EIO);
    CHECK(errors.check_and_advance(a) == 0);
    CHECK(errors.check_and_advance(b) == EIO);
    CHECK(errors.check_and_advance(b) == 0);
}

TEST_CASE("an error after a seen one is new, even with the same errno") {
    ErrorSequence errors;
    std::uint64_t a = errors.sample();
    errors.record(EIO);
    CHECK(errors.check_and_advance(a) == EIO);
    errors.record(EIO);
    CHECK(errors.check_and_advance(a) == EIO);
    CHECK(errors.check_and_advance(a) == 0);
}

TEST_CASE("a new cursor sees an error that nobody has seen, and no older one") {
    ErrorSequence errors;
    errors.record(ENOSPC);
    std::uint64_t early = errors.sample();
    CHECK(errors.check_and_advance(early) == ENOSPC);
    std::uint64_t late = errors.sample();
    CHECK(errors.check_and_advance(late) == 0);
    errors.record(EIO);
    CHECK(errors.check_and_advance(late) == EIO);
}

} // namespace mtdfuse::cache
