// One open file. Invariant: mode_ is a mode that the device's type has, so always normal on `ram`;
// cursor_ has seen every error that this file was told of. Lock order: mutex_, then whatever the
// chip locks.
#include <mtdfuse/mtd.hpp>

#include <cerrno>

#include <fmt/format.h>
#include <mtd/mtd-user.h>

namespace mtdfuse::mtd {
namespace {

// mtdchar refuses longer OOB transfers before it looks at the device.
constexpr std::size_t kMaxOobBytes = 4096;

std::string_view type_of(const Device& device) {
    return chip::type_name(device.geometry().type);
}

tl::unexpected<Error> no_oob(const Device& device) {
    return fail(EOPNOTSUPP, fmt::format("a {} device has no OOB area", type_of(device)));
}

Status check_oob_length(std::size_t length_bytes) {
    if (length_bytes > kMaxOobBytes) {
        return fail(EINVAL, fmt::format("an OOB transfer of {} bytes: use at most {}", length_bytes,
                                        kMaxOobBytes));
    }
    return {};
}

} // namespace

OpenFile::OpenFile(Device& device, Access access)
    : device_(device), access_(access), cursor_(device.error_cursor()) {}

Result<std::unique_ptr<OpenFile>> OpenFile::open(Device& device, Access access,
                                                 bool read_only_node) {
    if (access != Access::read && read_only_node) {
        return fail(EACCES, fmt::format("mtd{0}ro opened for writing: use mtd{0}", device.index()));
    }
    if (access != Access::read && device.read_only()) {
        return fail(EACCES, fmt::format("mtd{} opened for writing: the device is read-only",
                                        device.index()));
    }
    return std::unique_ptr<OpenFile>(new OpenFile(device, access));
}

Result<std::size_t> OpenFile::read(std::uint64_t at_bytes, std::span<std::byte> into) {
    if (access_ == Access::write) {
        return fail(EBADF, "read from a file that was opened for writing only");
    }
    return device_.read(at_bytes, into);
}

Result<std::size_t> OpenFile::write(std::uint64_t at_bytes, std::span<const std::byte> from) {
    if (!writable()) {
        return fail(EBADF, "write to a file that was opened for reading only");
    }
    return device_.write(at_bytes, from);
}

Result<std::size_t> OpenFile::read_oob(std::uint64_t, std::uint32_t length_bytes,
                                       std::span<std::byte>) {
    if (Status length = check_oob_length(length_bytes); !length) {
        return tl::make_unexpected(length.error());
    }
    // mtdcore compares a length with the OOB area first and looks for the driver's call after.
    if (length_bytes > 0) {
        return fail(EINVAL, fmt::format("{} bytes of an OOB area of none: a {} device has no OOB",
                                        length_bytes, type_of(device_)));
    }
    return no_oob(device_);
}

Result<std::size_t> OpenFile::write_oob(std::uint64_t, std::span<const std::byte> from) {
    if (!writable()) {
        return fail(EPERM, "OOB written through a file that was opened for reading only");
    }
    if (Status length = check_oob_length(from.size()); !length) {
        return tl::make_unexpected(length.error());
    }
    return no_oob(device_);
}

Status OpenFile::write_request(const WriteRequest&) {
    if (!writable()) {
        return fail(EPERM, "MEMWRITE through a file that was opened for reading only");
    }
    return no_oob(device_);
}

Result<bool> OpenFile::is_locked(std::uint32_t start_bytes, std::uint32_t length_bytes) {
    return device_.is_locked(start_bytes, length_bytes);
}

Status OpenFile::otp_select(int mode) {
    const std::lock_guard lock(mutex_);
    // mtdchar leaves the old mode before it judges the new one.
    mode_ = FileMode::normal;
    switch (mode) {
    case MTD_OTP_OFF:
        return {};
    case MTD_OTP_FACTORY:
    case MTD_OTP_USER:
        return fail(EOPNOTSUPP, fmt::format("a {} device has no OTP area", type_of(device_)));
    default:
        return fail(EINVAL, fmt::format("OTP mode {}: use 0 (off), 1 (factory) or 2 (user)", mode));
    }
}

Result<std::uint32_t> OpenFile::otp_region_count() {
    return fail(EINVAL, "no OTP area is selected: OTPSELECT comes first");
}

Status OpenFile::flush() {
    // As mtdchar_close: only a writer's close syncs.
    if (!writable()) {
        return {};
    }
    const std::lock_guard lock(mutex_);
    return device_.sync(Durability::written_back, cursor_);
}

Status OpenFile::fsync() {
    const std::lock_guard lock(mutex_);
    return device_.sync(Durability::stable, cursor_);
}

} // namespace mtdfuse::mtd
