// The room `tree`: what a mount shows - directories, links, the nodes, attributes with show and
// store, control files, metrics. It knows names and texts, nothing of FUSE.
#pragma once

#include <functional>
#include <memory>

#include <sys/types.h>

#include <mtdfuse/mtd.hpp>

namespace mtdfuse::tree {

using Inode = std::uint64_t;
inline constexpr Inode kRootInode = 1; // FUSE_ROOT_ID

enum class Kind {
    directory,
    symlink,
    attribute, // text made when read; a store acts when written
    mtd_node,  // mtd0, mtd0ro: bytes and ioctls of a device
};

// What a store did to flash, so that the front end can drop the kernel's cached pages before it
// answers: the device whose bytes changed, or nullptr.
struct Stored {
    mtd::Device* changed_flash = nullptr;
};

using Show = std::function<Result<std::string>()>;
// The whole text of one write(2). It acts whole or refuses whole.
using Store = std::function<Result<Stored>(std::string_view)>;

struct Node {
    Inode inode = 0;
    Inode parent = 0;
    Kind kind = Kind::directory;
    std::string name;
    mode_t permissions = 0;        // 0555, 0444, 0200, ...
    std::vector<Inode> children;   // directory: in the order of readdir
    std::string target;            // symlink
    Show show;                     // attribute; empty: not readable
    Store store;                   // attribute; empty: not writable
    mtd::Device* device = nullptr; // mtd_node; also a control file of this device
    bool read_only_node = false;   // mtd_node: mtd0ro
    bool sync_on_close = false;    // closing it leaves nothing dirty
};

// Everything the tree shows comes from here; all must outlive it.
struct Sources {
    std::vector<mtd::Device*> devices; // one at least, of one chip: it, or its partitions
    cache::Cache* cache = nullptr;
    storage::IoHistogram* io = nullptr;
    Log* log = nullptr;
    // More metrics lines (the front end's), appended to the rooms' own.
    std::function<void(std::vector<Metric>&)> more_metrics;
};

// Immutable after the making: lookups need no lock. Show and Store may be called from any thread.
class Tree {
public:
    explicit Tree(const Sources& sources);
    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;
    ~Tree();

    // nullptr where there is none.
    [[nodiscard]] const Node* find(Inode inode) const;
    [[nodiscard]] const Node* lookup(Inode directory, std::string_view name) const;
    // By path from the root, "sys/class/mtd/mtd0/size"; links are not followed.
    [[nodiscard]] const Node* at_path(std::string_view path) const;
    // The inodes of the nodes that show this device's bytes (mtd0 and mtd0ro).
    [[nodiscard]] std::vector<Inode> nodes_of(const mtd::Device& device) const;

private:
    std::vector<Node> nodes_; // index = inode - 1
};

// Prometheus text format 0.0.4 with the prefix "mtdfuse_".
[[nodiscard]] std::string metrics_text(const std::vector<Metric>& metrics);

} // namespace mtdfuse::tree
