#include <cstdio>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <getopt.h>

#include "attributes.hpp"
#include "replay.hpp"

namespace {

using namespace mtdfuse;
using namespace mtdfuse::replay;

constexpr int kSuccess = 0;
constexpr int kDifferent = 1;
constexpr int kUsage = 2;

constexpr const char* kHelp =
    R"(usage: replay [--device NAME] [--memory KIND] TRACE...
       replay [--device NAME] --node PATH TRACE...
       replay --attrs FILE --sys FOLDER [--proc FILE]

Makes the calls of each TRACE and compares the answers with those that a real kernel gave.

  --device NAME   block2mtd-64k or mtdram; without it the name of the folder that holds TRACE
  --memory KIND   in process: anonymous (default), writeback, writethrough
  --node PATH     the calls go to this node by system calls; PATHro is the read-only node.
                  The device must be 4 MiB with an erasesize of 64K (block2mtd-64k) or 128K
                  (mtdram); each trace ends with everything changed
  --attrs FILE    compares `name: value` lines with the files in FOLDER (sys/class/mtd/mtd0 of
                  the mount) and what stands before them with FILE (proc/mtd of the mount)
  --help

For each TRACE: `TRACE: N equal, N excepted, N not issued, N different`, before it every line
that differs, after it the exceptions used, with their bounds and reasons.
Exit status: 0 all equal or excepted, 1 something differs or an exception is used more often
than its bound, 2 usage, or a file or node that cannot be opened.
)";

struct Arguments {
    std::string device, node, attributes, sysfs, proc;
    Memory memory = Memory::anonymous;
    std::vector<std::string> traces;
};

std::optional<Memory> parse_memory(std::string_view word) {
    if (word == "anonymous") {
        return Memory::anonymous;
    }
    if (word == "writeback") {
        return Memory::writeback;
    }
    if (word == "writethrough") {
        return Memory::writethrough;
    }
    return std::nullopt;
}

// A status where the program must end at once.
std::optional<int> parse(int count, char** words, Arguments& arguments) {
    static constexpr option kOptions[] = {
        {"device", required_argument, nullptr, 'd'}, {"node", required_argument, nullptr, 'n'},
        {"memory", required_argument, nullptr, 'm'}, {"attrs", required_argument, nullptr, 'a'},
        {"sys", required_argument, nullptr, 's'},    {"proc", required_argument, nullptr, 'p'},
        {"help", no_argument, nullptr, 'h'},         {nullptr, 0, nullptr, 0}};
    for (int letter; (letter = getopt_long(count, words, "", kOptions, nullptr)) != -1;) {
        switch (letter) {
        case 'd':
            arguments.device = optarg;
            break;
        case 'n':
            arguments.node = optarg;
            break;
        case 'm':
            if (const auto memory = parse_memory(optarg)) {
                arguments.memory = *memory;
                break;
            }
            fmt::print(stderr, "replay: no memory `{}`; see --help\n", optarg);
            return kUsage;
        case 'a':
            arguments.attributes = optarg;
            break;
        case 's':
            arguments.sysfs = optarg;
            break;
        case 'p':
            arguments.proc = optarg;
            break;
        case 'h':
            fmt::print("{}", kHelp);
            return kSuccess;
        default:
            return kUsage;
        }
    }
    arguments.traces.assign(words + optind, words + count);
    const bool attributes = !arguments.attributes.empty();
    if (attributes != !arguments.sysfs.empty() || attributes != arguments.traces.empty()) {
        fmt::print(stderr, "{}", kHelp);
        return kUsage;
    }
    return std::nullopt;
}

const Profile* find_profile(const std::string& device, const std::string& trace) {
    std::error_code ignored;
    const std::string id =
        device.empty() ? std::filesystem::absolute(trace, ignored).parent_path().filename().string()
                       : device;
    for (const Profile& profile : kProfiles) {
        if (profile.id == id) {
            return &profile;
        }
    }
    fmt::print(stderr, "replay: {}: no device `{}`; see --help\n", trace, id);
    return nullptr;
}

int replay_file(const Arguments& arguments, const std::string& path) {
    const Profile* const profile = find_profile(arguments.device, path);
    if (profile == nullptr) {
        return kUsage;
    }
    const Result<Trace> trace = read_trace(path);
    if (!trace) {
        fmt::print(stderr, "replay: {}\n", trace.error().context);
        return kUsage;
    }
    const bool on_node = !arguments.node.empty();
    const auto target =
        on_node ? make_node(arguments.node) : make_in_process(*profile, arguments.memory);
    if (!target) {
        fmt::print(stderr, "replay: {}\n", target.error().context);
        return kUsage;
    }
    const TargetKind kind = on_node ? TargetKind::node : TargetKind::in_process;
    return replay_trace(*trace, **target, kind, *profile) ? kSuccess : kDifferent;
}

int run(int count, char** words) {
    Arguments arguments;
    if (const std::optional<int> status = parse(count, words, arguments)) {
        return *status;
    }
    if (!arguments.attributes.empty()) {
        const Result<bool> same =
            compare_attributes(arguments.attributes, arguments.sysfs, arguments.proc);
        if (!same) {
            fmt::print(stderr, "replay: {}\n", same.error().context);
            return kUsage;
        }
        return *same ? kSuccess : kDifferent;
    }
    int worst = kSuccess;
    for (const std::string& path : arguments.traces) {
        worst = std::max(worst, replay_file(arguments, path));
    }
    return worst;
}

} // namespace

int main(int argument_count, char** arguments) {
    try {
        return run(argument_count, arguments);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "replay: %s\n", error.what());
        return kUsage;
    }
}
