// Open, and what an open file can be asked.

#include <cerrno>

#include <fmt/format.h>

#include "attribute_handle.hpp"
#include "node_handle.hpp"

namespace mtdfuse::fuse {

namespace {

std::span<const std::byte> as_bytes(const void* data, std::size_t length_bytes) {
    return {static_cast<const std::byte*>(data), length_bytes};
}

Result<std::unique_ptr<Handle>> open_handle(Context& context, const tree::Node& node, int flags) {
    return node.kind == tree::Kind::mtd_node ? NodeHandle::open(context, node, flags)
                                             : AttributeHandle::open(context, node, flags);
}

void open(fuse_req_t request, fuse_ino_t inode, fuse_file_info* info) {
    answer(request, [&](Context& context, Reply& reply) {
        const tree::Node* node = context.tree.find(inode);
        if (!node) {
            reply.error(ENOENT);
            return;
        }
        auto handle = open_handle(context, *node, info->flags);
        if (!handle) {
            reply.refuse(handle.error(), node->device);
            return;
        }
        info->direct_io = 1;
        info->noflush = (*handle)->wants_flush() ? 0 : 1;
        info->fh = context.handles.add(std::move(*handle));
        if (!reply.opened(*info)) {
            context.handles.remove(info->fh);
        }
    });
}

void release(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
    answer(request, [&](Context& context, Reply& reply) {
        context.handles.remove(info->fh);
        reply.success();
    });
}

void read(fuse_req_t request, fuse_ino_t, std::size_t length_bytes, off_t offset,
          fuse_file_info* info) {
    answer(request, [&](Context&, Reply& reply) {
        // The kernel names an owner for a caller's own read and none when it fills its pages.
        const bool through_page_cache = info->lock_owner == 0;
        Handles::find(info->fh).read(reply, static_cast<std::uint64_t>(offset), length_bytes,
                                     through_page_cache);
    });
}

void write(fuse_req_t request, fuse_ino_t, const char* data, std::size_t length_bytes, off_t offset,
           fuse_file_info* info) {
    answer(request, [&](Context&, Reply& reply) {
        Handles::find(info->fh).write(reply, static_cast<std::uint64_t>(offset),
                                      as_bytes(data, length_bytes));
    });
}

void ioctl(fuse_req_t request, fuse_ino_t, unsigned command, void* argument, fuse_file_info* info,
           unsigned flags, const void* in, std::size_t in_bytes, std::size_t out_limit_bytes) {
    answer(request, [&](Context&, Reply& reply) {
        if (flags & FUSE_IOCTL_DIR) {
            reply.error(ENOTTY);
            return;
        }
        Handles::find(info->fh).ioctl(reply, command, reinterpret_cast<std::uintptr_t>(argument),
                                      as_bytes(in, in_bytes), out_limit_bytes);
    });
}

void flush(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
    answer(request, [&](Context&, Reply& reply) { Handles::find(info->fh).flush(reply); });
}

void fsync(fuse_req_t request, fuse_ino_t, int, fuse_file_info* info) {
    answer(request, [&](Context&, Reply& reply) { Handles::find(info->fh).fsync(reply); });
}

// Sizes and times are accepted and change nothing: shells truncate what they write to, cp and touch
// set times. Owners and modes are the tree's.
void set_attributes(fuse_req_t request, fuse_ino_t inode, struct stat* wanted, int to_set,
                    fuse_file_info* info) {
    answer(request, [&](Context& context, Reply& reply) {
        const tree::Node* node = context.tree.find(inode);
        if (!node) {
            reply.error(ENOENT);
            return;
        }
        if (to_set & (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)) {
            reply.refuse({EPERM, fmt::format("owner and mode of {} are fixed", node->name)});
            return;
        }
        if ((to_set & FUSE_SET_ATTR_SIZE) && info) {
            Handles::find(info->fh).truncated(static_cast<std::uint64_t>(wanted->st_size));
        }
        reply.attributes(context.attributes_of(*node), attribute_timeout(*node));
    });
}

} // namespace

void add_file_operations(fuse_lowlevel_ops& table) {
    table.open = open;
    table.release = release;
    table.read = read;
    table.write = write;
    table.ioctl = ioctl;
    table.flush = flush;
    table.fsync = fsync;
    table.setattr = set_attributes;
}

} // namespace mtdfuse::fuse
