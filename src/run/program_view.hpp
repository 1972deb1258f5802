// The file system as one task sees it.
#pragma once

#include "destination.hpp"
#include "task.hpp"

namespace mtdfuse::run {

class ProgramView final : public FileSystemView {
public:
    // Both must outlive it. `root` is the task's root directory; errors of /proc.
    [[nodiscard]] static Result<ProgramView> of(const Task& task, const MountView& mount);

    [[nodiscard]] std::optional<std::string> link(const std::string& path) const override;
    [[nodiscard]] std::string mount_point() const override { return mount_point_; }

    // The directory that a relative path is relative to, as the task would spell it: its working
    // directory for AT_FDCWD, else that of a descriptor. Nothing: it is none, or lies outside of
    // the task's root.
    [[nodiscard]] std::optional<std::string> directory(int directory_fd) const;
    [[nodiscard]] int root() const { return root_.get(); }

    ProgramView(ProgramView&& other) noexcept;

private:
    ProgramView(const Task& task, UniqueFd root, std::string root_path, std::string mount_point)
        : task_(task), root_(std::move(root)), root_path_(std::move(root_path)),
          mount_point_(std::move(mount_point)) {}

    const Task& task_;
    UniqueFd root_;
    std::string root_path_; // as this process sees it, empty for /
    std::string mount_point_;
};

} // namespace mtdfuse::run
