#include "command.hpp"

#include <array>
#include <cerrno>

#include <fmt/format.h>
#include <linux/fs.h>
#include <mtd/mtd-user.h>

#include "handlers.hpp"
#include "packed_handlers.hpp"

namespace mtdfuse::mtd {
namespace {

constexpr bool kAnyFile = false;
constexpr bool kWritableFile = true;

constexpr Packed kPackedIsLocked{Flow::none, Flow::none, packed::check_is_locked,
                                 packed::is_locked};
constexpr Packed kPackedOtpSelect{Flow::none, Flow::none, packed::check_otp_select,
                                  packed::otp_select};
constexpr Packed kPackedOtpCount{Flow::none, Flow::none, packed::check_otp_region_count,
                                 packed::otp_region_count};
constexpr Packed kPackedOtpInfo{Flow::none, Flow::none, packed::check_otp_region_info,
                                packed::otp_region_info};
constexpr Packed kPackedOtpLock{Flow::none, Flow::none, packed::check_otp_lock, packed::otp_lock};
constexpr Packed kPackedReadOob{Flow::none, Flow::out, packed::check_read_oob, packed::read_oob};
constexpr Packed kPackedWriteOob{Flow::none, Flow::in, packed::check_write_oob, packed::write_oob};
constexpr Packed kPackedWrite{Flow::in, Flow::in, packed::check_page_request, packed::write_pages};
constexpr Packed kPackedRead{Flow::out, Flow::out, packed::check_page_request, packed::read_pages};
constexpr Packed kPackedPartition{Flow::none, Flow::none, packed::check_partition,
                                  packed::change_partition};

// Which need a writable file: mtdchar_ioctl() of Linux 6.1. Which FUSE can carry: the number's
// direction and size bits say what FUSE copies, and for those marked `run` they lie.
constexpr std::array kCommands{
    Command{MEMGETINFO, "MEMGETINFO", kAnyFile, Carrier::fuse, get_info, {}},
    Command{MEMERASE, "MEMERASE", kWritableFile, Carrier::fuse, erase, {}},
    Command{MEMWRITEOOB, "MEMWRITEOOB", kWritableFile, Carrier::run, nullptr, kPackedWriteOob},
    Command{wire::kMemWriteOob32, "MEMWRITEOOB", kWritableFile, Carrier::run, nullptr,
            kPackedWriteOob},
    Command{MEMREADOOB, "MEMREADOOB", kAnyFile, Carrier::run, nullptr, kPackedReadOob},
    Command{wire::kMemReadOob32, "MEMREADOOB", kAnyFile, Carrier::run, nullptr, kPackedReadOob},
    Command{MEMLOCK, "MEMLOCK", kWritableFile, Carrier::fuse, lock_range, {}},
    Command{MEMUNLOCK, "MEMUNLOCK", kWritableFile, Carrier::fuse, unlock_range, {}},
    Command{MEMGETREGIONCOUNT, "MEMGETREGIONCOUNT", kAnyFile, Carrier::fuse, get_region_count, {}},
    Command{MEMGETREGIONINFO, "MEMGETREGIONINFO", kAnyFile, Carrier::fuse, get_region_info, {}},
    Command{MEMGETOOBSEL, "MEMGETOOBSEL", kAnyFile, Carrier::fuse, get_oob_layout, {}},
    Command{MEMGETBADBLOCK, "MEMGETBADBLOCK", kAnyFile, Carrier::fuse, get_bad_block, {}},
    Command{MEMSETBADBLOCK, "MEMSETBADBLOCK", kWritableFile, Carrier::fuse, set_bad_block, {}},
    Command{OTPSELECT, "OTPSELECT", kAnyFile, Carrier::run, nullptr, kPackedOtpSelect},
    Command{OTPGETREGIONCOUNT, "OTPGETREGIONCOUNT", kAnyFile, Carrier::run, nullptr,
            kPackedOtpCount},
    Command{OTPGETREGIONINFO, "OTPGETREGIONINFO", kAnyFile, Carrier::run, nullptr, kPackedOtpInfo},
    Command{OTPLOCK, "OTPLOCK", kWritableFile, Carrier::run, nullptr, kPackedOtpLock},
    Command{ECCGETLAYOUT, "ECCGETLAYOUT", kAnyFile, Carrier::fuse, get_oob_layout, {}},
    Command{ECCGETSTATS, "ECCGETSTATS", kAnyFile, Carrier::fuse, get_ecc_stats, {}},
    Command{MTDFILEMODE, "MTDFILEMODE", kAnyFile, Carrier::fuse, set_file_mode, {}},
    Command{MEMERASE64, "MEMERASE64", kWritableFile, Carrier::fuse, erase64, {}},
    Command{MEMWRITEOOB64, "MEMWRITEOOB64", kWritableFile, Carrier::run, nullptr, kPackedWriteOob},
    Command{MEMREADOOB64, "MEMREADOOB64", kAnyFile, Carrier::run, nullptr, kPackedReadOob},
    Command{MEMISLOCKED, "MEMISLOCKED", kAnyFile, Carrier::run, nullptr, kPackedIsLocked},
    Command{MEMWRITE, "MEMWRITE", kWritableFile, Carrier::run, nullptr, kPackedWrite},
    Command{OTPERASE, "OTPERASE", kWritableFile, Carrier::fuse, erase_otp, {}},
    Command{MEMREAD, "MEMREAD", kAnyFile, Carrier::run, nullptr, kPackedRead},
    Command{wire::kMemRead32, "MEMREAD", kAnyFile, Carrier::run, nullptr, kPackedRead},
    Command{wire::kBlkpg, "BLKPG", kAnyFile, Carrier::run, nullptr, kPackedPartition},
    Command{BLKRRPART, "BLKRRPART", kAnyFile, Carrier::fuse, reread_partitions, {}},
};

} // namespace

tl::unexpected<Error> needs_writable_file(const Command& command) {
    return fail(EPERM, fmt::format("{}: the file was opened for reading only, it needs one opened "
                                   "for writing",
                                   command.name));
}

const Command* find_command(std::uint32_t number) {
    for (const Command& command : kCommands) {
        if (command.number == number) {
            return &command;
        }
    }
    return nullptr;
}

} // namespace mtdfuse::mtd
