#include "packed_handlers.hpp"

#include <cerrno>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>
#include <mtd/mtd-user.h>

#include "request_checks.hpp"

namespace mtdfuse::mtd::packed {
namespace {

static_assert(sizeof(otp_info) == 12);

template<class T>
Status status_of(const Result<T>& result) {
    return result ? Status{} : Status{tl::make_unexpected(result.error())};
}

Result<PackedAnswer> answer(const Status& status) {
    if (!status) {
        return tl::make_unexpected(status.error());
    }
    return PackedAnswer{};
}

template<class T>
void append(std::vector<std::byte>& out, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto bytes = std::as_bytes(std::span(&value, 1));
    out.insert(out.end(), bytes.begin(), bytes.end());
}

RequestSizes sizes_of(const wire::Request& request) {
    return {request.start, request.data_bytes, request.oob_bytes, request.mode};
}

// struct otp_info has 32 bits for each.
Status check_otp_range(const wire::Request& request) {
    if (request.start > UINT32_MAX || request.length_bytes > UINT32_MAX) {
        return fail(EPROTO, fmt::format("a range of {} bytes at {:#x} does not fit into 32 bits",
                                        request.length_bytes, request.start));
    }
    return {};
}

} // namespace

Status check_is_locked(OpenFile& file, const wire::Request& request) {
    return status_of(file.is_locked(request.start, request.length_bytes));
}

Result<PackedAnswer> is_locked(OpenFile& file, const wire::Request& request,
                               std::span<const std::byte>) {
    const Result<bool> locked = file.is_locked(request.start, request.length_bytes);
    if (!locked) {
        return tl::make_unexpected(locked.error());
    }
    PackedAnswer answer;
    answer.reply.value = *locked ? 1 : 0;
    return answer;
}

Status check_otp_select(OpenFile& file, const wire::Request& request) {
    return check_otp_mode(file.device(), static_cast<int>(request.mode));
}

Result<PackedAnswer> otp_select(OpenFile& file, const wire::Request& request,
                                std::span<const std::byte>) {
    return answer(file.otp_select(static_cast<int>(request.mode)));
}

Status check_otp_region_count(OpenFile& file, const wire::Request&) {
    return status_of(file.otp_region_count());
}

Result<PackedAnswer> otp_region_count(OpenFile& file, const wire::Request&,
                                      std::span<const std::byte>) {
    const Result<std::uint32_t> count = file.otp_region_count();
    if (!count) {
        return tl::make_unexpected(count.error());
    }
    PackedAnswer answer;
    append(answer.out, *count);
    return answer;
}

Status check_otp_region_info(OpenFile& file, const wire::Request&) {
    return status_of(file.otp_region_info());
}

Result<PackedAnswer> otp_region_info(OpenFile& file, const wire::Request&,
                                     std::span<const std::byte>) {
    const Result<std::vector<OtpRegion>> regions = file.otp_region_info();
    if (!regions) {
        return tl::make_unexpected(regions.error());
    }
    PackedAnswer answer;
    for (const OtpRegion& region : *regions) {
        append(answer.out,
               otp_info{region.start_bytes, region.length_bytes, region.locked ? 1U : 0U});
    }
    return answer;
}

Status check_otp_lock(OpenFile& file, const wire::Request& request) {
    if (Status range = check_otp_range(request); !range) {
        return range;
    }
    return mtd::check_otp_lock(file.device());
}

Result<PackedAnswer> otp_lock(OpenFile& file, const wire::Request& request,
                              std::span<const std::byte>) {
    if (Status range = check_otp_range(request); !range) {
        return tl::make_unexpected(range.error());
    }
    return answer(file.otp_lock(static_cast<std::uint32_t>(request.start),
                                static_cast<std::uint32_t>(request.length_bytes)));
}

Status check_read_oob(OpenFile& file, const wire::Request& request) {
    return mtd::check_read_oob(file.device(), request.start, request.oob_bytes);
}

Result<PackedAnswer> read_oob(OpenFile& file, const wire::Request& request,
                              std::span<const std::byte>) {
    if (Status refused = check_read_oob(file, request); !refused) {
        return tl::make_unexpected(refused.error());
    }
    PackedAnswer answer;
    answer.out.resize(request.oob_bytes);
    const Result<std::size_t> read =
        file.read_oob(request.start, static_cast<std::uint32_t>(request.oob_bytes), answer.out);
    if (!read) {
        return tl::make_unexpected(read.error());
    }
    answer.out.resize(*read);
    answer.reply.done_bytes = *read;
    return answer;
}

Status check_write_oob(OpenFile& file, const wire::Request& request) {
    return mtd::check_write_oob(file.device(), request.start, request.oob_bytes);
}

Result<PackedAnswer> write_oob(OpenFile& file, const wire::Request& request,
                               std::span<const std::byte> in) {
    const Result<std::size_t> written = file.write_oob(request.start, in);
    if (!written) {
        return tl::make_unexpected(written.error());
    }
    PackedAnswer answer;
    answer.reply.done_bytes = *written;
    answer.changed_flash = *written > 0;
    return answer;
}

Status check_page_request(OpenFile& file, const wire::Request& request) {
    return mtd::check_page_request(file.device(), sizes_of(request));
}

Result<PackedAnswer> read_pages(OpenFile& file, const wire::Request& request,
                                std::span<const std::byte>) {
    if (Status refused = check_page_request(file, request); !refused) {
        return tl::make_unexpected(refused.error());
    }
    PackedAnswer answer;
    answer.out.resize(request.data_bytes + request.oob_bytes);
    const std::span out(answer.out);
    const Result<ReadAnswer> read =
        file.read_request({request.start, out.first(request.data_bytes),
                           out.subspan(request.data_bytes), request.mode});
    if (!read) {
        return tl::make_unexpected(read.error());
    }
    answer.out.resize(request.data_bytes + read->oob_bytes);
    answer.reply.value = -read->error;
    answer.reply.done_bytes = answer.out.size();
    answer.reply.uncorrectable_errors = read->ecc.uncorrectable_errors;
    answer.reply.corrected_bitflips = read->ecc.corrected_bitflips;
    answer.reply.max_bitflips = read->ecc.max_bitflips;
    return answer;
}

Result<PackedAnswer> write_pages(OpenFile& file, const wire::Request& request,
                                 std::span<const std::byte> in) {
    const Status written = file.write_request({request.start, in.first(request.data_bytes),
                                               in.subspan(request.data_bytes), request.mode});
    if (!written) {
        return tl::make_unexpected(written.error());
    }
    PackedAnswer answer;
    answer.changed_flash = !in.empty();
    return answer;
}

Status check_partition(OpenFile&, const wire::Request&) {
    return fail(EOPNOTSUPP, "partitions are given at mount, with --parts");
}

Result<PackedAnswer> change_partition(OpenFile& file, const wire::Request& request,
                                      std::span<const std::byte>) {
    return answer(check_partition(file, request));
}

} // namespace mtdfuse::mtd::packed
