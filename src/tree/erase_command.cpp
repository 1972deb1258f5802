#include "erase_command.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

namespace mtdfuse::tree {

namespace {

constexpr std::string_view kUsage =
    "write one line: `START LENGTH` in bytes, `block N [COUNT]`, `all` or `all skip-bad`";

std::vector<std::string_view> split_words(std::string_view line) {
    constexpr std::string_view kBlanks = " \t";
    std::vector<std::string_view> words;
    for (std::size_t at = line.find_first_not_of(kBlanks); at != line.npos;
         at = line.find_first_not_of(kBlanks, at)) {
        const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
        words.push_back(line.substr(at, end - at));
        at = end;
    }
    return words;
}

// Too large for 64 bits is past every device's end, for which MEMERASE64 has EINVAL.
Result<std::uint64_t> parse_number(std::string_view what, std::string_view word) {
    const auto number = parse_size(word);
    if (!number) {
        return fail(EINVAL, fmt::format("{} {} is no number from 0 to 2^64-1 (decimal or 0x, "
                                        "suffix K, M or G): {}",
                                        what, quoted(word), kUsage));
    }
    return *number;
}

Result<EraseCommand> parse_bytes(const std::vector<std::string_view>& words) {
    const auto at = parse_number("START", words[0]);
    if (!at) {
        return tl::unexpected(at.error());
    }
    const auto length = parse_number("LENGTH", words[1]);
    if (!length) {
        return tl::unexpected(length.error());
    }
    return EraseCommand{*at, *length, false};
}

Result<EraseCommand> parse_blocks(const std::vector<std::string_view>& words,
                                  const chip::Geometry& geometry) {
    const auto first = parse_number("N", words[1]);
    if (!first) {
        return tl::unexpected(first.error());
    }
    const auto count = words.size() == 3 ? parse_number("COUNT", words[2]) : 1;
    if (!count) {
        return tl::unexpected(count.error());
    }
    const std::uint64_t blocks = geometry.block_count();
    if (*first >= blocks || *count > blocks - *first) {
        return fail(EINVAL,
                    fmt::format("{} from block {} on: the device ends after block {}",
                                *count == 1 ? "one block" : fmt::format("{} blocks", *count),
                                *first, blocks - 1));
    }
    return EraseCommand{*first * geometry.erasesize_bytes, *count * geometry.erasesize_bytes,
                        false};
}

Status erase_good_blocks(mtd::Device& device) {
    const chip::Geometry& geometry = device.geometry();
    for (std::uint64_t at = 0; at < geometry.size_bytes; at += geometry.erasesize_bytes) {
        const auto bad = device.block_is_bad(at);
        if (!bad) {
            return tl::unexpected(bad.error());
        }
        if (*bad) {
            continue;
        }
        if (Status erased = device.erase(at, geometry.erasesize_bytes); !erased) {
            return erased;
        }
    }
    return {};
}

} // namespace

std::string quoted(std::string_view text) {
    constexpr std::size_t kShown = 64;
    std::string result = "\"";
    for (const char character : text.substr(0, kShown)) {
        const auto byte = static_cast<unsigned char>(character);
        if (byte < 0x20 || byte >= 0x7f) {
            result += fmt::format("\\x{:02x}", byte);
        } else {
            result += character;
        }
    }
    return result + (text.size() > kShown ? "...\"" : "\"");
}

Result<EraseCommand> parse_erase_command(std::string_view text, const chip::Geometry& geometry) {
    std::string_view line = text;
    if (!line.empty() && line.back() == '\n') {
        line.remove_suffix(1);
    }
    if (line.find('\n') != line.npos) {
        return fail(EINVAL, fmt::format("{} is more than one line; each write is one command: {}",
                                        quoted(text), kUsage));
    }
    const auto words = split_words(line);
    if (!words.empty() && words[0] == "all") {
        if (words.size() == 1 || (words.size() == 2 && words[1] == "skip-bad")) {
            return EraseCommand{0, geometry.size_bytes, words.size() == 2};
        }
    } else if (!words.empty() && words[0] == "block") {
        if (words.size() == 2 || words.size() == 3) {
            return parse_blocks(words, geometry);
        }
    } else if (words.size() == 2) {
        return parse_bytes(words);
    }
    return fail(EINVAL, fmt::format("{} is no erase command: {}", quoted(line), kUsage));
}

Status run_erase_command(const EraseCommand& command, mtd::Device& device) {
    return command.skip_bad ? erase_good_blocks(device)
                            : device.erase(command.at_bytes, command.length_bytes);
}

} // namespace mtdfuse::tree
