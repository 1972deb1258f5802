#include "limited_log.hpp"

#include <fmt/format.h>

namespace mtdfuse::fuse {

using namespace std::chrono_literals;

LimitedLog::~LimitedLog() {
    tell_left_out();
}

void LimitedLog::write(Severity severity, std::string_view message) {
    const std::lock_guard lock(mutex_);
    const TimePoint now = clock_.now();
    if (passed_ >= kLinesPerSecond && now - second_began_ >= 1s) {
        second_began_ = now;
        passed_ = 0;
    }
    if (passed_ >= kLinesPerSecond) {
        ++left_out_;
        return;
    }
    ++passed_;
    tell_left_out();
    inner_.write(severity, message);
}

void LimitedLog::tell_left_out() {
    if (left_out_ > 0)
        inner_.warning(fmt::format("{} more messages like these were left out", left_out_));
    left_out_ = 0;
}

} // namespace mtdfuse::fuse
