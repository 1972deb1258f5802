// Replays one trace and tells what came out.
#pragma once

#include <map>

#include "exceptions.hpp"

namespace mtdfuse::replay {

struct Tally {
    unsigned equal = 0, excepted = 0, not_issued = 0, different = 0;
    std::map<std::string, unsigned, std::less<>> used;    // exceptions by id
    std::map<std::string, unsigned, std::less<>> skipped; // not issued, by call
};

// Prints every line that differs, the counts and the exceptions used, to standard output.
// True when nothing differs, no exception is used more often than it may be and no call is left
// out more often.
[[nodiscard]] bool replay_trace(const Trace& trace, Target& target, TargetKind kind,
                                const Profile& profile);

} // namespace mtdfuse::replay
