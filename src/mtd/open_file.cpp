// One open file. Invariant: mode_ is a mode that the device's type has, so always normal on `ram`;
// cursor_ has seen every error that this file was told of. Lock order: mutex_, then whatever the
// chip locks.
#include <mtdfuse/mtd.hpp>

#include <cerrno>

#include <fmt/format.h>

#include "request_checks.hpp"
#include "staged_calls.hpp"

namespace mtdfuse::mtd {
namespace {

tl::unexpected<Error> not_writable(std::string_view what) {
    return fail(EPERM, fmt::format("{} through a file that was opened for reading only", what));
}

tl::unexpected<Error> no_otp_selected() {
    return fail(EINVAL, "no OTP area is selected: OTPSELECT comes first");
}

} // namespace

OpenFile::OpenFile(Device& device, Access access)
    : device_(device), access_(access), cursor_(device.error_cursor()),
      staged_(std::make_unique<StagedCalls>()) {}

OpenFile::~OpenFile() = default;

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

Result<std::size_t> OpenFile::read_oob(std::uint64_t start_bytes, std::uint32_t length_bytes,
                                       std::span<std::byte> into) {
    if (Status refused = check_read_oob(device_, start_bytes, length_bytes); !refused) {
        return tl::make_unexpected(refused.error());
    }
    const PageRange range = oob_range(device_, start_bytes, length_bytes);
    const auto read = device_.read_pages({ByteOffset(range.at_bytes),
                                          {},
                                          into.first(length_bytes),
                                          range.oob_offset_bytes,
                                          range.mode});
    if (!read) {
        return tl::make_unexpected(read.error());
    }
    return std::size_t{length_bytes};
}

Result<std::size_t> OpenFile::write_oob(std::uint64_t start_bytes,
                                        std::span<const std::byte> from) {
    if (!writable()) {
        return not_writable("OOB written");
    }
    if (Status refused = check_write_oob(device_, start_bytes, from.size()); !refused) {
        return tl::make_unexpected(refused.error());
    }
    const PageRange range = oob_range(device_, start_bytes, from.size());
    const Status written = device_.program_pages(
        {ByteOffset(range.at_bytes), {}, from, range.oob_offset_bytes, range.mode});
    if (!written) {
        return tl::make_unexpected(written.error());
    }
    return from.size();
}

Status OpenFile::write_request(const WriteRequest& request) {
    if (!writable()) {
        return not_writable("MEMWRITE");
    }
    const RequestSizes sizes{request.start_bytes, request.data.size(), request.oob.size(),
                             request.mode};
    if (Status refused = check_page_request(device_, sizes); !refused) {
        return refused;
    }
    if (request.data.empty() && request.oob.empty()) {
        return {};
    }
    const PageRange range = request_range(device_, sizes);
    return device_.program_pages({ByteOffset(range.at_bytes), request.data,
                                  request.oob.first(range.oob_bytes), 0, range.mode});
}

Result<ReadAnswer> OpenFile::read_request(const ReadRequest& request) {
    const RequestSizes sizes{request.start_bytes, request.data.size(), request.oob.size(),
                             request.mode};
    if (Status refused = check_page_request(device_, sizes); !refused) {
        return tl::make_unexpected(refused.error());
    }
    if (request.data.empty() && request.oob.empty()) {
        return ReadAnswer{};
    }
    const PageRange range = request_range(device_, sizes);
    const auto counts = device_.read_pages({ByteOffset(range.at_bytes), request.data,
                                            request.oob.first(range.oob_bytes), 0, range.mode});
    if (!counts) {
        return tl::make_unexpected(counts.error());
    }
    const int error = counts->uncorrectable_errors > 0 ? EBADMSG
                      : counts->corrected_bitflips > 0 ? EUCLEAN
                                                       : 0;
    return ReadAnswer{range.oob_bytes, error, *counts};
}

Result<bool> OpenFile::is_locked(std::uint64_t start_bytes, std::uint64_t length_bytes) {
    return device_.is_locked(start_bytes, length_bytes);
}

Status OpenFile::otp_select(int mode) {
    // mtdchar leaves the old mode before it judges the new one.
    mode_ = FileMode::normal;
    return check_otp_mode(device_, mode);
}

Result<std::uint32_t> OpenFile::otp_region_count() {
    return no_otp_selected();
}

Result<std::vector<OtpRegion>> OpenFile::otp_region_info() {
    return no_otp_selected();
}

Status OpenFile::otp_lock(std::uint32_t, std::uint32_t) {
    if (!writable()) {
        return not_writable("OTPLOCK");
    }
    return check_otp_lock(device_);
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
