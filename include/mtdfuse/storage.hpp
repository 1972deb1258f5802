// The room `storage`: bytes that outlive the daemon. A Backing is a flat array of bytes over a
// file, a block device or memory; decorators record and inject faults; open_image() is the one
// place that decides whether an image may be used at all.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>

#include <sys/types.h>
#include <sys/uio.h>

#include <mtdfuse/base.hpp>

namespace mtdfuse::storage {

// A flat array of bytes. All calls are thread-safe; overlapping writes are the caller's to order.
// A transfer is whole or an error: short transfers and EINTR are continued inside. Errors: EINVAL
// for a range past size(), EROFS for a write to a read-only one, else the errno of the system call.
class Backing {
public:
    Backing() = default;
    Backing(const Backing&) = delete;
    Backing& operator=(const Backing&) = delete;
    virtual ~Backing() = default;

    [[nodiscard]] virtual std::uint64_t size_bytes() const = 0;
    // Writes that start and end on a multiple of this need no read-modify-write below (a power of
    // two; st_blksize or the device's physical block size).
    [[nodiscard]] virtual std::uint64_t block_bytes() const = 0;

    [[nodiscard]] virtual Status read_at(ByteOffset at, std::span<std::byte> into) = 0;
    [[nodiscard]] virtual Status write_at(ByteOffset at, std::span<const std::byte> from) = 0;
    // The segments one after another at `at`, in as few system calls as they fit in.
    [[nodiscard]] virtual Status
    write_vector_at(ByteOffset at, std::span<const std::span<const std::byte>> segments) = 0;
    // Lets bytes that were written set out for stable storage; does not wait for them, and their
    // errors are sync()'s to report (sync_file_range).
    virtual void start_write_out(ByteOffset at, std::uint64_t length_bytes) = 0;
    // Returns when everything written before is on stable storage (fdatasync).
    [[nodiscard]] virtual Status sync() = 0;
};

// The system calls under a file backing: each is one call, with the kernel's own return value and
// errno, for a test to answer with short transfers, EINTR and errors. Thread-safe.
class FileCalls {
public:
    FileCalls() = default;
    FileCalls(const FileCalls&) = delete;
    FileCalls& operator=(const FileCalls&) = delete;
    virtual ~FileCalls() = default;

    virtual ssize_t read_once(int fd, void* into, std::size_t length_bytes, off_t at);
    virtual ssize_t write_once(int fd, const iovec* segments, int count, off_t at);
    virtual int start_write_out_once(int fd, off_t at, off_t length_bytes);
    virtual int sync_once(int fd);
};

// Over an open regular file or block device of `size_bytes`; takes the descriptor.
[[nodiscard]] std::unique_ptr<Backing>
make_file_backing(UniqueFd fd, std::uint64_t size_bytes, std::uint64_t block_bytes,
                  std::unique_ptr<FileCalls> calls = std::make_unique<FileCalls>());

// Over memory, filled with `fill`; what is never written costs none. EINVAL for 0 bytes, ENOMEM.
[[nodiscard]] Result<std::unique_ptr<Backing>> make_memory_backing(std::uint64_t size_bytes,
                                                                   std::byte fill);

// ---- what the backing was asked to do ------------------------------------------------------

enum class Direction { read, write };

// Histograms of the I/O that reached the backing: per direction, how often each order
// (floor(log2(bytes))) of size and of alignment occurred. One vectored call counts as one I/O of
// its whole length. Alignment of an I/O: the largest power of two that divides both its offset and
// its length (the lowest set bit of offset | length). A call without bytes is no I/O. Thread-safe.
class IoHistogram {
public:
    static constexpr std::size_t kOrders = 64;

    void record(Direction direction, ByteOffset at, std::uint64_t length_bytes);

    // {"read": {"Block size": {"12": 3}, "Algn size": {"12": 3}}, "write": {...}}, orders
    // ascending, orders that never occurred left out, newline at the end.
    [[nodiscard]] std::string io_json() const;

    // Worst-case write amplification for a device whose indirection unit is 4, 8, 16, 32 or 64 KiB:
    // every write counted with the size its order stands for, rounded up to the unit, over the same
    // sizes unrounded; 1 where nothing was written. {"4096": 1.000, ...}, newline at the end.
    // By construction computable from io_json() alone.
    [[nodiscard]] std::string waf_json() const;

    struct Totals {
        std::uint64_t read_calls, read_bytes, write_calls, write_bytes, sync_calls;
    };
    void record_sync();
    [[nodiscard]] Totals totals() const;

private:
    struct PerDirection {
        std::array<Counter, kOrders> size, alignment;
        Counter calls, bytes;
    };
    PerDirection read_, write_;
    Counter syncs_;
};

// Records every call on its way to `inner`. `histogram` must outlive the result.
[[nodiscard]] std::unique_ptr<Backing> record_io(std::unique_ptr<Backing> inner,
                                                 IoHistogram& histogram);

// ---- faults --------------------------------------------------------------------------------

enum class Operation { read, write, sync };

// Asked before each call; returns 0 (go on) or the errno to answer with instead. A write that is
// refused changes nothing.
using FaultRule = std::function<int(Operation, ByteOffset, std::uint64_t length_bytes)>;

// Answers with the rule's errno where it gives one. The rule is called from any thread.
[[nodiscard]] std::unique_ptr<Backing> inject_faults(std::unique_ptr<Backing> inner,
                                                     FaultRule rule);

// ---- images --------------------------------------------------------------------------------

struct OpenOptions {
    bool read_only = false;
    // Use a block device although it holds a partition table or a file system.
    bool force = false;
    // How long to wait for the lock of a daemon that is just ending.
    std::chrono::milliseconds lock_wait{10000};
};

struct Image {
    std::unique_ptr<Backing> backing;
    std::string path; // absolute, symbolic links resolved
    std::uint64_t size_bytes;
    bool read_only; // asked for, or all the file's mode or the device allows
    bool block_device;
};

// Opens and locks IMAGE for one daemon. Never creates and never changes it. Every refusal is a
// sentence that names the path, what was found and what would be right:
//   ENOENT absent (names mtdfuse-image create); EISDIR; EINVAL neither file nor block device, or
//   empty; EACCES/EPERM/EROFS as open(2) says, where a file that can be read but not written is
//   refused too unless read_only, a read-only block device is opened read-only;
//   EBUSY: locked by a running daemon (one that serves a mount this process can see: at once; else
//   after lock_wait: between its unmount and its end a daemon still holds the lock), a block device
//   that is mounted or otherwise in use (O_EXCL);
//   EEXIST: a block device on which libblkid finds a partition table or a file system that does not
//   belong on flash (squashfs, cramfs, romfs, erofs, jffs2, ubi and ubifs do), unless `force`.
[[nodiscard]] Result<Image> open_image(const std::string& path, const OpenOptions& options,
                                       Log& log);

// What libblkid finds on the file or device: "ext4 file system", "dos partition table", "" for
// nothing. errno of the open.
[[nodiscard]] Result<std::string> probe_signature(const std::string& path);

} // namespace mtdfuse::storage
