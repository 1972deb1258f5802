#include "command.hpp"

#include <array>

#include <linux/fs.h>
#include <mtd/mtd-user.h>

#include "handlers.hpp"

namespace mtdfuse::mtd {
namespace {

constexpr bool kAnyFile = false;
constexpr bool kWritableFile = true;

// <linux/blkpg.h> spells it with a type that C++ does not accept everywhere.
constexpr std::uint32_t kBlkpg = 0x1269;
// The same calls as a 32-bit program encodes them: their structures hold a pointer, or end in
// padding that i386 leaves out.
constexpr std::uint32_t kMemWriteOob32 = 0xc00c4d03;
constexpr std::uint32_t kMemReadOob32 = 0xc00c4d04;
constexpr std::uint32_t kMemRead32 = 0xc03c4d1a;

// Which need a writable file: mtdchar_ioctl() of Linux 6.1. Which FUSE can carry: the number's
// direction and size bits say what FUSE copies, and for those marked `run` they lie.
constexpr std::array kCommands{
    Command{MEMGETINFO, "MEMGETINFO", kAnyFile, Carrier::fuse, get_info},
    Command{MEMERASE, "MEMERASE", kWritableFile, Carrier::fuse, erase},
    Command{MEMWRITEOOB, "MEMWRITEOOB", kWritableFile, Carrier::run, nullptr},
    Command{kMemWriteOob32, "MEMWRITEOOB", kWritableFile, Carrier::run, nullptr},
    Command{MEMREADOOB, "MEMREADOOB", kAnyFile, Carrier::run, nullptr},
    Command{kMemReadOob32, "MEMREADOOB", kAnyFile, Carrier::run, nullptr},
    Command{MEMLOCK, "MEMLOCK", kWritableFile, Carrier::fuse, lock_range},
    Command{MEMUNLOCK, "MEMUNLOCK", kWritableFile, Carrier::fuse, unlock_range},
    Command{MEMGETREGIONCOUNT, "MEMGETREGIONCOUNT", kAnyFile, Carrier::fuse, get_region_count},
    Command{MEMGETREGIONINFO, "MEMGETREGIONINFO", kAnyFile, Carrier::fuse, get_region_info},
    Command{MEMGETOOBSEL, "MEMGETOOBSEL", kAnyFile, Carrier::fuse, get_oob_layout},
    Command{MEMGETBADBLOCK, "MEMGETBADBLOCK", kAnyFile, Carrier::fuse, get_bad_block},
    Command{MEMSETBADBLOCK, "MEMSETBADBLOCK", kWritableFile, Carrier::fuse, set_bad_block},
    Command{OTPSELECT, "OTPSELECT", kAnyFile, Carrier::run, nullptr},
    Command{OTPGETREGIONCOUNT, "OTPGETREGIONCOUNT", kAnyFile, Carrier::run, nullptr},
    Command{OTPGETREGIONINFO, "OTPGETREGIONINFO", kAnyFile, Carrier::run, nullptr},
    Command{OTPLOCK, "OTPLOCK", kWritableFile, Carrier::run, nullptr},
    Command{ECCGETLAYOUT, "ECCGETLAYOUT", kAnyFile, Carrier::fuse, get_oob_layout},
    Command{ECCGETSTATS, "ECCGETSTATS", kAnyFile, Carrier::fuse, get_ecc_stats},
    Command{MTDFILEMODE, "MTDFILEMODE", kAnyFile, Carrier::fuse, set_file_mode},
    Command{MEMERASE64, "MEMERASE64", kWritableFile, Carrier::fuse, erase64},
    Command{MEMWRITEOOB64, "MEMWRITEOOB64", kWritableFile, Carrier::run, nullptr},
    Command{MEMREADOOB64, "MEMREADOOB64", kAnyFile, Carrier::run, nullptr},
    Command{MEMISLOCKED, "MEMISLOCKED", kAnyFile, Carrier::run, nullptr},
    Command{MEMWRITE, "MEMWRITE", kWritableFile, Carrier::run, nullptr},
    Command{OTPERASE, "OTPERASE", kWritableFile, Carrier::fuse, erase_otp},
    Command{MEMREAD, "MEMREAD", kAnyFile, Carrier::run, nullptr},
    Command{kMemRead32, "MEMREAD", kAnyFile, Carrier::run, nullptr},
    Command{kBlkpg, "BLKPG", kAnyFile, Carrier::run, nullptr},
    Command{BLKRRPART, "BLKRRPART", kAnyFile, Carrier::fuse, reread_partitions},
};

} // namespace

const Command* find_command(std::uint32_t number) {
    for (const Command& command : kCommands) {
        if (command.number == number) {
            return &command;
        }
    }
    return nullptr;
}

} // namespace mtdfuse::mtd
