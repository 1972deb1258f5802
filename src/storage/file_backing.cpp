// Invariant: the descriptor, its access mode and the size never change after construction, so
// every method may run in any thread without a lock.
#include "file_backing.hpp"

#include "range.hpp"

#include <array>
#include <cerrno>
#include <climits>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mtdfuse::storage {

namespace {

// Asked only when something went wrong, so that a file renamed meanwhile is named as it is now.
std::string name_of(int fd) {
    std::array<char, PATH_MAX> target;
    const ssize_t length =
        ::readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), target.data(), target.size());
    if (length <= 0)
        return "the image";
    return fmt::format("'{}'", std::string_view(target.data(), static_cast<std::size_t>(length)));
}

tl::unexpected<Error> transfer_error(int number, std::string_view verb, int fd, ByteOffset at) {
    return fail(number, fmt::format("cannot {} {} at byte {}: {}", verb, name_of(fd), at.value,
                                    errno_text(number)));
}

tl::unexpected<Error> shortened(int fd, std::uint64_t end_bytes, std::uint64_t size_bytes) {
    return fail(EIO, fmt::format("{} was shortened while in use: it ends before byte {}, the "
                                 "device has {} bytes",
                                 name_of(fd), end_bytes + 1, size_bytes));
}

// The rest of a list of segments while it is being written piece by piece.
class SegmentCursor {
public:
    explicit SegmentCursor(std::span<const std::span<const std::byte>> segments)
        : segments_(segments) {}

    // Describes what comes next, as much as one call takes; the number of entries filled.
    [[nodiscard]] int describe(std::span<iovec> into) const {
        std::size_t filled = 0;
        std::size_t skip = done_in_first_;
        for (const auto& segment : segments_) {
            if (filled == into.size())
                break;
            const auto rest = segment.subspan(skip);
            skip = 0;
            if (!rest.empty())
                // iovec is shared with readv and cannot say that a write leaves the bytes alone.
                into[filled++] = {const_cast<std::byte*>(rest.data()), rest.size()};
        }
        return static_cast<int>(filled);
    }

    void advance(std::size_t length_bytes) {
        done_in_first_ += length_bytes;
        while (!segments_.empty() && done_in_first_ >= segments_.front().size()) {
            done_in_first_ -= segments_.front().size();
            segments_ = segments_.subspan(1);
        }
    }

private:
    std::span<const std::span<const std::byte>> segments_;
    std::size_t done_in_first_ = 0;
};

class FileBacking final : public Backing {
public:
    FileBacking(FileHandles handles, std::uint64_t size_bytes, std::uint64_t block_bytes,
                std::unique_ptr<FileCalls> calls)
        : handles_(std::move(handles)), size_bytes_(size_bytes), block_bytes_(block_bytes),
          writable_((::fcntl(fd(), F_GETFL) & O_ACCMODE) != O_RDONLY), calls_(std::move(calls)) {}

    [[nodiscard]] std::uint64_t size_bytes() const override { return size_bytes_; }
    [[nodiscard]] std::uint64_t block_bytes() const override { return block_bytes_; }
    [[nodiscard]] Status read_at(ByteOffset at, std::span<std::byte> into) override;
    [[nodiscard]] Status write_at(ByteOffset at, std::span<const std::byte> from) override {
        return write_vector_at(at, std::span(&from, 1));
    }
    [[nodiscard]] Status
    write_vector_at(ByteOffset at, std::span<const std::span<const std::byte>> segments) override;
    void start_write_out(ByteOffset at, std::uint64_t length_bytes) override {
        // A failure costs time only: sync() writes whatever has not set out.
        calls_->start_write_out_once(fd(), static_cast<off_t>(at.value),
                                     static_cast<off_t>(length_bytes));
    }
    [[nodiscard]] Status sync() override;

private:
    [[nodiscard]] int fd() const { return handles_.data.get(); }
    [[nodiscard]] Status check_not_shortened() const;

    FileHandles handles_;
    std::uint64_t size_bytes_;
    std::uint64_t block_bytes_;
    bool writable_;
    std::unique_ptr<FileCalls> calls_;
};

Status FileBacking::read_at(ByteOffset at, std::span<std::byte> into) {
    if (auto within = check_range(at, into.size(), size_bytes_); !within)
        return within;
    while (!into.empty()) {
        const ssize_t got =
            calls_->read_once(fd(), into.data(), into.size(), static_cast<off_t>(at.value));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return transfer_error(errno, "read", fd(), at);
        if (got == 0)
            return shortened(fd(), at.value, size_bytes_);
        into = into.subspan(static_cast<std::size_t>(got));
        at = at + static_cast<std::uint64_t>(got);
    }
    return {};
}

// A write past the end would make the file long again, and what was cut off would read as zeros
// instead of as an error.
Status FileBacking::check_not_shortened() const {
    struct stat status {};
    if (::fstat(fd(), &status) != 0)
        return fail_errno(fmt::format("cannot look at {}", name_of(fd())));
    const auto end_bytes = static_cast<std::uint64_t>(status.st_size);
    if (S_ISREG(status.st_mode) && end_bytes < size_bytes_)
        return shortened(fd(), end_bytes, size_bytes_);
    return {};
}

Status FileBacking::write_vector_at(ByteOffset at,
                                    std::span<const std::span<const std::byte>> segments) {
    std::uint64_t left = total_bytes(segments);
    if (auto within = check_range(at, left, size_bytes_); !within)
        return within;
    if (!writable_)
        return fail(EROFS, fmt::format("{} is open read-only", name_of(fd())));
    if (auto whole = check_not_shortened(); !whole)
        return whole;
    SegmentCursor cursor(segments);
    std::array<iovec, IOV_MAX> vector;
    while (left != 0) {
        const int count = cursor.describe(vector);
        const ssize_t put =
            calls_->write_once(fd(), vector.data(), count, static_cast<off_t>(at.value));
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return transfer_error(errno, "write", fd(), at);
        // Nothing written without an error would repeat for ever.
        if (put == 0)
            return transfer_error(EIO, "write", fd(), at);
        cursor.advance(static_cast<std::size_t>(put));
        at = at + static_cast<std::uint64_t>(put);
        left -= static_cast<std::uint64_t>(put);
    }
    return {};
}

Status FileBacking::sync() {
    while (calls_->sync_once(fd()) != 0) {
        const int number = errno;
        if (number != EINTR)
            return fail(number,
                        fmt::format("cannot sync {}: {}", name_of(fd()), errno_text(number)));
    }
    return {};
}

} // namespace

std::unique_ptr<Backing> make_file_backing(FileHandles handles, std::uint64_t size_bytes,
                                           std::uint64_t block_bytes,
                                           std::unique_ptr<FileCalls> calls) {
    return std::make_unique<FileBacking>(std::move(handles), size_bytes, block_bytes,
                                         std::move(calls));
}

std::unique_ptr<Backing> make_file_backing(UniqueFd fd, std::uint64_t size_bytes,
                                           std::uint64_t block_bytes,
                                           std::unique_ptr<FileCalls> calls) {
    return make_file_backing(FileHandles{UniqueFd(), std::move(fd)}, size_bytes, block_bytes,
                             std::move(calls));
}

} // namespace mtdfuse::storage
