#include "signals.hpp"

#include <array>
#include <csignal>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <fmt/format.h>

namespace mtdfuse::daemon {

namespace {

sigset_t ending_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP})
        ::sigaddset(&set, signal);
    return set;
}

} // namespace

Event SignalJudge::judge(bool hangup, TimePoint now) {
    if (first_ && now - *first_ <= kSecondSignalWindow) {
        const bool same = hangup || now - *first_ < kSameSignalWindow;
        return same ? Event::terminate : Event::terminate_again;
    }
    first_ = now;
    return Event::terminate;
}

void block_signals() {
    const sigset_t set = ending_signals();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    // A terminal or pipe that went away must not end the device.
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
    // A write past a file size limit shall be EFBIG, as any other error of the backing.
    static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
}

SignalWatch::SignalWatch(Ending& ending, Log& log, const Clock& clock, UniqueFd signals,
                         UniqueFd wake)
    : ending_(ending), log_(log), clock_(clock), signals_(std::move(signals)),
      wake_(std::move(wake)) {}

Result<std::unique_ptr<SignalWatch>> SignalWatch::start(Ending& ending, Log& log,
                                                        const Clock& clock, int parent_fd) {
    const sigset_t set = ending_signals();
    UniqueFd signals(::signalfd(-1, &set, SFD_CLOEXEC));
    UniqueFd wake(::eventfd(0, EFD_CLOEXEC));
    if (!signals || !wake)
        return fail_errno("signals cannot be watched");
    std::unique_ptr<SignalWatch> watch(
        new SignalWatch(ending, log, clock, std::move(signals), std::move(wake)));
    watch->thread_ = std::thread([raw = watch.get(), parent_fd] { raw->watch(parent_fd); });
    return watch;
}

SignalWatch::~SignalWatch() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t woken = ::write(wake_.get(), &one, sizeof one);
    if (thread_.joinable())
        thread_.join();
}

void SignalWatch::watch(int parent_fd) {
    // poll(2) skips negative descriptors.
    std::array<pollfd, 3> fds = {pollfd{wake_.get(), POLLIN, 0}, pollfd{signals_.get(), POLLIN, 0},
                                 pollfd{parent_fd, 0, 0}};
    while (true) {
        if (::poll(fds.data(), fds.size(), -1) < 0)
            continue;
        if (fds[0].revents != 0)
            return;
        if (fds[1].revents != 0)
            take_signal();
        if (fds[2].fd >= 0 && fds[2].revents != 0) {
            fds[2].fd = -1;
            if (!parent_released_)
                ending_.on(judge_.judge(false, clock_.now()));
        }
    }
}

void SignalWatch::take_signal() {
    signalfd_siginfo info = {};
    if (::read(signals_.get(), &info, sizeof info) != sizeof info)
        return;
    const Event event = judge_.judge(info.ssi_signo == SIGHUP, clock_.now());
    if (event == Event::terminate)
        log_.info(fmt::format("SIG{}: writing everything back, then ending; another SIGTERM or "
                              "SIGINT within {} s gives up",
                              sigabbrev_np(static_cast<int>(info.ssi_signo)),
                              kSecondSignalWindow.count()));
    ending_.on(event);
}

} // namespace mtdfuse::daemon
