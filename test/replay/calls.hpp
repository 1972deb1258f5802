// The calls of a trace: each makes one call on the target with the line's arguments and writes the
// answer as a trace does.
#pragma once

#include "target.hpp"
#include "trace.hpp"

namespace mtdfuse::replay {

// What lies between two lines. The recorder had one buffer for everything it read and wrote, and
// `write` and `write seq` lines write what it then held.
struct Session {
    Session(Target& replayed, const Profile& device);

    // The first `count` bytes of the buffer.
    [[nodiscard]] std::span<std::byte> bytes(std::uint64_t count);

    Target& target;
    const Profile& profile;
    std::vector<std::byte> buffer;
    std::vector<std::byte> oob;
    bool reading_on = false; // a `read seq` came: the position is no longer set before a call
    bool writing_on = false;
};

struct Made {
    enum class Kind { answered, not_issued, unknown } kind = Kind::answered;
    std::string answer;
};
[[nodiscard]] Made make_call(Session& session, const Line& line);

} // namespace mtdfuse::replay
