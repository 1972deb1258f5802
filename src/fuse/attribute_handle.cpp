#include "attribute_handle.hpp"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>

namespace mtdfuse::fuse {

Result<std::unique_ptr<Handle>> AttributeHandle::open(Context& context, const tree::Node& node,
                                                      int flags) {
    const int access = flags & O_ACCMODE;
    if (access != O_RDONLY && !node.store) {
        return fail(EACCES, fmt::format("{} cannot be written", node.name));
    }
    if (access != O_WRONLY && !node.show) {
        return fail(EACCES, fmt::format("{} cannot be read, only written", node.name));
    }
    std::string text;
    if (access != O_WRONLY) {
        auto shown = node.show();
        if (!shown) {
            return tl::unexpected(shown.error());
        }
        text = std::move(*shown);
    }
    return std::unique_ptr<Handle>(new AttributeHandle(context, node, std::move(text)));
}

AttributeHandle::AttributeHandle(Context& context, const tree::Node& node, std::string text)
    : context_(context), node_(node), text_(std::make_shared<const std::string>(std::move(text))),
      cursor_(node.sync_on_close ? node.device->error_cursor() : chip::ErrorCursor()) {}

void AttributeHandle::read(Reply& reply, std::uint64_t at_bytes, std::size_t length_bytes, bool) {
    // Held until the reply has returned: by then the caller may have closed, and this handle gone.
    const auto held = text_;
    const auto text = std::as_bytes(std::span(*held));
    const std::size_t begin = std::min<std::uint64_t>(at_bytes, text.size());
    reply.bytes(text.subspan(begin, std::min(length_bytes, text.size() - begin)));
}

void AttributeHandle::write(Reply& reply, std::uint64_t, std::span<const std::byte> from) {
    {
        const std::lock_guard lock(mutex_);
        wrote_ = true;
    }
    // The store has told its refusal: it knows the cause.
    const auto stored =
        node_.store(std::string_view(reinterpret_cast<const char*>(from.data()), from.size()));
    const int number = stored ? 0 : stored.error().number;
    const Notifier::Answer answer = [number, length = from.size()](Reply& r) {
        number == 0 ? r.written(length) : r.error(number);
    };
    // A command that failed with EIO may have come half way.
    const mtd::Device* changed = stored          ? stored->changed_flash
                                 : number == EIO ? node_.device
                                                 : nullptr;
    if (changed) {
        context_.invalidate_then_answer(*changed, std::move(reply), answer);
    } else {
        answer(reply);
    }
}

void AttributeHandle::ioctl(Reply& reply, std::uint32_t, std::uint64_t, std::span<const std::byte>,
                            std::size_t) {
    reply.error(ENOTTY);
}

void AttributeHandle::flush(Reply& reply) {
    if (const Status written = write_back(); !written) {
        reply.refuse(written.error(), node_.device);
        return;
    }
    reply.success();
}

Status AttributeHandle::write_back() {
    const std::lock_guard lock(mutex_);
    if (!node_.sync_on_close || !wrote_) {
        return {};
    }
    return node_.device->sync(chip::Durability::written_back, cursor_);
}

} // namespace mtdfuse::fuse
