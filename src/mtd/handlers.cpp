#include "handlers.hpp"

#include <cerrno>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>
#include <mtd/mtd-user.h>

namespace mtdfuse::mtd {
namespace {

static_assert(sizeof(mtd_info_user) == 32 && sizeof(erase_info_user) == 8);
static_assert(sizeof(erase_info_user64) == 16 && sizeof(region_info_user) == 16);
static_assert(sizeof(mtd_ecc_stats) == 16 && sizeof(__kernel_loff_t) == 8);

template<class T>
Result<T> argument_of(const Call& call) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (call.in.size() < sizeof(T)) {
        return fail(EFAULT, fmt::format("the argument has {} bytes: {} are needed", call.in.size(),
                                        sizeof(T)));
    }
    T value;
    std::memcpy(&value, call.in.data(), sizeof value);
    return value;
}

template<class T>
Result<IoctlReply> answer(const Call& call, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (call.out_limit_bytes < sizeof(T)) {
        return fail(EFAULT, fmt::format("room for an answer of {} bytes: {} are needed",
                                        call.out_limit_bytes, sizeof(T)));
    }
    IoctlReply reply;
    reply.out.resize(sizeof(T));
    std::memcpy(reply.out.data(), &value, sizeof value);
    return reply;
}

Result<IoctlReply> answer(const Status& status) {
    if (!status) {
        return tl::make_unexpected(status.error());
    }
    return IoctlReply{};
}

Result<IoctlReply> erase_range(Device& device, std::uint64_t start_bytes,
                               std::uint64_t length_bytes) {
    Result<IoctlReply> reply = answer(device.erase(start_bytes, length_bytes));
    if (reply) {
        reply->changed_flash = length_bytes > 0;
    }
    return reply;
}

std::string_view type_of(OpenFile& file) {
    return chip::type_name(file.device().geometry().type);
}

} // namespace

Result<IoctlReply> get_info(OpenFile& file, const Call& call) {
    const chip::Geometry& geometry = file.device().geometry();
    mtd_info_user info{};
    info.type = MTD_RAM;
    info.flags = file.device().flags();
    // A device of 4 GiB or more does not fit: the kernel gives the low 32 bits.
    info.size = static_cast<std::uint32_t>(geometry.size_bytes & 0xffff'ffffU);
    info.erasesize = geometry.erasesize_bytes;
    info.writesize = geometry.writesize_bytes;
    info.oobsize = geometry.oobsize_bytes;
    return answer(call, info);
}

Result<IoctlReply> get_region_count(OpenFile&, const Call& call) {
    return answer(call, int{0});
}

Result<IoctlReply> get_region_info(OpenFile&, const Call& call) {
    const auto region = argument_of<region_info_user>(call);
    if (!region) {
        return tl::make_unexpected(region.error());
    }
    return fail(EINVAL, fmt::format("no erase region {}: the device has one erasesize and no "
                                    "regions",
                                    region->regionindex));
}

Result<IoctlReply> get_oob_layout(OpenFile& file, const Call&) {
    return fail(EOPNOTSUPP, fmt::format("a {} device has no OOB area", type_of(file)));
}

Result<IoctlReply> get_ecc_stats(OpenFile& file, const Call& call) {
    const EccStats stats = file.device().ecc_stats();
    mtd_ecc_stats user{};
    user.corrected = stats.corrected;
    user.failed = stats.failed;
    user.badblocks = stats.bad_blocks;
    user.bbtblocks = stats.bbt_blocks;
    return answer(call, user);
}

Result<IoctlReply> get_bad_block(OpenFile& file, const Call& call) {
    const auto at = argument_of<std::uint64_t>(call);
    if (!at) {
        return tl::make_unexpected(at.error());
    }
    const Result<bool> bad = file.device().block_is_bad(*at);
    if (!bad) {
        return tl::make_unexpected(bad.error());
    }
    IoctlReply reply;
    reply.value = *bad ? 1 : 0;
    return reply;
}

Result<IoctlReply> set_bad_block(OpenFile& file, const Call& call) {
    const auto at = argument_of<std::uint64_t>(call);
    if (!at) {
        return tl::make_unexpected(at.error());
    }
    return answer(file.device().mark_bad(*at));
}

Result<IoctlReply> erase(OpenFile& file, const Call& call) {
    const auto range = argument_of<erase_info_user>(call);
    if (!range) {
        return tl::make_unexpected(range.error());
    }
    return erase_range(file.device(), range->start, range->length);
}

Result<IoctlReply> erase64(OpenFile& file, const Call& call) {
    const auto range = argument_of<erase_info_user64>(call);
    if (!range) {
        return tl::make_unexpected(range.error());
    }
    return erase_range(file.device(), range->start, range->length);
}

Result<IoctlReply> lock_range(OpenFile& file, const Call& call) {
    const auto range = argument_of<erase_info_user>(call);
    if (!range) {
        return tl::make_unexpected(range.error());
    }
    return answer(file.device().lock(range->start, range->length));
}

Result<IoctlReply> unlock_range(OpenFile& file, const Call& call) {
    const auto range = argument_of<erase_info_user>(call);
    if (!range) {
        return tl::make_unexpected(range.error());
    }
    return answer(file.device().unlock(range->start, range->length));
}

Result<IoctlReply> set_file_mode(OpenFile& file, const Call& call) {
    // The OTP modes have the same numbers here and in OTPSELECT.
    static_assert(MTD_FILE_MODE_NORMAL == MTD_OTP_OFF);
    static_assert(MTD_FILE_MODE_OTP_FACTORY == MTD_OTP_FACTORY);
    static_assert(MTD_FILE_MODE_OTP_USER == MTD_OTP_USER);
    if (call.argument <= MTD_FILE_MODE_OTP_USER) {
        return answer(file.otp_select(static_cast<int>(call.argument)));
    }
    if (Status normal = file.otp_select(MTD_OTP_OFF); !normal) {
        return tl::make_unexpected(normal.error());
    }
    if (call.argument == MTD_FILE_MODE_RAW) {
        return fail(EOPNOTSUPP,
                    fmt::format("raw mode needs an OOB area: a {} device has none", type_of(file)));
    }
    return fail(
        EINVAL,
        fmt::format("file mode {}: use 0 (normal), 1 (factory OTP), 2 (user OTP) or 3 (raw)",
                    call.argument));
}

Result<IoctlReply> erase_otp(OpenFile& file, const Call&) {
    return fail(EINVAL,
                fmt::format("needs user OTP mode: a {} device has no OTP area", type_of(file)));
}

Result<IoctlReply> reread_partitions(OpenFile&, const Call&) {
    return IoctlReply{};
}

} // namespace mtdfuse::mtd
