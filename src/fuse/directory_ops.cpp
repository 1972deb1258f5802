// Names, attributes, directories, links.

#include <cerrno>

#include <sys/statvfs.h>

#include "context.hpp"

namespace mtdfuse::fuse {

namespace {

void lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
    answer(request, [&](Context& context, Reply& reply) {
        if (const tree::Node* node = context.tree.lookup(parent, name)) {
            reply.entry(context.entry_of(*node));
        } else {
            reply.error(ENOENT);
        }
    });
}

void get_attributes(fuse_req_t request, fuse_ino_t inode, fuse_file_info*) {
    answer(request, [&](Context& context, Reply& reply) {
        if (const tree::Node* node = context.tree.find(inode)) {
            reply.attributes(context.attributes_of(*node), attribute_timeout(*node));
        } else {
            reply.error(ENOENT);
        }
    });
}

void read_link(fuse_req_t request, fuse_ino_t inode) {
    answer(request, [&](Context& context, Reply& reply) {
        const tree::Node* node = context.tree.find(inode);
        if (node && node->kind == tree::Kind::symlink) {
            reply.link_target(node->target);
        } else {
            reply.error(EINVAL);
        }
    });
}

// ".", "..", then the children; an entry's offset is the number of the one after it.
void read_directory(fuse_req_t request, fuse_ino_t inode, std::size_t limit_bytes, off_t offset,
                    fuse_file_info*) {
    answer(request, [&](Context& context, Reply& reply) {
        const tree::Node* directory = context.tree.find(inode);
        if (!directory || directory->kind != tree::Kind::directory) {
            reply.error(ENOTDIR);
            return;
        }
        const auto buffer = context.buffers.take(limit_bytes);
        auto* const chars = reinterpret_cast<char*>(buffer.bytes().data());
        std::size_t used = 0;
        const std::size_t count = directory->children.size() + 2;
        for (auto index = static_cast<std::size_t>(offset); index < count; ++index) {
            const bool is_dot = index == 0;
            const bool is_dot_dot = index == 1;
            const tree::Node& node =
                is_dot ? *directory
                       : *context.tree.find(is_dot_dot ? directory->parent
                                                       : directory->children[index - 2]);
            const char* name = is_dot ? "." : is_dot_dot ? ".." : node.name.c_str();
            const struct stat attributes = context.attributes_of(node);
            const std::size_t needed =
                fuse_add_direntry(request, chars + used, limit_bytes - used, name, &attributes,
                                  static_cast<off_t>(index + 1));
            if (needed > limit_bytes - used) {
                break;
            }
            used += needed;
        }
        reply.bytes(buffer.bytes().first(used));
    });
}

// As large as the devices, and nothing free: no file can be added.
void statistics(fuse_req_t request, fuse_ino_t) {
    answer(request, [&](Context& context, Reply& reply) {
        constexpr unsigned kBlockBytes = 4096;
        struct statvfs result {};
        result.f_bsize = kBlockBytes;
        result.f_frsize = kBlockBytes;
        result.f_namemax = 255;
        for (const auto& [device, cached] : context.pages_cached) {
            result.f_blocks += device->geometry().size_bytes / kBlockBytes;
        }
        reply.statistics(result);
    });
}

} // namespace

void add_directory_operations(fuse_lowlevel_ops& table) {
    table.lookup = lookup;
    table.getattr = get_attributes;
    table.readlink = read_link;
    table.readdir = read_directory;
    table.statfs = statistics;
}

} // namespace mtdfuse::fuse
