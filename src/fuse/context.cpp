#include "context.hpp"

#include <unistd.h>

namespace mtdfuse::fuse {

namespace {

constexpr off_t kAttributeSizeBytes = 4096; // as sysfs shows for every attribute
constexpr double kForeverSeconds = 86400;

mode_t file_type(tree::Kind kind) {
    switch (kind) {
    case tree::Kind::directory:
        return S_IFDIR;
    case tree::Kind::symlink:
        return S_IFLNK;
    case tree::Kind::attribute:
    case tree::Kind::mtd_node:
        break;
    }
    return S_IFREG;
}

off_t size_of(const tree::Node& node) {
    switch (node.kind) {
    case tree::Kind::directory:
        return 0;
    case tree::Kind::symlink:
        return static_cast<off_t>(node.target.size());
    case tree::Kind::attribute:
        return kAttributeSizeBytes;
    case tree::Kind::mtd_node:
        break;
    }
    return static_cast<off_t>(node.device->geometry().size_bytes);
}

} // namespace

// After an O_TRUNC open the kernel takes a file for empty until it asks again. Were that not at
// every open and stat, `>>` and SEEK_END would start at 0 instead of at the end of the device.
double attribute_timeout(const tree::Node& node) {
    const bool fixed = node.kind == tree::Kind::directory || node.kind == tree::Kind::symlink;
    return fixed ? kForeverSeconds : 0;
}

Context::Context(const tree::Tree& shown, Log& told)
    : tree(shown), log(told), uid_(geteuid()), gid_(getegid()) {
    clock_gettime(CLOCK_REALTIME, &mounted_at_);
    for (tree::Inode inode = tree::kRootInode; const tree::Node* node = tree.find(inode); ++inode) {
        if (node->kind == tree::Kind::mtd_node) {
            pages_cached[node->device] = false;
        }
    }
}

struct stat Context::attributes_of(const tree::Node& node) const {
    struct stat result {};
    result.st_ino = node.inode;
    result.st_mode = file_type(node.kind) | node.permissions;
    result.st_nlink = 1;
    if (node.kind == tree::Kind::directory) {
        ++result.st_nlink;
        for (const tree::Inode child : node.children) {
            result.st_nlink += tree.find(child)->kind == tree::Kind::directory ? 1 : 0;
        }
    }
    result.st_uid = uid_;
    result.st_gid = gid_;
    result.st_size = size_of(node);
    result.st_blksize = 4096;
    result.st_blocks = (result.st_size + 511) / 512;
    result.st_atim = result.st_mtim = result.st_ctim = mounted_at_;
    return result;
}

fuse_entry_param Context::entry_of(const tree::Node& node) const {
    fuse_entry_param entry{};
    entry.ino = node.inode;
    entry.attr = attributes_of(node);
    entry.attr_timeout = attribute_timeout(node);
    entry.entry_timeout = attribute_timeout(node);
    return entry;
}

void Context::invalidate_then_answer(const mtd::Device& device, Reply reply,
                                     Notifier::Answer answer) {
    pages_cached.at(&device) = false;
    notifier->invalidate_then_answer(device, std::move(reply), std::move(answer));
}

} // namespace mtdfuse::fuse
