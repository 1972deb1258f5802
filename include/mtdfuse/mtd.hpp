// The room `mtd`: what Linux's MTD core and mtdchar do on top of a chip - bounds, errnos, one mode
// per open file, ioctl decoding. Answers follow the traces in test/data, errno for errno. Shaped
// like the kernel's mtd_info, so that another front end than FUSE would be thin.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include <mtdfuse/chip.hpp>

namespace mtdfuse::mtd {

using chip::Durability;

// MTD flags (include/uapi/mtd/mtd-abi.h). MTD_CAP_RAM = WRITEABLE | BIT_WRITEABLE | NO_ERASE.
inline constexpr std::uint32_t kFlagWriteable = 0x400;
inline constexpr std::uint32_t kFlagBitWriteable = 0x800;
inline constexpr std::uint32_t kFlagNoErase = 0x1000;

// The most characters a device name may have (libmtd's limit).
inline constexpr std::size_t kMaxNameLength = 127;
// EINVAL with the rule: longer than kMaxNameLength, or a quote, a newline or a control character.
[[nodiscard]] Status check_name(std::string_view name);

// One partition as the mtdparts syntax writes it: SIZE[@OFFSET][(NAME)][ro][lk]. `lk`, not to
// unlock it at the start, says nothing about a chip without locks: it is read and dropped.
struct PartitionSpec {
    std::optional<std::uint64_t> size_bytes;   // none: `-`, the rest of the device
    std::optional<std::uint64_t> offset_bytes; // none: where the one before ends
    std::string name;                          // without one the kernel's: Partition_000
    bool read_only = false;
};
// Parses a list separated by commas, or by `+` as in mount words. EINVAL with what is wrong and the
// syntax.
[[nodiscard]] Result<std::vector<PartitionSpec>> parse_partitions(std::string_view text);

struct Partition {
    std::string name;
    std::uint64_t offset_bytes = 0, size_bytes = 0;
    bool on_grid = true; // begins and ends on an erase block's boundary
    bool read_only = false;
};
// Where the partitions lie on a device. One off the erase-block grid is read-only, as mtdpart.c of
// the kernel has it for a chip that must be erased (MTD_NO_ERASE ones it leaves writable). EINVAL
// naming the partition that is smaller than an erase block, begins or ends past the device's end
// (the kernel would shorten it), or the two that overlap (the kernel would let them).
[[nodiscard]] Result<std::vector<Partition>>
place_partitions(const std::vector<PartitionSpec>& specs, const chip::Geometry& geometry);

// The newest refusal in words, for ctl/mtd0/last_error. Thread-safe.
class LastError {
public:
    void set(std::string text);
    [[nodiscard]] std::string text() const; // "" until something failed

private:
    mutable std::mutex mutex_;
    std::string text_;
};

struct EccStats {
    std::uint32_t corrected = 0, failed = 0, bad_blocks = 0, bbt_blocks = 0;
};

// What a transfer of pages covers, without its bytes. OOB without data is the areas of the pages
// from `at_bytes` on; `oob_offset_bytes` counts within the first one.
struct PageRange {
    std::uint64_t at_bytes = 0, data_bytes = 0, oob_bytes = 0;
    std::uint32_t oob_offset_bytes = 0;
    chip::OobMode mode = chip::OobMode::place;
};

// One MTD device: a whole chip, or a partition of it. Thread-safe. Offsets and lengths come from
// users unchecked; they count from the device's own begin.
class Device {
public:
    // `chip` must outlive the device. A read-only device shows flags without kFlagWriteable.
    Device(chip::Chip& chip, unsigned index, std::string name, bool read_only);
    // `part` must lie inside the chip: place_partitions has seen to that.
    Device(chip::Chip& chip, unsigned index, const Partition& part);
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    // The chip's, but for the size.
    [[nodiscard]] const chip::Geometry& geometry() const { return geometry_; }
    // Where on its chip a partition begins; nothing for a whole chip.
    [[nodiscard]] std::optional<std::uint64_t> offset_bytes() const { return offset_bytes_; }
    [[nodiscard]] unsigned index() const { return index_; }
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] bool read_only() const { return read_only_; }
    [[nodiscard]] std::uint32_t flags() const;
    [[nodiscard]] EccStats ecc_stats() const { return {}; }

    // Bytes read: fewer than asked only at the end of the device, 0 at or past it.
    [[nodiscard]] Result<std::size_t> read(std::uint64_t at_bytes, std::span<std::byte> into);
    // Bytes written: fewer than given only at the end. ENOSPC at or past the end, also for an empty
    // `from`; EROFS.
    [[nodiscard]] Result<std::size_t> write(std::uint64_t at_bytes,
                                            std::span<const std::byte> from);
    // EINVAL at or past the end, past the end, or off the block grid (nothing changed); a length of
    // zero inside the device does nothing; EROFS. A chip's failure is EIO.
    [[nodiscard]] Status erase(std::uint64_t at_bytes, std::uint64_t length_bytes);
    // False inside the device; EINVAL past it.
    [[nodiscard]] Result<bool> block_is_bad(std::uint64_t at_bytes) const;
    // EOPNOTSUPP on a type without bad blocks, whatever the offset.
    [[nodiscard]] Status mark_bad(std::uint64_t at_bytes);
    // Ranges of bytes. EOPNOTSUPP on a type without locks, whatever the range; then EINVAL at or
    // past the end and past the end; a length of zero does nothing, and is not locked (mtd_lock()
    // and the like of mtdcore.c). The chip's EINVAL stays, its other failures are EIO.
    [[nodiscard]] Status lock(std::uint64_t at_bytes, std::uint64_t length_bytes);
    [[nodiscard]] Status unlock(std::uint64_t at_bytes, std::uint64_t length_bytes);
    [[nodiscard]] Result<bool> is_locked(std::uint64_t at_bytes, std::uint64_t length_bytes) const;

    [[nodiscard]] bool has_oob() const { return geometry_.oobsize_bytes != 0; }
    // What a page's OOB area takes in this mode: mtd_oobavail() of mtdcore.c.
    [[nodiscard]] std::uint64_t oob_bytes_per_page(chip::OobMode mode) const;
    // EINVAL where data ends past the device, or OOB begins past its page's area or ends past the
    // last page's: mtd_check_oob_ops() of mtdcore.c, so also on a type without OOB.
    [[nodiscard]] Status check_pages(const PageRange& range) const;
    // Transfers of pages with their OOB; `pages.at` counts from the device's begin. EROFS where a
    // read-only device would be programmed, what check_pages says, EOPNOTSUPP on a type without
    // OOB; the chip's EINVAL stays, its other failures are EIO, a full disk ENOSPC.
    [[nodiscard]] Status program_pages(const chip::PageProgram& pages);
    [[nodiscard]] Result<chip::EccCounts> read_pages(const chip::PageRead& pages);

    [[nodiscard]] Status sync(Durability durability, chip::ErrorCursor& cursor) {
        return chip_.sync(durability, cursor);
    }
    [[nodiscard]] chip::ErrorCursor error_cursor() { return chip_.error_cursor(); }
    void drop_caches() { chip_.drop_caches(); }

    [[nodiscard]] LastError& last_error() { return last_error_; }
    [[nodiscard]] const LastError& last_error() const { return last_error_; }

    // The chip's: the same from each of its partitions.
    void collect_metrics(std::vector<Metric>& into) const { chip_.collect_metrics(into); }

private:
    // `at_bytes` is inside the device.
    [[nodiscard]] ByteOffset on_chip(std::uint64_t at_bytes) const {
        return ByteOffset(offset_bytes_.value_or(0) + at_bytes);
    }

    [[nodiscard]] Status check_lock_range(std::string_view what, std::uint64_t at_bytes,
                                          std::uint64_t length_bytes) const;

    chip::Chip& chip_;
    const chip::Geometry geometry_;
    const std::optional<std::uint64_t> offset_bytes_;
    const unsigned index_;
    const std::string name_;
    const bool read_only_;
    LastError last_error_;
};

enum class Access { read, write, read_write };

// MTD_FILE_MODE_* of one open file.
enum class FileMode { normal, otp_factory, otp_user, raw };

// What an ioctl answers: the return value (0 or a positive answer such as MEMGETBADBLOCK's 1) and
// the bytes copied out to the caller's argument.
struct IoctlReply {
    int value = 0;
    std::vector<std::byte> out;
    // The call erased or changed flash behind the reader's back: cached pages of the node are
    // stale.
    bool changed_flash = false;
};

// struct mtd_write_req without its pointers.
struct WriteRequest {
    std::uint64_t start_bytes = 0;
    std::span<const std::byte> data, oob;
    unsigned mode = 0; // MTD_OPS_PLACE_OOB, _AUTO_OOB, _RAW
};

// struct mtd_read_req without its pointers.
struct ReadRequest {
    std::uint64_t start_bytes = 0;
    std::span<std::byte> data, oob;
    unsigned mode = 0; // as in WriteRequest
};
struct ReadAnswer {
    std::size_t oob_bytes = 0; // OOB read: no more than the pages of the data have
    // EBADMSG where ECC gave up somewhere, EUCLEAN where it corrected: the bytes have come all the
    // same.
    int error = 0;
    chip::EccCounts ecc;
};

// struct otp_info.
struct OtpRegion {
    std::uint32_t start_bytes = 0, length_bytes = 0;
    bool locked = false;
};

class StagedCalls;

// What mtdchar keeps per open file. Calls on one OpenFile may come from several threads.
class OpenFile {
public:
    // EACCES where the device or the node is read-only and writing is asked for.
    [[nodiscard]] static Result<std::unique_ptr<OpenFile>> open(Device& device, Access access,
                                                                bool read_only_node);
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile();

    [[nodiscard]] Device& device() { return device_; }
    [[nodiscard]] bool writable() const { return access_ != Access::read; }

    [[nodiscard]] Result<std::size_t> read(std::uint64_t at_bytes, std::span<std::byte> into);
    [[nodiscard]] Result<std::size_t> write(std::uint64_t at_bytes,
                                            std::span<const std::byte> from);

    // An ioctl as FUSE carries it: `command` (any encoding, 32-bit callers' too), `argument` the
    // value itself (MTDFILEMODE), `in` what FUSE copied in, at most `out_limit_bytes` back. The
    // order of refusals is mtdchar's: ENOTTY unknown, EPERM needs a writable file, then the call's
    // own. Commands that FUSE encodes wrongly or that hold pointers: EOPNOTSUPP, the message names
    // mtdfuse-run. Packed by mtdfuse-run (wire.hpp) they are answered, in the same order; EPROTO
    // for a message that is none, ESTALE for an unknown token, EBUSY where every staged call that
    // may be kept is being executed. No call here waits for another one's chip, but a repeated
    // execute of one token for the first.
    [[nodiscard]] Result<IoctlReply> ioctl(std::uint32_t command, std::uint64_t argument,
                                           std::span<const std::byte> in,
                                           std::size_t out_limit_bytes);

    // The calls that FUSE cannot carry, in their decoded form. Checks and their order are those of
    // mtdchar.c and mtdcore.c of Linux 6.1.
    //
    // MEMREADOOB, MEMREADOOB64: `start` holds the page and the offset within its OOB. Returns the
    // bytes read. EINVAL above 4096 bytes, past the page's OOB where an offset is given, past the
    // device's; EOPNOTSUPP without OOB. What ECC met is not told.
    [[nodiscard]] Result<std::size_t>
    read_oob(std::uint64_t start_bytes, std::uint32_t length_bytes, std::span<std::byte> into);
    // MEMWRITEOOB, MEMWRITEOOB64. Returns the bytes written: all. EPERM; EINVAL above 4096 bytes;
    // EOPNOTSUPP without OOB; EINVAL as in read_oob.
    [[nodiscard]] Result<std::size_t> write_oob(std::uint64_t start_bytes,
                                                std::span<const std::byte> from);
    // MEMWRITE. EPERM; EOPNOTSUPP without OOB; EINVAL past the end, for an unknown mode, or for
    // more OOB than the device has. OOB that the pages of the data have no room for is left out;
    // nothing to write is a success.
    [[nodiscard]] Status write_request(const WriteRequest& request);
    // MEMREAD. As MEMWRITE, but for any file.
    [[nodiscard]] Result<ReadAnswer> read_request(const ReadRequest& request);
    // MEMISLOCKED. Errors are Device's.
    [[nodiscard]] Result<bool> is_locked(std::uint64_t start_bytes, std::uint64_t length_bytes);
    // OTPSELECT: EINVAL for an unknown mode, EOPNOTSUPP for an area that the type does not have;
    // the file is in normal mode then.
    [[nodiscard]] Status otp_select(int mode);
    // OTPGETREGIONCOUNT, OTPGETREGIONINFO: of the area that is selected, EINVAL where none is.
    [[nodiscard]] Result<std::uint32_t> otp_region_count();
    [[nodiscard]] Result<std::vector<OtpRegion>> otp_region_info();
    // OTPLOCK. EPERM; EINVAL where the user area is not selected.
    [[nodiscard]] Status otp_lock(std::uint32_t start_bytes, std::uint32_t length_bytes);

    // close(2): everything written back. fsync(2): and on stable storage. Errors once per open
    // file.
    [[nodiscard]] Status flush();
    [[nodiscard]] Status fsync();

private:
    OpenFile(Device& device, Access access);

    [[nodiscard]] Result<IoctlReply> packed(std::span<const std::byte> in,
                                            std::size_t out_limit_bytes);

    Device& device_;
    const Access access_;
    std::mutex mutex_; // guards cursor_; held across a sync, never while replying
    chip::ErrorCursor cursor_;
    std::atomic<FileMode> mode_ = FileMode::normal;
    const std::unique_ptr<StagedCalls> staged_;
};

} // namespace mtdfuse::mtd
