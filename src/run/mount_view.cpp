#include "mount_view.hpp"

#include <cerrno>
#include <charconv>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fmt/format.h>

namespace mtdfuse::run {

namespace {

Result<UniqueFd> open_below(int root, const std::string& path, int flags) {
    open_how how = {};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    const char* const name = path.empty() ? "." : path.c_str();
    UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, root, name, &how, sizeof how)));
    if (!fd)
        return fail_errno(fmt::format("'{}' in the mount", path));
    return fd;
}

std::optional<MtdNode> parse_node(std::string_view name) {
    MtdNode node;
    if (!name.starts_with("mtd"))
        return std::nullopt;
    const auto [end, error] =
        std::from_chars(name.data() + 3, name.data() + name.size(), node.index);
    const std::string_view rest(end, static_cast<std::size_t>(name.data() + name.size() - end));
    if (error != std::errc() || (!rest.empty() && rest != "ro"))
        return std::nullopt;
    node.read_only = !rest.empty();
    return node;
}

std::string sentence_about(const std::string& mount_point, int number) {
    if (number == EACCES || number == EPERM)
        return fmt::format("'{}' is mounted by another user, for whom alone it is there: mount it "
                           "as the user who runs this, or with -o allow_other (which needs "
                           "user_allow_other in /etc/fuse.conf)",
                           mount_point);
    if (number == ENOTCONN)
        return fmt::format("'{0}' has lost its mtdfuse: unmount it with fusermount3 -u '{0}'",
                           mount_point);
    return fmt::format("'{}' cannot be opened: {}", mount_point, errno_text(number));
}

} // namespace

std::string MtdNode::path() const {
    return fmt::format("/dev/mtd{}{}", index, read_only ? "ro" : "");
}

Result<MountView> MountView::open(const std::string& mount_point) {
    UniqueFd root(::open(mount_point.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct stat found = {};
    if (!root || ::fstat(root.get(), &found) != 0)
        return fail(errno, sentence_about(mount_point, errno));
    auto listed = open_below(root.get(), "", O_RDONLY | O_DIRECTORY);
    if (!listed)
        return fail(listed.error().number, sentence_about(mount_point, listed.error().number));
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(
        ::fdopendir(::fcntl(listed->get(), F_DUPFD_CLOEXEC, 0)), ::closedir);
    if (!listing)
        return fail_errno(fmt::format("'{}' cannot be listed", mount_point));
    MountView view(mount_point, std::move(root), found.st_dev);
    while (const dirent* entry = ::readdir(listing.get()))
        if (const auto node = parse_node(entry->d_name))
            view.nodes_.emplace(entry->d_ino, *node);
    if (view.nodes_.empty())
        return fail(ENODEV, fmt::format("'{}' shows no MTD device", mount_point));
    return view;
}

std::optional<MtdNode> MountView::node(dev_t device, ino_t inode) const {
    if (device != device_)
        return std::nullopt;
    const auto at = nodes_.find(inode);
    return at == nodes_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<MtdNode> MountView::node(const struct statx& file) const {
    return node(::makedev(file.stx_dev_major, file.stx_dev_minor), file.stx_ino);
}

Result<UniqueFd> MountView::open_file(const std::string& path, int flags) const {
    return open_below(root_.get(), path, flags);
}

Result<UniqueFd> MountView::find(const std::string& path, LastLink last) const {
    return open_below(root_.get(), path, O_PATH | (last == LastLink::keep ? O_NOFOLLOW : 0));
}

} // namespace mtdfuse::run
