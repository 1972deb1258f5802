// The order of the checks is that of mtdchar_readoob(), mtdchar_writeoob(), mtdchar_read_ioctl()
// and mtdchar_write_ioctl() of Linux 6.1, then of mtdcore.c, which is Device::check_pages.
#include "request_checks.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <mtd/mtd-user.h>

namespace mtdfuse::mtd {
namespace {

static_assert(static_cast<int>(chip::OobMode::place) == MTD_OPS_PLACE_OOB);
static_assert(static_cast<int>(chip::OobMode::automatic) == MTD_OPS_AUTO_OOB);
static_assert(static_cast<int>(chip::OobMode::raw) == MTD_OPS_RAW);

constexpr std::uint64_t kMaxOobBytes = 4096;

tl::unexpected<Error> no_oob(const Device& device) {
    return chip::has_none(device.geometry().type, "OOB area");
}

Status check_oob_length(std::uint64_t length_bytes) {
    if (length_bytes > kMaxOobBytes) {
        return fail(EINVAL, fmt::format("an OOB transfer of {} bytes: use at most {}", length_bytes,
                                        kMaxOobBytes));
    }
    return {};
}

// A transfer may go on into the OOB of the next pages, but only from the begin of its first.
Status check_oob_offset(const Device& device, std::uint64_t start_bytes,
                        std::uint64_t length_bytes) {
    const std::uint64_t area_bytes = device.geometry().oobsize_bytes;
    const std::uint64_t offset_bytes = start_bytes % device.geometry().writesize_bytes;
    if (offset_bytes > 0 && length_bytes > 0 &&
        (offset_bytes > area_bytes || length_bytes > area_bytes - offset_bytes)) {
        return fail(EINVAL, fmt::format("{} bytes from byte {} of a page's OOB on: it has {}",
                                        length_bytes, offset_bytes, area_bytes));
    }
    return {};
}

} // namespace

PageRange oob_range(const Device& device, std::uint64_t start_bytes, std::uint64_t length_bytes) {
    const std::uint64_t offset_bytes = start_bytes % device.geometry().writesize_bytes;
    return {start_bytes - offset_bytes, 0, length_bytes, static_cast<std::uint32_t>(offset_bytes),
            chip::OobMode::place};
}

Status check_read_oob(const Device& device, std::uint64_t start_bytes, std::uint64_t length_bytes) {
    if (Status length = check_oob_length(length_bytes); !length) {
        return length;
    }
    if (Status offset = check_oob_offset(device, start_bytes, length_bytes); !offset) {
        return offset;
    }
    // mtdcore compares a length with the OOB area first and looks for the driver's call after.
    if (Status range = device.check_pages(oob_range(device, start_bytes, length_bytes)); !range) {
        return range;
    }
    return device.has_oob() ? Status{} : Status{no_oob(device)};
}

Status check_write_oob(const Device& device, std::uint64_t start_bytes,
                       std::uint64_t length_bytes) {
    if (Status length = check_oob_length(length_bytes); !length) {
        return length;
    }
    if (!device.has_oob()) {
        return no_oob(device);
    }
    if (Status offset = check_oob_offset(device, start_bytes, length_bytes); !offset) {
        return offset;
    }
    return device.check_pages(oob_range(device, start_bytes, length_bytes));
}

PageRange request_range(const Device& device, const RequestSizes& request) {
    const auto mode = static_cast<chip::OobMode>(request.mode);
    std::uint64_t oob_bytes = request.oob_bytes;
    if (request.data_bytes > 0) {
        const std::uint64_t page = device.geometry().writesize_bytes;
        const std::uint64_t last = (request.start_bytes + request.data_bytes - 1) / page;
        const std::uint64_t pages = last - request.start_bytes / page + 1;
        oob_bytes = std::min(oob_bytes, pages * device.oob_bytes_per_page(mode));
    }
    return {request.start_bytes, request.data_bytes, oob_bytes, 0, mode};
}

Status check_page_request(const Device& device, const RequestSizes& request) {
    if (!device.has_oob()) {
        return no_oob(device);
    }
    const chip::Geometry& geometry = device.geometry();
    // Once more in check_pages: before it, the range cannot be told.
    if (Status data = device.check_pages({request.start_bytes, request.data_bytes}); !data) {
        return data;
    }
    if (request.data_bytes == 0 && request.oob_bytes == 0) {
        return {};
    }
    if (request.mode > MTD_OPS_RAW) {
        return fail(EINVAL,
                    fmt::format("OOB mode {}: use 0 (place), 1 (auto) or 2 (raw)", request.mode));
    }
    // The kernel takes any length and leaves out what has no page; here it bounds what is kept.
    const std::uint64_t all_oob_bytes =
        geometry.size_bytes / geometry.writesize_bytes * geometry.oobsize_bytes;
    if (request.oob_bytes > all_oob_bytes) {
        return fail(EINVAL, fmt::format("{} bytes of OOB: the whole device has {}",
                                        request.oob_bytes, all_oob_bytes));
    }
    return device.check_pages(request_range(device, request));
}

Status check_otp_mode(const Device& device, int mode) {
    switch (mode) {
    case MTD_OTP_OFF:
        return {};
    case MTD_OTP_FACTORY:
    case MTD_OTP_USER:
        return chip::has_none(device.geometry().type, "OTP area");
    default:
        return fail(EINVAL, fmt::format("OTP mode {}: use 0 (off), 1 (factory) or 2 (user)", mode));
    }
}

Status check_otp_lock(const Device& device) {
    return fail(EINVAL, fmt::format("needs user OTP mode: a {} device has no OTP area",
                                    chip::type_name(device.geometry().type)));
}

} // namespace mtdfuse::mtd
