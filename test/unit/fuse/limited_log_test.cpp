#include <catch2/catch.hpp>

#include "limited_log.hpp"

using namespace mtdfuse;
using namespace mtdfuse::fuse;
using namespace std::chrono_literals;

namespace {

class HandClock final : public Clock {
public:
    [[nodiscard]] TimePoint now() const override { return time; }
    TimePoint time{100h};
};

class Lines final : public Log {
public:
    void write(Severity, std::string_view message) override { all.emplace_back(message); }
    std::vector<std::string> all;
};

} // namespace

TEST_CASE("a flood of messages is cut, and how much was left out is told") {
    HandClock clock;
    Lines lines;
    {
        LimitedLog log(lines, clock);
        for (unsigned i = 0; i < LimitedLog::kLinesPerSecond + 5; ++i)
            log.error("no");
        CHECK(lines.all.size() == LimitedLog::kLinesPerSecond);
        clock.time += 999ms;
        log.error("no");
        CHECK(lines.all.size() == LimitedLog::kLinesPerSecond);
        clock.time += 1ms;
        log.error("again");
        REQUIRE(lines.all.size() == LimitedLog::kLinesPerSecond + 2);
        CHECK(lines.all[LimitedLog::kLinesPerSecond] == "6 more messages like these were left out");
        CHECK(lines.all.back() == "again");
        for (unsigned i = 0; i < LimitedLog::kLinesPerSecond; ++i)
            log.error("no");
    }
    CHECK(lines.all.back() == "1 more messages like these were left out");
}

TEST_CASE("messages that come slowly all pass") {
    HandClock clock;
    Lines lines;
    LimitedLog log(lines, clock);
    for (unsigned i = 0; i < 100; ++i) {
        clock.time += 60ms;
        log.info("one");
    }
    CHECK(lines.all.size() == 100);
}
