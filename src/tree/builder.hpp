// Grows the vector of nodes that a Tree is made of: inode numbers are given out in order, and a
// child is entered in its directory at once. Not thread-safe; used while a Tree is made.
#pragma once

#include <mtdfuse/tree.hpp>

namespace mtdfuse::tree {

class Builder {
public:
    Builder(); // with the root directory

    Inode directory(Inode parent, std::string name);
    // The directory of this name in `parent`, made where it does not exist yet.
    Inode directory_path(Inode parent, std::string_view path);
    void symlink(Inode parent, std::string name, std::string target);
    void text(Inode parent, std::string name, Show show); // 0444
    // 0200; the reference is good until the next node is added.
    Node& command(Inode parent, std::string name, Store store);
    void mtd_node(Inode parent, std::string name, mtd::Device& device, bool read_only_node);

    [[nodiscard]] std::vector<Node> take() { return std::move(nodes_); }

private:
    Node& add(Inode parent, Kind kind, std::string name, mode_t permissions);

    std::vector<Node> nodes_;
};

} // namespace mtdfuse::tree
