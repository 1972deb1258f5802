#include <catch2/catch.hpp>

#include <string>

#include "ending.hpp"
#include "signals.hpp"

using namespace mtdfuse;
using namespace mtdfuse::daemon;

namespace {

class Lines final : public Log {
public:
    void write(Severity, std::string_view message) override { text += std::string(message) + "\n"; }
    std::string text;
};

// What a course of events does: s stopped, d detached, x left.
struct Course {
    std::string done;
    Lines log;
    Ending ending{log,
                  {[this] { done += 's'; }, [] { return std::uint64_t{4711}; },
                   [this] { done += 'd'; }, [this] { done += 'x'; }}};

    explicit Course(const std::vector<Event>& events) {
        for (const Event event : events)
            ending.on(event);
    }
};

} // namespace

TEST_CASE("what a signal does depends on how far the daemon has come") {
    using enum Event;
    const auto [events, done] = GENERATE(table<std::vector<Event>, std::string>({
        {{mount_begins, mounted, served, unmount_begins}, ""},
        {{terminate}, "x"},
        {{mount_begins, terminate}, ""}, // the mount may be there already: decided when it is
        {{mount_begins, terminate, mounted}, "s"},
        {{mount_begins, terminate, terminate_again}, "dx"},
        {{mount_begins, mounted, terminate}, "s"},
        {{mount_begins, mounted, terminate, terminate}, "s"},
        {{mount_begins, mounted, terminate, served, unmount_begins}, "s"},
        {{mount_begins, mounted, terminate, terminate_again}, "sdx"},
        {{mount_begins, mounted, terminate, served, terminate_again}, "sdx"},
        {{mount_begins, mounted, terminate, served, unmount_begins, terminate_again}, "sx"},
        // Unmounted by somebody: what is mounted there now is not ours.
        {{mount_begins, mounted, served, terminate}, ""},
        {{mount_begins, mounted, served, terminate, terminate_again}, "x"},
    }));
    CHECK(Course(events).done == done);
}

TEST_CASE("giving up tells the bytes that are lost") {
    using enum Event;
    const Course course({mount_begins, mounted, terminate, terminate_again});
    CHECK(course.log.text == "gave up writing back at the second signal: 4711 bytes are lost\n");
}

TEST_CASE("a second signal is one within ten seconds, and never a hangup") {
    using std::chrono::milliseconds;
    const TimePoint start{};
    SignalJudge judge;
    CHECK(judge.judge(false, start) == Event::terminate);
    CHECK(judge.judge(true, start + milliseconds(1)) == Event::terminate);
    CHECK(judge.judge(false, start + milliseconds(10000)) == Event::terminate_again);
    CHECK(judge.judge(false, start + milliseconds(10001)) == Event::terminate);
    CHECK(judge.judge(false, start + milliseconds(20001)) == Event::terminate_again);
    SignalJudge after_hangup;
    CHECK(after_hangup.judge(true, start) == Event::terminate);
    CHECK(after_hangup.judge(false, start + milliseconds(99)) == Event::terminate);
    CHECK(after_hangup.judge(false, start + milliseconds(100)) == Event::terminate_again);
}
