// Passes messages on, but not without limit: a client that repeats a failing call ten thousand
// times a second must not fill the disk with the same sentence.
//
// Invariant: at most kLinesPerSecond messages pass in a second; how many were left out is told
// before the next one that passes, or at the end. The mutex guards the three counters and is held
// while the inner log is written, so that the count stands before the message it belongs to.
#pragma once

#include <mutex>

#include <mtdfuse/base.hpp>

namespace mtdfuse::fuse {

class LimitedLog final : public Log {
public:
    static constexpr unsigned kLinesPerSecond = 20;

    LimitedLog(Log& inner, const Clock& clock) : inner_(inner), clock_(clock) {}
    ~LimitedLog() override;

    void write(Severity severity, std::string_view message) override;

private:
    void tell_left_out();

    Log& inner_;
    const Clock& clock_;
    std::mutex mutex_;
    TimePoint second_began_{};
    unsigned passed_ = kLinesPerSecond; // in this second
    std::uint64_t left_out_ = 0;
};

} // namespace mtdfuse::fuse
