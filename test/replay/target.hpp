// What a trace is replayed against: the calls it can hold, on one main handle (the node opened for
// reading and writing) and at most one further handle, which the calls go to while it is open.
#pragma once

#include <memory>
#include <optional>

#include "profile.hpp"

namespace mtdfuse::replay {

// As a system call: -1 with an errno, or what it returned.
struct Outcome {
    std::int64_t value = 0;
    int error = 0;
};
// Nothing: this target cannot make the call at all.
using Answer = std::optional<Outcome>;

enum class Node { main, read_only };

// The argument of MEMREADOOB, MEMWRITEOOB and their 64-bit forms; `start` and `length` change as
// the kernel changes them in the caller's structure.
struct OobTransfer {
    bool wide = false;
    std::uint64_t start = 0;
    std::uint32_t length = 0;
    std::span<std::byte> data;
};

class Target {
public:
    Target() = default;
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;
    virtual ~Target() = default;

    // Opens the further handle, after closing the one before.
    [[nodiscard]] virtual Answer open(Node node, int flags) = 0;
    virtual void back_to_main() = 0;

    [[nodiscard]] virtual Answer pread(std::int64_t at, std::span<std::byte> into) = 0;
    [[nodiscard]] virtual Answer pwrite(std::int64_t at, std::span<const std::byte> from) = 0;
    // At the handle's own position.
    virtual void move_to(std::uint64_t position) = 0;
    [[nodiscard]] virtual Answer read(std::span<std::byte> into) = 0;
    [[nodiscard]] virtual Answer write(std::span<const std::byte> from) = 0;
    // Through the main handle, whatever is open: to mend what a call that may differ left undone.
    virtual void mend(std::uint64_t at, std::span<const std::byte> from) = 0;

    // An ioctl that FUSE can carry; `argument` is the structure, changed in place, empty for NULL.
    [[nodiscard]] virtual Answer ioctl(std::uint32_t command, std::span<std::byte> argument) = 0;
    [[nodiscard]] virtual Answer ioctl_value(std::uint32_t command, std::uint64_t value) = 0;

    // The others.
    [[nodiscard]] virtual Answer read_oob(OobTransfer& transfer) = 0;
    [[nodiscard]] virtual Answer write_oob(OobTransfer& transfer) = 0;
    [[nodiscard]] virtual Answer write_request(std::uint64_t start, std::span<std::byte> data,
                                               std::span<std::byte> oob, unsigned mode) = 0;
    [[nodiscard]] virtual Answer is_locked(std::uint32_t start, std::uint32_t length) = 0;
    [[nodiscard]] virtual Answer otp_select(int mode) = 0;
    [[nodiscard]] virtual Answer otp_region_count(std::uint32_t& count) = 0;

    // What the VFS does with a file.
    struct Status {
        const char* mode;
        std::uint64_t size;
        unsigned rdev_major;
    };
    [[nodiscard]] virtual std::optional<Status> fstat() = 0;
    [[nodiscard]] virtual Answer lseek(std::int64_t offset, int whence) = 0;
    [[nodiscard]] virtual Answer fsync(bool data_only) = 0;
    [[nodiscard]] virtual Answer ftruncate(std::uint64_t length) = 0;
    [[nodiscard]] virtual Answer fallocate(std::uint64_t length) = 0;
    [[nodiscard]] virtual Answer mmap(bool shared) = 0;
};

// Where the in-process device keeps its bytes.
enum class Memory { anonymous, writeback, writethrough };

// mtd::OpenFile over a ram chip over the real cache: no FUSE and no VFS in between.
[[nodiscard]] Result<std::unique_ptr<Target>> make_in_process(const Profile& profile,
                                                              Memory memory);

// A node of a mount by real system calls; PATHro is its read-only twin.
[[nodiscard]] Result<std::unique_ptr<Target>> make_node(const std::string& path);

} // namespace mtdfuse::replay
