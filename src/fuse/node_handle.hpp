// An open mtd0 or mtd0ro.
//
// The mutex guards guard_ and gap_told_; it is held neither across a call of the device nor while
// replying.
#pragma once

#include "context.hpp"
#include "sparse_guard.hpp"

namespace mtdfuse::fuse {

class NodeHandle final : public Handle {
public:
    // `flags` as open(2) got them. EACCES as mtd::OpenFile::open says.
    [[nodiscard]] static Result<std::unique_ptr<Handle>> open(Context& context,
                                                              const tree::Node& node, int flags);

    void read(Reply& reply, std::uint64_t at_bytes, std::size_t length_bytes,
              bool through_page_cache) override;
    void write(Reply& reply, std::uint64_t at_bytes, std::span<const std::byte> from) override;
    void ioctl(Reply& reply, std::uint32_t command, std::uint64_t argument,
               std::span<const std::byte> in, std::size_t out_limit_bytes) override;
    void flush(Reply& reply) override;
    void fsync(Reply& reply) override;
    void truncated(std::uint64_t size_bytes) override;
    [[nodiscard]] bool wants_flush() const override { return file_->writable(); }

private:
    NodeHandle(Context& context, std::unique_ptr<mtd::OpenFile> file, bool truncated_at_open);

    // Answers, after dropping the kernel's pages where it may have any.
    void answer_write(Reply& reply, Notifier::Answer answer);

    Context& context_;
    const std::unique_ptr<mtd::OpenFile> file_;
    mtd::Device& device_;
    std::atomic<bool>& pages_cached_;
    std::mutex mutex_;
    SparseGuard guard_;
    bool gap_told_ = false;
};

} // namespace mtdfuse::fuse
