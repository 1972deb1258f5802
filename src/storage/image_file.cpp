#include "image_file.hpp"

#include <bit>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

namespace mtdfuse::storage {

namespace {

constexpr std::uint64_t kUsualBlockBytes = 4096;

struct FreeText {
    void operator()(char* text) const { std::free(text); }
};

Result<std::string> resolve(const std::string& path) {
    const std::unique_ptr<char, FreeText> resolved(::realpath(path.c_str(), nullptr));
    if (resolved)
        return std::string(resolved.get());
    if (errno == ENOENT)
        return fail(ENOENT, fmt::format("'{}' does not exist: make an image first with "
                                        "mtdfuse-image create",
                                        path));
    return fail_errno(fmt::format("cannot find '{}'", path));
}

std::string_view kind_name(mode_t mode) {
    if (S_ISCHR(mode))
        return "a character device";
    if (S_ISFIFO(mode))
        return "a FIFO";
    return S_ISSOCK(mode) ? "a socket" : "of an unknown kind";
}

// Looked at before it is opened: opening a FIFO or a tape has effects of its own.
Result<bool> is_block_device(const std::string& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0)
        return fail_errno(fmt::format("cannot examine '{}'", path));
    if (S_ISREG(about.st_mode) || S_ISBLK(about.st_mode))
        return S_ISBLK(about.st_mode);
    if (S_ISDIR(about.st_mode))
        return fail(EISDIR, fmt::format("'{}' is a directory: IMAGE must be a regular file or a "
                                        "block device",
                                        path));
    return fail(EINVAL, fmt::format("'{}' is {}: IMAGE must be a regular file or a block device",
                                    path, kind_name(about.st_mode)));
}

UniqueFd open_file(const std::string& path, int access) {
    return UniqueFd(::open(path.c_str(), access | O_CLOEXEC | O_NOCTTY));
}

bool is_refused_write(int number) {
    return number == EACCES || number == EROFS || number == ETXTBSY || number == EPERM;
}

// A device that is read-only may still be opened for writing; only its writes fail.
bool is_read_only_device(int fd) {
    int flag = 0;
    return ::ioctl(fd, BLKROGET, &flag) == 0 && flag != 0;
}

Result<ImageFile> open_for_reading(ImageFile file) {
    file.fd = open_file(file.path, O_RDONLY);
    if (!file.fd)
        return fail_errno(fmt::format("cannot open '{}'", file.path));
    file.read_only = true;
    return file;
}

Result<ImageFile> open_read_only_device(ImageFile file, const std::string& cause, Log& log) {
    auto opened = open_for_reading(std::move(file));
    if (opened)
        log.warning(fmt::format("'{}' cannot be written ({}): the device is read-only",
                                opened->path, cause));
    return opened;
}

Result<ImageFile> open_for_writing(ImageFile file, Log& log) {
    file.fd = open_file(file.path, O_RDWR);
    const int number = errno;
    if (file.fd) {
        if (file.block_device && is_read_only_device(file.fd.get()))
            return open_read_only_device(std::move(file), "the block device is read-only", log);
        return file;
    }
    if (is_refused_write(number)) {
        if (file.block_device)
            return open_read_only_device(std::move(file), errno_text(number), log);
        if (open_file(file.path, O_RDONLY))
            return fail(number, fmt::format("'{}' can be read but not written ({}): make it "
                                            "writable, or mount it read-only with --ro",
                                            file.path, errno_text(number)));
    }
    return fail(number, fmt::format("cannot open '{}': {}", file.path, errno_text(number)));
}

} // namespace

Result<ImageFile> open_image_file(const std::string& path, bool read_only, Log& log) {
    auto resolved = resolve(path);
    if (!resolved)
        return tl::make_unexpected(resolved.error());
    const auto block_device = is_block_device(*resolved);
    if (!block_device)
        return tl::make_unexpected(block_device.error());
    ImageFile file{std::move(*resolved), UniqueFd(), read_only, *block_device};
    if (read_only)
        return open_for_reading(std::move(file));
    return open_for_writing(std::move(file), log);
}

Result<ImageExtent> measure(int fd, const ImageFile& file) {
    ImageExtent extent{0, 0};
    if (file.block_device) {
        unsigned physical_bytes = 0;
        if (::ioctl(fd, BLKGETSIZE64, &extent.size_bytes) != 0)
            return fail_errno(fmt::format("cannot tell the size of '{}'", file.path));
        if (::ioctl(fd, BLKPBSZGET, &physical_bytes) == 0)
            extent.block_bytes = physical_bytes;
    } else {
        struct stat about {};
        if (::fstat(fd, &about) != 0)
            return fail_errno(fmt::format("cannot tell the size of '{}'", file.path));
        extent.size_bytes = static_cast<std::uint64_t>(about.st_size);
        extent.block_bytes = static_cast<std::uint64_t>(about.st_blksize);
    }
    if (extent.size_bytes == 0)
        return fail(EINVAL,
                    file.block_device
                        ? fmt::format("'{}' has no bytes: no medium, or a loop device "
                                      "without a file",
                                      file.path)
                        : fmt::format("'{}' is empty: give it a size (truncate -s), or make "
                                      "an image with mtdfuse-image create",
                                      file.path));
    if (!std::has_single_bit(extent.block_bytes))
        extent.block_bytes = kUsualBlockBytes;
    return extent;
}

} // namespace mtdfuse::storage
