// Which paths lead to the mount. Stateless: it looks at names only; whoever asks has resolved links
// and directories.
#include <mtdfuse/run.hpp>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mtdfuse::run {

namespace {

std::vector<std::string_view> components(std::string_view path) {
    std::vector<std::string_view> parts;
    while (!path.empty()) {
        const std::string_view part = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(path.size(), part.size() + 1));
        if (part == "..") {
            if (!parts.empty())
                parts.pop_back(); // the root is its own parent
        } else if (!part.empty() && part != ".") {
            parts.push_back(part);
        }
    }
    return parts;
}

bool begins_with(const std::vector<std::string_view>& parts,
                 std::initializer_list<std::string_view> wanted) {
    return parts.size() >= wanted.size() && std::equal(wanted.begin(), wanted.end(), parts.begin());
}

} // namespace

std::optional<std::string> path_in_mount(std::string_view path) {
    const auto parts = components(path);
    // Whatever a real flash device could be called must not be reached: mtd7, mtdblock0 and mtd/0
    // lead to where nothing is.
    if (parts.size() >= 2 && parts[0] == "dev" && parts[1].starts_with("mtd"))
        return fmt::format("{}", fmt::join(parts.begin() + 1, parts.end(), "/"));
    if (begins_with(parts, {"sys", "class", "mtd"}) ||
        (parts.size() == 2 && begins_with(parts, {"proc", "mtd"})))
        return fmt::format("{}", fmt::join(parts, "/"));
    return std::nullopt;
}

} // namespace mtdfuse::run
