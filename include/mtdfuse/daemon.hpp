// The room `daemon`: the program `mtdfuse` - options, daemonising, logging, signals, and putting
// the rooms together.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <mtdfuse/fuse.hpp>

namespace mtdfuse::daemon {

inline constexpr int kExitSuccess = 0;
inline constexpr int kExitFailure = 1; // something went wrong at run time
inline constexpr int kExitUsage = 2;   // the command line is wrong

struct Options {
    std::string image; // a path, or "none"
    std::string mount_point;
    chip::Type type = chip::Type::ram;
    std::optional<std::uint64_t> erasesize_bytes;
    std::optional<std::uint64_t> size_bytes;
    std::optional<std::string> name;
    std::vector<mtd::PartitionSpec> partitions; // empty: the whole device
    bool read_only = false;
    std::uint64_t folio_bytes = 64 * kKiB;
    std::optional<std::uint64_t> cache_bytes;
    cache::Policy policy = cache::Policy::writeback;
    bool force = false;
    std::optional<std::string> log_file;
    bool foreground = false;
    bool debug = false;
    bool single_thread = false;
    bool allow_other = false;
    std::vector<std::string> kernel_words;
};

// What the command line asks for: to run, or to print a text and leave (--help, --version).
struct ParsedLine {
    std::optional<Options> options;
    std::string text;
};

// Parses `arguments` (without argv[0]). EINVAL with one sentence that names the option, the value
// and what would be right; an unknown option is named before any consequence of it.
[[nodiscard]] Result<ParsedLine> parse_command_line(const std::vector<std::string>& arguments);

// The whole program. Returns the exit status; errors before the mount answers are on stderr.
[[nodiscard]] int run(const std::vector<std::string>& arguments);

} // namespace mtdfuse::daemon
