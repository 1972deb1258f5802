#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <mtdfuse/storage.hpp>

#include "image_tool.hpp"

namespace mtdfuse::tools {

namespace {

constexpr std::uint64_t kPieceBytes = 64 * kKiB;

struct Found {
    UniqueFd fd;
    bool block_device = false;
    std::uint64_t size_bytes = 0;
    std::uint64_t allocated_bytes = 0;
};

Result<Found> open_image_file(const std::string& path) {
    Found found;
    found.fd = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!found.fd && errno == ENOENT)
        return fail(ENOENT, fmt::format("image '{}' does not exist: make it with mtdfuse-image "
                                        "create",
                                        path));
    if (!found.fd)
        return fail_errno(fmt::format("image '{}' cannot be opened", path));
    struct stat status = {};
    if (::fstat(found.fd.get(), &status) != 0)
        return fail_errno(fmt::format("image '{}' cannot be looked at", path));
    if (S_ISDIR(status.st_mode))
        return fail(EISDIR,
                    fmt::format("'{}' is a directory: give a file or a block device", path));
    found.block_device = S_ISBLK(status.st_mode);
    if (!S_ISREG(status.st_mode) && !found.block_device)
        return fail(EINVAL, fmt::format("'{}' is neither a file nor a block device: give one of "
                                        "these",
                                        path));
    found.size_bytes = static_cast<std::uint64_t>(status.st_size);
    constexpr std::uint64_t kStatBlockBytes = 512; // stat(2)
    found.allocated_bytes = static_cast<std::uint64_t>(status.st_blocks) * kStatBlockBytes;
    if (found.block_device && ::ioctl(found.fd.get(), BLKGETSIZE64, &found.size_bytes) != 0)
        return fail_errno(fmt::format("block device '{}' does not tell its size", path));
    return found;
}

// Stops reading at the first byte that is not 0xFF.
Result<bool> block_is_erased(storage::Backing& backing, ByteOffset at, std::uint64_t length_bytes,
                             std::vector<std::byte>& buffer) {
    for (std::uint64_t done_bytes = 0; done_bytes < length_bytes;) {
        const std::span<std::byte> piece =
            std::span(buffer).first(std::min(kPieceBytes, length_bytes - done_bytes));
        if (auto read = backing.read_at(at + done_bytes, piece); !read)
            return tl::make_unexpected(read.error());
        if (std::any_of(piece.begin(), piece.end(),
                        [](std::byte b) { return b != std::byte{0xFF}; }))
            return false;
        done_bytes += piece.size();
    }
    return true;
}

Result<std::uint64_t> count_erased(storage::Backing& backing, const chip::Geometry& geometry,
                                   const Progress& progress) {
    std::vector<std::byte> buffer(kPieceBytes);
    std::uint64_t erased = 0;
    const BlockIndex end(geometry.block_count());
    for (BlockIndex block; block < end; ++block) {
        const ByteOffset at = geometry.start_of(block);
        const auto is_erased = block_is_erased(backing, at, geometry.erasesize_bytes, buffer);
        if (!is_erased)
            return tl::make_unexpected(is_erased.error());
        erased += *is_erased ? 1 : 0;
        progress(at.value + geometry.erasesize_bytes, geometry.size_bytes);
    }
    return erased;
}

// As a shell takes it.
std::string quoted(const std::string& path) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789/._-+,:@%";
    if (path.find_first_not_of(kPlain) == std::string::npos)
        return path;
    std::string result = "'";
    for (const char c : path)
        result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

std::string mount_command(const ImageCommand& command, const chip::Geometry& geometry,
                          std::uint64_t rest_bytes, bool needs_force) {
    std::string line = "mtdfuse";
    if (command.erasesize_bytes)
        line += fmt::format(" --erasesize {}", format_size(*command.erasesize_bytes));
    if (rest_bytes > 0)
        line += fmt::format(" --size {}", format_size(geometry.size_bytes - rest_bytes));
    if (needs_force)
        line += " --force";
    if (command.path.starts_with('-'))
        line += " --";
    return fmt::format("{} {} MOUNTPOINT", line, quoted(command.path));
}

} // namespace

Result<std::string> describe_image(const ImageCommand& command, const Progress& progress) {
    auto found = open_image_file(command.path);
    if (!found)
        return tl::make_unexpected(found.error());
    const auto signature = storage::probe_signature(command.path);
    if (!signature)
        return tl::make_unexpected(signature.error());
    const chip::Geometry geometry = command.geometry(found->size_bytes);
    const std::uint64_t rest_bytes = geometry.size_bytes % geometry.erasesize_bytes;
    const bool block_device = found->block_device;
    const std::uint64_t allocated_bytes = found->allocated_bytes;
    const auto backing =
        storage::make_file_backing(std::move(found->fd), geometry.size_bytes, kPieceBytes);
    const auto erased = count_erased(*backing, geometry, progress);
    if (!erased)
        return tl::make_unexpected(erased.error());

    std::string text = fmt::format("path:         {}\n", command.path);
    text += fmt::format("size:         {} bytes ({})\n", geometry.size_bytes,
                        format_size(geometry.size_bytes));
    text += block_device ? std::string("allocated:    all, a block device\n")
                         : fmt::format("allocated:    {} bytes\n", allocated_bytes);
    text += fmt::format(
        "erase blocks: {} of {}{}\n", geometry.block_count(), format_size(geometry.erasesize_bytes),
        rest_bytes ? fmt::format(", and {} bytes that fit no block", rest_bytes) : "");
    text += fmt::format("erased:       {} of {}\n", *erased, geometry.block_count());
    text += fmt::format("signature:    {}\n", signature->empty() ? "none" : *signature);
    text +=
        geometry.block_count() == 0
            ? std::string("mount:        not possible, it is smaller than an erase block\n")
            : fmt::format("mount:        {}\n", mount_command(command, geometry, rest_bytes,
                                                              block_device && !signature->empty()));
    return text;
}

} // namespace mtdfuse::tools
