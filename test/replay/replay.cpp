#include "replay.hpp"

#include <fmt/format.h>

namespace mtdfuse::replay {
namespace {

void print_difference(const Trace& trace, const Line& line, std::string_view got) {
    fmt::print("{}:{}: {}\n    expected {}\n    got      {}\n", trace.path, line.number, line.text,
               line.expected, got);
}

void replay_line(const Trace& trace, const Line& line, Session& session, TargetKind kind,
                 Tally& tally) {
    const Made made = make_call(session, line);
    switch (made.kind) {
    case Made::Kind::not_issued:
        ++tally.not_issued;
        ++tally.skipped[line.call];
        return;
    case Made::Kind::unknown:
        ++tally.different;
        print_difference(trace, line, "no such call is known");
        return;
    case Made::Kind::answered:
        break;
    }
    if (made.answer == line.expected) {
        ++tally.equal;
        return;
    }
    const Exception* const exception = find_exception(kind, line, session.profile, made.answer);
    if (exception == nullptr) {
        ++tally.different;
        print_difference(trace, line, made.answer);
        return;
    }
    ++tally.excepted;
    ++tally.used[std::string(exception->id)];
    if (exception->mend != nullptr) {
        exception->mend(session);
    }
}

// Prints one use; false where it is above its bound.
bool report_use(const Trace& trace, std::string_view what, unsigned used, unsigned most,
                std::string_view reason) {
    fmt::print("    {} of at most {} {}: {}\n", used, most, what, reason);
    if (used > most) {
        fmt::print("{}: {} {} times, at most {} are allowed\n", trace.path, what, used, most);
    }
    return used <= most;
}

bool report_exceptions(const Trace& trace, const Tally& tally) {
    bool within = true;
    for (const Exception& exception : exceptions()) {
        const auto found = tally.used.find(exception.id);
        if (found != tally.used.end()) {
            const bool directed = trace.kind == TraceKind::directed;
            within &= report_use(trace, exception.id, found->second,
                                 directed ? exception.most_directed : exception.most_random,
                                 exception.reason);
        }
    }
    return within;
}

bool report_not_issued(const Trace& trace, const Tally& tally) {
    bool within = true;
    for (const auto& [call, count] : tally.skipped) {
        unsigned most = 0;
        std::string_view reason = "in no list";
        for (const NotIssued& row : not_issued()) {
            if (row.call == call) {
                most = trace.kind == TraceKind::directed ? row.most_directed : 0;
                reason = row.reason;
            }
        }
        within &= report_use(trace, fmt::format("not issued: {}", call), count, most, reason);
    }
    return within;
}

} // namespace

bool replay_trace(const Trace& trace, Target& target, TargetKind kind, const Profile& profile) {
    Session session(target, profile);
    Tally tally;
    for (const Line& line : trace.lines) {
        replay_line(trace, line, session, kind, tally);
    }
    fmt::print("{}: {} equal, {} excepted, {} not issued, {} different\n", trace.path, tally.equal,
               tally.excepted, tally.not_issued, tally.different);
    const bool excepted_within = report_exceptions(trace, tally);
    const bool not_issued_within = report_not_issued(trace, tally);
    return excepted_within && not_issued_within && tally.different == 0;
}

} // namespace mtdfuse::replay
