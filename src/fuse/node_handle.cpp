#include "node_handle.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>

namespace mtdfuse::fuse {

namespace {

mtd::Access access_of(int flags) {
    switch (flags & O_ACCMODE) {
    case O_WRONLY:
        return mtd::Access::write;
    case O_RDWR:
        return mtd::Access::read_write;
    default:
        return mtd::Access::read;
    }
}

Error gap_error(const SparseGuard::Hole& hole) {
    return {EIO, fmt::format("closed with a gap of {} bytes at {:#x}: the writer skipped them, as "
                             "in a sparse file, but flash keeps its old bytes there; write every "
                             "byte (cp --sparse=never, dd without conv=sparse)",
                             hole.length_bytes, hole.at_bytes)};
}

} // namespace

Result<std::unique_ptr<Handle>> NodeHandle::open(Context& context, const tree::Node& node,
                                                 int flags) {
    auto file = mtd::OpenFile::open(*node.device, access_of(flags), node.read_only_node);
    if (!file) {
        return tl::unexpected(file.error());
    }
    return std::unique_ptr<Handle>(
        new NodeHandle(context, std::move(*file), (flags & O_TRUNC) != 0));
}

NodeHandle::NodeHandle(Context& context, std::unique_ptr<mtd::OpenFile> file,
                       bool truncated_at_open)
    : context_(context), file_(std::move(file)), device_(file_->device()),
      pages_cached_(context.pages_cached.at(&device_)),
      guard_(truncated_at_open ? 0 : device_.geometry().size_bytes) {}

void NodeHandle::read(Reply& reply, std::uint64_t at_bytes, std::size_t length_bytes,
                      bool through_page_cache) {
    if (through_page_cache) {
        // Before the bytes are looked at: a write that this read misses must see the mark.
        pages_cached_ = true;
    }
    const auto buffer = context_.buffers.take(length_bytes);
    const auto read = file_->read(at_bytes, buffer.bytes());
    if (!read) {
        reply.refuse(read.error(), &device_);
        return;
    }
    reply.bytes(buffer.bytes().first(*read));
}

void NodeHandle::write(Reply& reply, std::uint64_t at_bytes, std::span<const std::byte> from) {
    const auto written = file_->write(at_bytes, from);
    if (!written) {
        tell(written.error(), &device_, context_.log);
        answer_write(reply, [number = written.error().number](Reply& r) { r.error(number); });
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        guard_.wrote(at_bytes, *written);
    }
    answer_write(reply, [length = *written](Reply& r) { r.written(length); });
}

void NodeHandle::answer_write(Reply& reply, Notifier::Answer answer) {
    if (pages_cached_.exchange(false)) {
        context_.invalidate_then_answer(device_, std::move(reply), std::move(answer));
    } else {
        answer(reply);
    }
}

void NodeHandle::ioctl(Reply& reply, std::uint32_t command, std::uint64_t argument,
                       std::span<const std::byte> in, std::size_t out_limit_bytes) {
    auto answer = file_->ioctl(command, argument, in, out_limit_bytes);
    if (!answer) {
        tell(answer.error(), &device_, context_.log);
        const int number = answer.error().number;
        if (number == EIO) { // an erase that met a failing block has erased those before it
            context_.invalidate_then_answer(device_, std::move(reply),
                                            [number](Reply& r) { r.error(number); });
        } else {
            reply.error(number);
        }
        return;
    }
    answer->out.resize(std::min(answer->out.size(), out_limit_bytes));
    if (answer->changed_flash) {
        context_.invalidate_then_answer(
            device_, std::move(reply),
            [done = std::move(*answer)](Reply& r) { r.ioctl(done.value, done.out); });
    } else {
        reply.ioctl(answer->value, answer->out);
    }
}

void NodeHandle::flush(Reply& reply) {
    if (!file_->writable()) {
        reply.success();
        return;
    }
    if (const Status flushed = file_->flush(); !flushed) {
        reply.refuse(flushed.error(), &device_);
        return;
    }
    std::optional<SparseGuard::Hole> hole;
    bool told = false;
    {
        const std::lock_guard lock(mutex_);
        hole = guard_.first_hole();
        told = std::exchange(gap_told_, hole.has_value() || gap_told_);
    }
    if (!hole) {
        reply.success();
    } else if (told) {
        reply.error(EIO);
    } else {
        reply.refuse(gap_error(*hole), &device_);
    }
}

void NodeHandle::fsync(Reply& reply) {
    if (const Status synced = file_->fsync(); !synced) {
        reply.refuse(synced.error(), &device_);
        return;
    }
    reply.success();
}

void NodeHandle::truncated(std::uint64_t size_bytes) {
    const std::lock_guard lock(mutex_);
    guard_.truncated(size_bytes);
}

} // namespace mtdfuse::fuse
