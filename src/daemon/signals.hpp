// Signals as events: a thread of its own reads them, so that no handler interrupts anybody.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include <mtdfuse/base.hpp>

#include "ending.hpp"

namespace mtdfuse::daemon {

inline constexpr std::chrono::seconds kSecondSignalWindow{10};
// timeout(1) and a terminal signal a process and its group: two signals at once are one wish.
inline constexpr std::chrono::milliseconds kSameSignalWindow{100};

// Tells a first signal from a second one. A hangup is never a second one: a closing terminal sends
// several of them. Not thread-safe.
class SignalJudge {
public:
    [[nodiscard]] Event judge(bool hangup, TimePoint now);

private:
    std::optional<TimePoint> first_;
};

// Blocks SIGTERM, SIGINT and SIGHUP in the calling thread and in all that it starts from now on,
// and ignores SIGPIPE and SIGXFSZ.
void block_signals();

// Reads them and tells `ending`. Needs block_signals() first.
class SignalWatch {
public:
    // `parent_fd`: Background::parent_fd(); a parent that dies before release_parent() counts as a
    // first signal. `ending`, `log` and `clock` must outlive the watch.
    [[nodiscard]] static Result<std::unique_ptr<SignalWatch>>
    start(Ending& ending, Log& log, const Clock& clock, int parent_fd);
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;
    ~SignalWatch();

    // The parent is about to end, as it should.
    void release_parent() { parent_released_ = true; }

private:
    SignalWatch(Ending& ending, Log& log, const Clock& clock, UniqueFd signals, UniqueFd wake);
    void watch(int parent_fd);
    void take_signal();

    Ending& ending_;
    Log& log_;
    const Clock& clock_;
    const UniqueFd signals_, wake_;
    SignalJudge judge_; // the thread's own
    std::atomic<bool> parent_released_{false};
    std::thread thread_;
};

} // namespace mtdfuse::daemon
