// One request's one reply.
#pragma once

#include <span>

#include "lowlevel.hpp"
#include "wall.hpp"

namespace mtdfuse::fuse {

struct Counters {
    Counter requests, refused, invalidations;
};

// Owes the kernel exactly one answer. Every member below but refuse's telling answers and ends the
// debt; a second answer is not sent. One that is destroyed in debt answers EIO and logs: a caller
// never hangs for a handler's mistake. Hold no lock while answering: the reply may let the kernel
// drop its last reference to what the lock guards. Movable, not thread-safe.
class Reply {
public:
    Reply(fuse_req_t request, Counters& counters, Log& log);
    Reply(Reply&& other) noexcept;
    Reply& operator=(Reply&&) = delete;
    Reply(const Reply&) = delete;
    Reply& operator=(const Reply&) = delete;
    ~Reply();

    // The errno alone: somebody else has told, or nobody needs to know. 0 is success.
    void error(int number);
    void success() { error(0); }
    // The errno, logged and kept as the device's last error.
    void refuse(const Error& refusal, mtd::Device* device = nullptr);

    void bytes(std::span<const std::byte> bytes);
    void written(std::size_t length_bytes);
    void ioctl(int value, std::span<const std::byte> out);
    void entry(const fuse_entry_param& entry);
    void attributes(const struct stat& attributes, double timeout_seconds);
    void link_target(const std::string& target);
    void statistics(const struct statvfs& statistics);
    // False where the caller has gone: no release will come for this file.
    [[nodiscard]] bool opened(const fuse_file_info& info);

private:
    // Ends the debt; null where it has been paid.
    [[nodiscard]] fuse_req_t take() { return std::exchange(request_, nullptr); }

    fuse_req_t request_;
    Counters& counters_;
    Log& log_;
};

} // namespace mtdfuse::fuse
