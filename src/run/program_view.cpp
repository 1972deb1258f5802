#include "program_view.hpp"

#include <array>
#include <climits>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace mtdfuse::run {

namespace {

// What remains of `path` below `root`; nothing where it lies outside.
std::optional<std::string> inside(const std::string& root, const std::string& path) {
    if (root.empty())
        return path;
    if (path == root)
        return "/";
    if (path.starts_with(root + "/"))
        return path.substr(root.size());
    return std::nullopt;
}

} // namespace

Result<ProgramView> ProgramView::of(const Task& task, const MountView& mount) {
    auto root = task.root();
    if (!root)
        return tl::make_unexpected(root.error());
    auto root_path = task.link("root");
    if (!root_path)
        return tl::make_unexpected(root_path.error());
    if (*root_path == "/")
        root_path->clear();
    std::string mount_point = inside(*root_path, mount.mount_point()).value_or("");
    return ProgramView(task, std::move(*root), std::move(*root_path), std::move(mount_point));
}

ProgramView::ProgramView(ProgramView&& other) noexcept
    : task_(other.task_), root_(std::move(other.root_)), root_path_(std::move(other.root_path_)),
      mount_point_(std::move(other.mount_point_)) {}

std::optional<std::string> ProgramView::link(const std::string& path) const {
    // Whoever looks at these sees itself.
    if (path == "/proc/self" || path == "/proc/thread-self") {
        const auto process = task_.process();
        if (!process)
            return std::nullopt;
        return path == "/proc/self" ? fmt::format("{}", *process)
                                    : fmt::format("{}/task/{}", *process, task_.thread());
    }
    std::array<char, PATH_MAX> target;
    const ssize_t length =
        ::readlinkat(root_.get(), path.c_str() + 1, target.data(), target.size());
    if (length < 0)
        return std::nullopt;
    std::string text(target.data(), static_cast<std::size_t>(length));
    // The kernel shows where an open file lies from here, not from the task's root.
    if (path.starts_with("/proc/"))
        return inside(root_path_, text).value_or(text);
    return text;
}

std::optional<std::string> ProgramView::directory(int directory_fd) const {
    const auto place = task_.link(directory_fd == AT_FDCWD ? std::string("cwd")
                                                           : fmt::format("fd/{}", directory_fd));
    if (!place || !place->starts_with('/'))
        return std::nullopt;
    return inside(root_path_, *place);
}

} // namespace mtdfuse::run
