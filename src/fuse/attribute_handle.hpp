// An open attribute or control file. The text is made at open and stays as it was, so that offsets
// mean something and a second read finds the end. Each write is one command.
//
// The mutex guards wrote_ and cursor_; it is held across a sync, never while replying.
#pragma once

#include "context.hpp"

namespace mtdfuse::fuse {

class AttributeHandle final : public Handle {
public:
    // EACCES where the node has no such side, and the errors of its show.
    [[nodiscard]] static Result<std::unique_ptr<Handle>> open(Context& context,
                                                              const tree::Node& node, int flags);

    void read(Reply& reply, std::uint64_t at_bytes, std::size_t length_bytes,
              bool through_page_cache) override;
    void write(Reply& reply, std::uint64_t at_bytes, std::span<const std::byte> from) override;
    void ioctl(Reply& reply, std::uint32_t command, std::uint64_t argument,
               std::span<const std::byte> in, std::size_t out_limit_bytes) override;
    void flush(Reply& reply) override;
    void fsync(Reply& reply) override { flush(reply); }
    void truncated(std::uint64_t) override {}
    [[nodiscard]] bool wants_flush() const override { return node_.sync_on_close; }

private:
    AttributeHandle(Context& context, const tree::Node& node, std::string text);

    [[nodiscard]] Status write_back();

    Context& context_;
    const tree::Node& node_;
    const std::shared_ptr<const std::string> text_;
    std::mutex mutex_;
    bool wrote_ = false;
    chip::ErrorCursor cursor_;
};

} // namespace mtdfuse::fuse
