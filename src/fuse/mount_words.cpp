#include "mount_words.hpp"

#include <fmt/format.h>

#include "init_reply.hpp"

namespace mtdfuse::fuse {

std::string escaped_word(std::string_view value) {
    std::string result;
    for (const char character : value) {
        if (character == ',' || character == '\\') {
            result += '\\';
        }
        result += character;
    }
    return result;
}

std::string mount_words(const MountOptions& options) {
    std::string words = fmt::format("fsname={},subtype=mtdfuse,nosuid,nodev,max_read={}",
                                    escaped_word(options.source), kMaxRequestBytes);
    if (options.allow_other) {
        words += ",allow_other,default_permissions";
    }
    if (options.debug) {
        words += ",debug";
    }
    for (const std::string& word : options.kernel_words) {
        words += ',' + escaped_word(word);
    }
    return words;
}

} // namespace mtdfuse::fuse
