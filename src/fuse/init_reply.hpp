// The answer to FUSE_INIT, and the one number in it that libfuse gets wrong for flash.
//
// Direct I/O is cut at max_pages pages of the caller's buffer, and libfuse ties max_pages to
// max_write. A malloc'ed buffer is not page-aligned, so it touches one page more than it is long: a
// 1 MiB write would arrive as 1 MiB - 16 bytes and 16 bytes, cut inside a flash page. With twice
// the pages that max_write needs, only max_write cuts, at multiples of itself. libfuse has no
// setting for it, so the reply is changed on its way to the kernel.
#pragma once

#include <atomic>

#include "lowlevel.hpp"

namespace mtdfuse::fuse {

inline constexpr unsigned kMaxRequestBytes = 512 * 1024; // max_write and max_read

class InitReply {
public:
    // What the kernel is asked for; called from libfuse's init.
    static void negotiate(fuse_conn_info& connection);

    // Sends `parts` to the kernel as writev does; the first successful answer of a connection is
    // the one to FUSE_INIT. Thread-safe.
    [[nodiscard]] ssize_t send(int fd, const struct iovec* parts, int count);

    [[nodiscard]] bool answered() const { return answered_.load(); }

private:
    std::atomic<bool> answered_{false};
};

} // namespace mtdfuse::fuse
