// The walk along a path. Stateless. It ends where the mount begins: from there on the kernel
// follows the rest, below the mount's root.
#include "destination.hpp"

#include <algorithm>

#include <mtdfuse/run.hpp>

#include <fmt/format.h>

namespace mtdfuse::run {

namespace {

constexpr unsigned kMaxLinks = 40; // include/linux/namei.h, MAXSYMLINKS

// Takes the first component off `rest`; empty at its end.
std::string take_component(std::string& rest) {
    const std::size_t begin = rest.find_first_not_of('/');
    if (begin == std::string::npos) {
        rest.clear();
        return {};
    }
    const std::size_t end = std::min(rest.find('/', begin), rest.size());
    std::string component = rest.substr(begin, end - begin);
    rest.erase(0, end);
    return component;
}

bool has_component(const std::string& rest) {
    return rest.find_first_not_of('/') != std::string::npos;
}

void to_parent(std::string& place) {
    place.erase(std::min(place.rfind('/'), place.size()));
}

// Below the mount's root, `..` taken literally: the tree has no links to directories.
std::optional<std::string> below(const std::string& rest) {
    std::string place;
    std::string left = rest;
    for (std::string component = take_component(left); !component.empty();
         component = take_component(left)) {
        if (component == "..") {
            if (place.empty())
                return std::nullopt;
            to_parent(place);
        } else if (component != ".") {
            place += '/' + component;
        }
    }
    return place.empty() ? place : place.substr(1);
}

std::optional<std::string> walk(const FileSystemView& view, std::string_view directory,
                                std::string_view path, LastLink last) {
    const std::string mount_point = view.mount_point();
    std::string place; // without a slash at its end: the root is empty
    std::string rest =
        path.starts_with('/') ? std::string(path) : fmt::format("{}/{}", directory, path);
    for (unsigned links = 0; links <= kMaxLinks;) {
        const std::string component = take_component(rest);
        if (component.empty())
            return !mount_point.empty() && place == mount_point ? std::optional<std::string>("")
                                                                : std::nullopt;
        if (component == ".")
            continue;
        if (component == "..") {
            to_parent(place);
            continue;
        }
        place += '/' + component;
        if (path_in_mount(place))
            return path_in_mount(place + rest);
        if (!mount_point.empty() && place == mount_point)
            return below(rest);
        if (last == LastLink::keep && !has_component(rest))
            return std::nullopt;
        const auto target = view.link(place);
        if (!target)
            continue;
        ++links;
        if (target->starts_with('/'))
            place.clear();
        else
            to_parent(place);
        rest.insert(0, *target);
    }
    return std::nullopt;
}

} // namespace

std::optional<std::string> destination_in_mount(const FileSystemView& view,
                                                std::string_view directory, std::string_view path,
                                                LastLink last) {
    auto found = walk(view, directory, path, last);
    // A slash at the end asks for a directory: the kernel shall see it.
    if (found && !found->empty() && (path.ends_with('/') || path.ends_with("/.")))
        *found += '/';
    return found;
}

} // namespace mtdfuse::run
