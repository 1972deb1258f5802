// Every option of mtdfuse in one table, from which the command line, the mount words and --help are
// made, so that they cannot disagree.
#pragma once

#include <span>
#include <string_view>

#include <mtdfuse/daemon.hpp>

namespace mtdfuse::daemon {

// Stores the value, or says in words what is wrong with it; the caller names the option.
using Apply = Status (*)(std::string_view value, Options& into);

struct OptionRow {
    std::string_view long_name; // without dashes; empty: only a letter
    char short_name = '\0';
    bool word = false;      // also a mount word: -o NAME or -o NAME=VALUE
    std::string_view value; // what --help calls the value; empty: takes none
    std::string_view help;
    Apply apply = nullptr; // nullptr: -o, -h and -V, which the parser handles
};

[[nodiscard]] std::span<const OptionRow> option_table();
[[nodiscard]] const OptionRow* find_long(std::string_view name);
[[nodiscard]] const OptionRow* find_short(char letter);
[[nodiscard]] const OptionRow* find_word(std::string_view name);
// "--size", or "-f" where there is no long name.
[[nodiscard]] std::string spelling(const OptionRow& row);

// What mount(8) and fstab pass beside our own words.
enum class WordEffect { none, kernel, allow_other, writable };
struct MountWord {
    std::string_view name; // a trailing * stands for any rest
    WordEffect effect = WordEffect::none;
};
[[nodiscard]] const MountWord* find_mount_word(std::string_view word);

[[nodiscard]] std::string help_text();
[[nodiscard]] std::string version_text();

} // namespace mtdfuse::daemon
