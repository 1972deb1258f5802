#include "trace.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

namespace mtdfuse::replay {
namespace {

void add_word(Line& line, const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
        line.words.push_back(word);
    } else {
        line.arguments.emplace(word.substr(0, equals), word.substr(equals + 1));
    }
}

Result<Line> parse_line(unsigned number, const std::string& text) {
    Line line;
    line.number = number;
    line.text = text;
    constexpr std::string_view kAnswer = " = ";
    const std::size_t answer = text.find(kAnswer);
    std::istringstream head(text.substr(0, answer));
    head >> line.call;
    if (line.call.empty()) {
        return fail(EINVAL, fmt::format("line {}: no call in `{}`", number, text));
    }
    if (answer == std::string::npos) {
        // fstat has no arguments and so no ` = ` either: all behind the call is the answer.
        std::string rest;
        std::getline(head >> std::ws, rest);
        line.expected = rest;
        return line;
    }
    std::string word;
    while (head >> word) {
        add_word(line, word);
    }
    line.expected = text.substr(answer + kAnswer.size());
    return line;
}

} // namespace

bool Line::has_word(std::string_view word) const {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::uint64_t Line::number_of(std::string_view argument) const {
    const std::string text_value(text_of(argument));
    return std::strtoull(text_value.c_str(), nullptr, 0);
}

std::string_view Line::text_of(std::string_view argument) const {
    const auto found = arguments.find(argument);
    return found == arguments.end() ? std::string_view() : std::string_view(found->second);
}

Result<Trace> read_trace(const std::string& path) {
    const Result<std::string> text = read_small_file(path);
    if (!text) {
        return tl::make_unexpected(text.error());
    }
    Trace trace;
    trace.path = path;
    std::istringstream stream(*text);
    std::string row;
    for (unsigned number = 1; std::getline(stream, row); ++number) {
        if (row.empty() || row.front() == '#') {
            continue;
        }
        Result<Line> line = parse_line(number, row);
        if (!line) {
            return fail(line.error().number, fmt::format("{}: {}", path, line.error().context));
        }
        trace.lines.push_back(std::move(*line));
    }
    if (trace.lines.empty()) {
        return fail(EINVAL, fmt::format("{}: no line in it", path));
    }
    // Only the directed cases look at the node's type, first of all.
    if (trace.lines.front().call == "fstat") {
        trace.kind = TraceKind::directed;
    }
    return trace;
}

} // namespace mtdfuse::replay
