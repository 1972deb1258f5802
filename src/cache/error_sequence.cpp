#include "error_sequence.hpp"

namespace mtdfuse::cache {

namespace {
constexpr std::uint64_t kErrnoMask = 0xfff;
constexpr std::uint64_t kSeen = 0x1000;
constexpr std::uint64_t kCountOne = 0x2000;
} // namespace

void ErrorSequence::record(int number) noexcept {
    std::uint64_t old = word_.load();
    std::uint64_t next = 0;
    do {
        next = (old & ~(kErrnoMask | kSeen)) | static_cast<std::uint64_t>(number);
        if ((old & kSeen) != 0)
            next += kCountOne;
    } while (!word_.compare_exchange_weak(old, next));
}

std::uint64_t ErrorSequence::sample() const noexcept {
    const std::uint64_t now = word_.load();
    return (now & kSeen) != 0 ? now : 0;
}

int ErrorSequence::check_and_advance(std::uint64_t& seen) noexcept {
    std::uint64_t now = word_.load();
    if (now == seen)
        return 0;
    // Where this fails a newer error has come in between: it is reported next time.
    const std::uint64_t marked = now | kSeen;
    if (marked != now)
        word_.compare_exchange_strong(now, marked);
    seen = marked;
    return static_cast<int>(marked & kErrnoMask);
}

} // namespace mtdfuse::cache
