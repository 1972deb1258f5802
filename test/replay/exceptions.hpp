// Where our device answers otherwise than the recorded kernel, on purpose or because a file in a
// FUSE mount cannot. Each row names the one answer that is given instead and how often at most.
#pragma once

#include "calls.hpp"

namespace mtdfuse::replay {

enum class TargetKind { in_process, node };

struct Exception {
    std::string_view id;
    bool in_process; // applies there as well, not only on a node
    unsigned most_directed;
    unsigned most_random;
    // The answer given instead of the recorded one; nothing where the line is not the one meant.
    std::optional<std::string> (*instead)(const Line& line, const Profile& profile);
    // Brings the device to the state that the recorded answer left; null where it is there already.
    void (*mend)(Session& session);
    std::string_view reason;
};

[[nodiscard]] std::span<const Exception> exceptions();

// A call that the in-process target cannot make; a node makes every call.
struct NotIssued {
    std::string_view call;
    unsigned most_directed; // and none in a random trace
    std::string_view reason;
};

[[nodiscard]] std::span<const NotIssued> not_issued();

// The row that allows this answer to this line; null if none does.
[[nodiscard]] const Exception* find_exception(TargetKind target, const Line& line,
                                              const Profile& profile, std::string_view answer);

} // namespace mtdfuse::replay
