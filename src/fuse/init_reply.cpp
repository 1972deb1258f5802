#include "init_reply.hpp"

#include <cstddef>
#include <cstring>

#include <linux/fuse.h>
#include <sys/uio.h>

namespace mtdfuse::fuse {

namespace {

constexpr std::uint16_t kMaxPages = 256; // the kernel's default limit (FUSE_MAX_MAX_PAGES)

// libfuse sends a header and one struct; an error is a header alone.
bool carries_init(const struct iovec* parts, int count) {
    return count == 2 && parts[1].iov_len >= offsetof(fuse_init_out, max_pages) + sizeof(kMaxPages);
}

} // namespace

void InitReply::negotiate(fuse_conn_info& connection) {
    connection.max_write = kMaxRequestBytes;
    connection.max_read = kMaxRequestBytes; // libfuse insists on the value of the mount option
    // O_TRUNC comes with the open: only so is it known which handle believes in an empty file.
    connection.want |= connection.capable & FUSE_CAP_ATOMIC_O_TRUNC;
    // Splicing was measured slower, the kernel's locks are local, and a tree this small is not
    // worth attributes with every name. Cached writes would hide programs from the flash.
    connection.want &=
        ~static_cast<unsigned>(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE |
                               FUSE_CAP_POSIX_LOCKS | FUSE_CAP_FLOCK_LOCKS | FUSE_CAP_READDIRPLUS |
                               FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_WRITEBACK_CACHE);
}

ssize_t InitReply::send(int fd, const struct iovec* parts, int count) {
    if (answered() || !carries_init(parts, count)) {
        return writev(fd, parts, count);
    }
    std::byte init[sizeof(fuse_init_out)] = {};
    const std::size_t length = std::min(parts[1].iov_len, sizeof init);
    std::memcpy(init, parts[1].iov_base, length);
    std::uint32_t flags = 0;
    std::memcpy(&flags, init + offsetof(fuse_init_out, flags), sizeof flags);
    if (flags & FUSE_MAX_PAGES) {
        std::memcpy(init + offsetof(fuse_init_out, max_pages), &kMaxPages, sizeof kMaxPages);
    }
    const struct iovec patched[] = {parts[0], {init, length}};
    const ssize_t sent = writev(fd, patched, 2);
    if (sent >= 0) {
        answered_.store(true);
    }
    return sent;
}

} // namespace mtdfuse::fuse
