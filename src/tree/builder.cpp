#include "builder.hpp"

#include <algorithm>

namespace mtdfuse::tree {

Builder::Builder() {
    Node root;
    root.inode = kRootInode;
    root.parent = kRootInode;
    root.permissions = 0555;
    nodes_.push_back(std::move(root));
}

Node& Builder::add(Inode parent, Kind kind, std::string name, mode_t permissions) {
    Node node;
    node.inode = nodes_.size() + 1;
    node.parent = parent;
    node.kind = kind;
    node.name = std::move(name);
    node.permissions = permissions;
    nodes_[parent - 1].children.push_back(node.inode);
    nodes_.push_back(std::move(node));
    return nodes_.back();
}

Inode Builder::directory(Inode parent, std::string name) {
    return add(parent, Kind::directory, std::move(name), 0555).inode;
}

Inode Builder::directory_path(Inode parent, std::string_view path) {
    while (!path.empty()) {
        const std::string_view name = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(path.size(), name.size() + 1));
        const auto& siblings = nodes_[parent - 1].children;
        const auto found = std::find_if(siblings.begin(), siblings.end(), [&](Inode child) {
            return nodes_[child - 1].name == name;
        });
        parent = found == siblings.end() ? directory(parent, std::string(name)) : *found;
    }
    return parent;
}

void Builder::symlink(Inode parent, std::string name, std::string target) {
    add(parent, Kind::symlink, std::move(name), 0777).target = std::move(target);
}

void Builder::text(Inode parent, std::string name, Show show) {
    add(parent, Kind::attribute, std::move(name), 0444).show = std::move(show);
}

Node& Builder::command(Inode parent, std::string name, Store store) {
    Node& node = add(parent, Kind::attribute, std::move(name), 0200);
    node.store = std::move(store);
    return node;
}

void Builder::mtd_node(Inode parent, std::string name, mtd::Device& device, bool read_only_node) {
    const bool writable = !read_only_node && !device.read_only();
    Node& node = add(parent, Kind::mtd_node, std::move(name), writable ? 0600 : 0400);
    node.device = &device;
    node.read_only_node = read_only_node;
}

} // namespace mtdfuse::tree
