#include <catch2/catch.hpp>

#include <cerrno>

#include <fcntl.h>

#include <mtdfuse/base.hpp>

using namespace mtdfuse;

TEST_CASE("fail_errno keeps the number and says it in words") {
    errno = ENOENT;
    const Status status = fail_errno("cannot open 'x'");
    CHECK(status.error().number == ENOENT);
    CHECK(status.error().context == "cannot open 'x': No such file or directory");
}

TEST_CASE("UniqueFd closes once, moved or not") {
    UniqueFd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    REQUIRE(first);
    const int number = first.get();
    UniqueFd second(std::move(first));
    CHECK(second.get() == number);
    second = UniqueFd();
    CHECK(::fcntl(number, F_GETFD) == -1);
}

TEST_CASE("read_small_file names the file that is not there") {
    const auto text = read_small_file("/nonexistent/file");
    REQUIRE_FALSE(text);
    CHECK(text.error().number == ENOENT);
    CHECK(text.error().context.find("'/nonexistent/file'") != std::string::npos);
}

TEST_CASE("Random repeats for a seed") {
    Random a(1), b(1), c(2);
    const std::uint64_t x = a.next();
    CHECK(x == b.next());
    CHECK(x != c.next());
    CHECK(a.below(1) == 0);
    CHECK(a.below(0) == 0);
}
