// The mount as the supervisor sees it, on behalf of a program that looks for MTD devices.
//
// Invariant: root_ is the mount's root for as long as this object lives, whatever is mounted over
// it; nodes_ does not change after the making. Thread-safe.
#pragma once

#include <map>
#include <optional>

#include <sys/stat.h>

#include <mtdfuse/base.hpp>

namespace mtdfuse::run {

// mtdN or mtdNro.
struct MtdNode {
    unsigned index = 0;
    bool read_only = false;

    // include/linux/mtd/mtd.h: MTD_CHAR_MAJOR, two minors for each device.
    [[nodiscard]] unsigned minor() const { return 2 * index + (read_only ? 1 : 0); }
    [[nodiscard]] std::string path() const; // /dev/mtd0ro
};
inline constexpr unsigned kMtdCharMajor = 90;
inline constexpr unsigned kMtdBlockMajor = 31;

enum class LastLink { follow, keep };

class MountView {
public:
    // EACCES: mounted by another user and without allow_other; ENODEV: it shows no device.
    [[nodiscard]] static Result<MountView> open(const std::string& mount_point);

    [[nodiscard]] const std::string& mount_point() const { return mount_point_; }
    // The node that these numbers of a file stand for.
    [[nodiscard]] std::optional<MtdNode> node(dev_t device, ino_t inode) const;
    [[nodiscard]] std::optional<MtdNode> node(const struct statx& file) const;

    // `path` is relative to the mount's root; links in it stay below that.
    [[nodiscard]] Result<UniqueFd> open_file(const std::string& path, int flags) const;
    // A descriptor that names the file and does nothing else (O_PATH).
    [[nodiscard]] Result<UniqueFd> find(const std::string& path, LastLink last) const;

private:
    MountView(std::string mount_point, UniqueFd root, dev_t device)
        : mount_point_(std::move(mount_point)), root_(std::move(root)), device_(device) {}

    std::string mount_point_;
    UniqueFd root_;
    dev_t device_;
    std::map<ino_t, MtdNode> nodes_;
};

} // namespace mtdfuse::run
