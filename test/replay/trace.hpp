// A trace: one line per call that a real kernel was asked, and what it answered.
//
//     CALL arguments = answer         arguments are words or name=value; the answer is free text
//
// Lines that begin with # say what the kernel logged; they and empty lines are skipped.
#pragma once

#include <map>

#include <mtdfuse/base.hpp>

namespace mtdfuse::replay {

struct Line {
    unsigned number = 0;
    std::string text;
    std::string call;
    std::vector<std::string> words;
    std::map<std::string, std::string, std::less<>> arguments;
    std::string expected;

    [[nodiscard]] bool has_word(std::string_view word) const;
    // The argument as a number, decimal or 0x, negative allowed; 0 where it is absent: the answer
    // then differs.
    [[nodiscard]] std::uint64_t number_of(std::string_view argument) const;
    [[nodiscard]] std::string_view text_of(std::string_view argument) const;
};

// Directed traces ask every edge once, random ones draw their calls from a seed.
enum class TraceKind { directed, random };

struct Trace {
    std::string path;
    TraceKind kind = TraceKind::random;
    std::vector<Line> lines;
};

// EINVAL with the line's number for a line that is none; the errno of the read.
[[nodiscard]] Result<Trace> read_trace(const std::string& path);

} // namespace mtdfuse::replay
