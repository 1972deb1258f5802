// Where a path leads that a program names: into the mount, or elsewhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mount_view.hpp"

namespace mtdfuse::run {

// The file system as the program sees it: its own root, its own /proc/self.
class FileSystemView {
public:
    FileSystemView() = default;
    FileSystemView(const FileSystemView&) = delete;
    FileSystemView& operator=(const FileSystemView&) = delete;
    virtual ~FileSystemView() = default;

    // What the link at `path`, absolute and with no link before its last component, points to.
    // Nothing where there is no link.
    [[nodiscard]] virtual std::optional<std::string> link(const std::string& path) const = 0;
    // The mount's place as the program would spell it; empty where it does not see it.
    [[nodiscard]] virtual std::string mount_point() const = 0;
};

// Follows `path` from `directory` (absolute, without links) link by link, as the kernel would,
// until it leads to where MTD devices are looked for, or to the mount itself: then what it is
// called below the mount's root. Nothing: it leads elsewhere, or nowhere.
[[nodiscard]] std::optional<std::string> destination_in_mount(const FileSystemView& view,
                                                              std::string_view directory,
                                                              std::string_view path, LastLink last);

} // namespace mtdfuse::run
