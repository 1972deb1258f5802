// The mount options as one -o string for libfuse.
#pragma once

#include <mtdfuse/fuse.hpp>

namespace mtdfuse::fuse {

// A value as it must stand in a -o list: commas and backslashes escaped.
[[nodiscard]] std::string escaped_word(std::string_view value);

[[nodiscard]] std::string mount_words(const MountOptions& options);

} // namespace mtdfuse::fuse
