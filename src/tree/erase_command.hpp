// The language of ctl/mtdN/erase.
#pragma once

#include <mtdfuse/mtd.hpp>

namespace mtdfuse::tree {

struct EraseCommand {
    std::uint64_t at_bytes = 0;
    std::uint64_t length_bytes = 0;
    bool skip_bad = false;
};

// One line, a trailing newline optional, words apart by blanks:
//   START LENGTH       bytes; not looked at further: Device::erase answers as MEMERASE64 does
//   block N [COUNT]    COUNT is 1 where it is missing; 0 erases nothing, as LENGTH 0 does
//   all                every block; the first bad one ends it
//   all skip-bad       every good block
// EINVAL for anything else, and for a block at or past the end; the message says what would be
// right.
[[nodiscard]] Result<EraseCommand> parse_erase_command(std::string_view text,
                                                       const chip::Geometry& geometry);

// Carries it out. On an error the blocks before the failing one are erased.
[[nodiscard]] Status run_erase_command(const EraseCommand& command, mtd::Device& device);

// The text as it may stand in a one-line message: quoted, control characters as \xNN, cut short.
[[nodiscard]] std::string quoted(std::string_view text);

} // namespace mtdfuse::tree
