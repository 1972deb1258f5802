// One MTD device. Invariant: what reaches the chip lies inside the device, moved to where it lies
// on the chip, and, for an erase, on the block grid. No lock of its own: everything but the last
// error is set once.
//
// The order of the checks is that of Linux's mtdcore.c and mtdchar.c: a call with two faults must
// answer as there.
#include <mtdfuse/mtd.hpp>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

namespace mtdfuse::mtd {
namespace {

constexpr std::uint32_t kRamFlags = kFlagWriteable | kFlagBitWriteable | kFlagNoErase;

// A driver's failure reaches a tool as EIO; a full disk below is the one other cause it can name.
int chip_errno(int number) {
    return number == ENOSPC ? ENOSPC : EIO;
}

tl::unexpected<Error> past_end(std::string_view what, std::uint64_t at_bytes,
                               std::uint64_t length_bytes, std::uint64_t size_bytes) {
    return fail(EINVAL, fmt::format("{} of {:#x} bytes at {:#x} is past the device's end at {:#x}",
                                    what, length_bytes, at_bytes, size_bytes));
}

tl::unexpected<Error> read_only_device(std::string_view what) {
    return fail(EROFS, fmt::format("{}: the device is read-only", what));
}

Status check_grid(const chip::Geometry& geometry, std::uint64_t at_bytes,
                  std::uint64_t length_bytes) {
    const std::uint64_t block = geometry.erasesize_bytes;
    if (at_bytes % block != 0) {
        return fail(EINVAL, fmt::format("an erase must start on a block boundary: {:#x} is inside "
                                        "the block at {:#x} (erasesize {})",
                                        at_bytes, at_bytes - at_bytes % block, format_size(block)));
    }
    if (length_bytes % block != 0) {
        return fail(EINVAL,
                    fmt::format("an erase must cover whole blocks: {} bytes are no multiple of "
                                "erasesize {}",
                                length_bytes, format_size(block)));
    }
    return {};
}

// A failure of the calls that only some types have. What the chip refuses of the request itself is
// told as it is; an accident is a driver's failure, as above.
template<class T>
Result<T> of_chip(std::string_view what, std::uint64_t at_bytes, Result<T> done) {
    if (done) {
        return done;
    }
    const int number = done.error().number;
    const bool refused = number == EINVAL || number == EOPNOTSUPP;
    return fail(refused ? number : chip_errno(number),
                fmt::format("{} at {:#x}: {}", what, at_bytes, done.error().context));
}

template<class Byte>
PageRange range_of(const chip::PageTransfer<Byte>& pages) {
    return {pages.at.value, pages.data.size(), pages.oob.size(), pages.oob_offset_bytes,
            pages.mode};
}

chip::Geometry part_of(chip::Geometry geometry, const Partition& part) {
    geometry.size_bytes = part.size_bytes;
    return geometry;
}

} // namespace

Device::Device(chip::Chip& chip, unsigned index, std::string name, bool read_only)
    : chip_(chip), geometry_(chip.geometry()), index_(index), name_(std::move(name)),
      read_only_(read_only) {}

Device::Device(chip::Chip& chip, unsigned index, const Partition& part)
    : chip_(chip), geometry_(part_of(chip.geometry(), part)), offset_bytes_(part.offset_bytes),
      index_(index), name_(part.name), read_only_(part.read_only) {}

std::uint32_t Device::flags() const {
    return read_only_ ? kRamFlags & ~kFlagWriteable : kRamFlags;
}

Result<std::size_t> Device::read(std::uint64_t at_bytes, std::span<std::byte> into) {
    const std::uint64_t size = geometry().size_bytes;
    if (at_bytes >= size || into.empty()) {
        return std::size_t{0};
    }
    const std::size_t length = std::min<std::uint64_t>(into.size(), size - at_bytes);
    if (Status done = chip_.read(on_chip(at_bytes), into.first(length)); !done) {
        return fail(EIO, fmt::format("read of {} bytes at {:#x}: {}", length, at_bytes,
                                     done.error().context));
    }
    return length;
}

Result<std::size_t> Device::write(std::uint64_t at_bytes, std::span<const std::byte> from) {
    const std::uint64_t size = geometry().size_bytes;
    if (at_bytes >= size) {
        return fail(ENOSPC, fmt::format("write of {} bytes at {:#x}: the device ends at {:#x}",
                                        from.size(), at_bytes, size));
    }
    if (from.empty()) {
        return std::size_t{0};
    }
    if (read_only_) {
        return read_only_device("write");
    }
    const std::size_t length = std::min<std::uint64_t>(from.size(), size - at_bytes);
    if (Status done = chip_.program(on_chip(at_bytes), from.first(length)); !done) {
        return fail(
            chip_errno(done.error().number),
            fmt::format("write of {} bytes at {:#x}: {}", length, at_bytes, done.error().context));
    }
    return length;
}

Status Device::erase(std::uint64_t at_bytes, std::uint64_t length_bytes) {
    const std::uint64_t size = geometry().size_bytes;
    if (at_bytes >= size || length_bytes > size - at_bytes) {
        return past_end("an erase", at_bytes, length_bytes, size);
    }
    if (read_only_) {
        return read_only_device("erase");
    }
    if (length_bytes == 0) {
        return {};
    }
    if (Status grid = check_grid(geometry(), at_bytes, length_bytes); !grid) {
        return grid;
    }
    const std::uint64_t count = length_bytes / geometry().erasesize_bytes;
    if (Status done = chip_.erase(geometry().block_of(on_chip(at_bytes)), count); !done) {
        return fail(EIO, fmt::format("erase of {:#x} bytes at {:#x}: {}", length_bytes, at_bytes,
                                     done.error().context));
    }
    return {};
}

Result<bool> Device::block_is_bad(std::uint64_t at_bytes) const {
    if (at_bytes >= geometry().size_bytes) {
        return past_end("a block", at_bytes, geometry().erasesize_bytes, geometry().size_bytes);
    }
    return false;
}

Status Device::mark_bad(std::uint64_t) {
    return chip::has_none(geometry().type, "bad blocks to mark");
}

Status Device::check_lock_range(std::string_view what, std::uint64_t at_bytes,
                                std::uint64_t length_bytes) const {
    if (!chip_.has_locks()) {
        return chip::has_none(geometry().type, "locks");
    }
    const std::uint64_t size = geometry().size_bytes;
    if (at_bytes >= size || length_bytes > size - at_bytes) {
        return past_end(what, at_bytes, length_bytes, size);
    }
    return {};
}

Status Device::lock(std::uint64_t at_bytes, std::uint64_t length_bytes) {
    Status range = check_lock_range("a lock", at_bytes, length_bytes);
    if (!range || length_bytes == 0) {
        return range;
    }
    return of_chip("lock", at_bytes, chip_.lock(on_chip(at_bytes), length_bytes));
}

Status Device::unlock(std::uint64_t at_bytes, std::uint64_t length_bytes) {
    Status range = check_lock_range("an unlock", at_bytes, length_bytes);
    if (!range || length_bytes == 0) {
        return range;
    }
    return of_chip("unlock", at_bytes, chip_.unlock(on_chip(at_bytes), length_bytes));
}

Result<bool> Device::is_locked(std::uint64_t at_bytes, std::uint64_t length_bytes) const {
    if (Status range = check_lock_range("a lock", at_bytes, length_bytes); !range) {
        return tl::make_unexpected(range.error());
    }
    if (length_bytes == 0) {
        return false;
    }
    return of_chip("lock", at_bytes, chip_.is_locked(on_chip(at_bytes), length_bytes));
}

std::uint64_t Device::oob_bytes_per_page(chip::OobMode mode) const {
    return mode == chip::OobMode::automatic ? chip_.oobavail_bytes() : geometry().oobsize_bytes;
}

Status Device::check_pages(const PageRange& range) const {
    const std::uint64_t size = geometry().size_bytes;
    if (range.at_bytes > size || range.data_bytes > size - range.at_bytes) {
        return past_end("a transfer", range.at_bytes, range.data_bytes, size);
    }
    if (range.oob_bytes == 0) {
        return {};
    }
    const std::uint64_t per_page = oob_bytes_per_page(range.mode);
    if (range.oob_offset_bytes >= per_page) {
        return fail(EINVAL, fmt::format("OOB from byte {} of a page's area on: a page has {}",
                                        range.oob_offset_bytes, per_page));
    }
    const std::uint64_t page = geometry().writesize_bytes;
    const std::uint64_t left_bytes = (size / page - range.at_bytes / page) * per_page;
    if (range.oob_offset_bytes > left_bytes ||
        range.oob_bytes > left_bytes - range.oob_offset_bytes) {
        return fail(EINVAL,
                    fmt::format("{} bytes of OOB from the page at {:#x} on: the pages to the "
                                "device's end at {:#x} have {}",
                                range.oob_bytes, range.at_bytes, size, left_bytes));
    }
    return {};
}

Status Device::program_pages(const chip::PageProgram& pages) {
    if (read_only_) {
        return read_only_device("program of pages");
    }
    if (Status range = check_pages(range_of(pages)); !range) {
        return range;
    }
    if (!has_oob()) {
        return chip::has_none(geometry().type, "OOB area");
    }
    chip::PageProgram moved = pages;
    moved.at = on_chip(pages.at.value);
    return of_chip("program of pages", pages.at.value, chip_.program_pages(moved));
}

Result<chip::EccCounts> Device::read_pages(const chip::PageRead& pages) {
    if (Status range = check_pages(range_of(pages)); !range) {
        return tl::make_unexpected(range.error());
    }
    if (!has_oob()) {
        return chip::has_none(geometry().type, "OOB area");
    }
    chip::PageRead moved = pages;
    moved.at = on_chip(pages.at.value);
    return of_chip("read of pages", pages.at.value, chip_.read_pages(moved));
}

} // namespace mtdfuse::mtd
