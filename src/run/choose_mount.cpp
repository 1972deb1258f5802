#include <mtdfuse/run.hpp>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mtdfuse::run {

namespace {

std::vector<std::string> mount_points(const std::vector<MountEntry>& mounts) {
    std::vector<std::string> points;
    for (const MountEntry& mount : mounts)
        if (mount.fs_type == "fuse.mtdfuse")
            points.push_back(mount.mount_point);
    // Two mounts on one place are one choice: a path reaches the upper one only.
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    return points;
}

// As the kernel writes it. A mount whose daemon died cannot be looked at, only spelled.
std::string as_mount_point(const std::string& wanted) {
    std::error_code error;
    const auto canonical = std::filesystem::canonical(wanted, error);
    if (!error)
        return canonical.string();
    std::string spelled = std::filesystem::absolute(wanted, error).lexically_normal().string();
    if (spelled.size() > 1 && spelled.back() == '/')
        spelled.pop_back();
    return spelled;
}

} // namespace

Result<std::string> choose_mount(const std::vector<MountEntry>& mounts, const std::string& wanted) {
    const std::vector<std::string> points = mount_points(mounts);
    if (points.empty())
        return fail(ENOENT, fmt::format("no mtdfuse is mounted{}: mount one with mtdfuse IMAGE "
                                        "MOUNTPOINT, or for the time of the command with "
                                        "mtdfuse-run IMAGE -- COMMAND",
                                        wanted.empty() ? "" : fmt::format(" at '{}'", wanted)));
    if (wanted.empty()) {
        if (points.size() == 1)
            return points.front();
        return fail(EEXIST, fmt::format("several mtdfuse are mounted, at '{}': choose one with -m",
                                        fmt::join(points, "', '")));
    }
    for (const std::string& spelling : {wanted, as_mount_point(wanted)})
        if (std::find(points.begin(), points.end(), spelling) != points.end())
            return spelling;
    return fail(ENOENT, fmt::format("no mtdfuse is mounted at '{}', but at '{}': name that with -m",
                                    wanted, fmt::join(points, "', '")));
}

} // namespace mtdfuse::run
