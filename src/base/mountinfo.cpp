#include <mtdfuse/base.hpp>

#include <charconv>

namespace mtdfuse {

namespace {

std::string_view take_word(std::string_view& line) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
}

bool is_octal_digit(char c) {
    return c >= '0' && c <= '7';
}

// The kernel writes space, tab, newline and backslash as \ooo.
std::string unescape(std::string_view word) {
    std::string text;
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (word[i] == '\\' && i + 3 < word.size() && is_octal_digit(word[i + 1]) &&
            is_octal_digit(word[i + 2]) && is_octal_digit(word[i + 3])) {
            text += static_cast<char>((word[i + 1] - '0') * 64 + (word[i + 2] - '0') * 8 +
                                      (word[i + 3] - '0'));
            i += 3;
        } else {
            text += word[i];
        }
    }
    return text;
}

unsigned number(std::string_view word) {
    unsigned value = 0;
    std::from_chars(word.data(), word.data() + word.size(), value);
    return value;
}

// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
//    |  |  |     |     |          |            |  |    source
//    id parent   root  mount point optional... |  type
MountEntry parse_line(std::string_view line) {
    MountEntry entry;
    take_word(line);
    take_word(line);
    const std::string_view device = take_word(line);
    const std::size_t colon = std::min(device.find(':'), device.size());
    entry.device_major = number(device.substr(0, colon));
    entry.device_minor = number(device.substr(std::min(colon + 1, device.size())));
    take_word(line);
    entry.mount_point = unescape(take_word(line));
    while (!line.empty() && take_word(line) != "-") {
    }
    entry.fs_type = unescape(take_word(line));
    entry.source = unescape(take_word(line));
    return entry;
}

} // namespace

std::vector<MountEntry> parse_mountinfo(std::string_view text) {
    std::vector<MountEntry> entries;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (end != 0)
            entries.push_back(parse_line(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return entries;
}

Result<std::vector<MountEntry>> read_mountinfo() {
    const auto text = read_small_file("/proc/self/mountinfo");
    if (!text)
        return tl::make_unexpected(text.error());
    return parse_mountinfo(*text);
}

} // namespace mtdfuse
