// The seccomp filter of a program that runs under the supervisor: which of its system calls the
// supervisor is asked about. Reads, writes and all else pass at full speed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <linux/filter.h>
#include <mtd/mtd-user.h>
#include <sys/ioctl.h>

#include <mtdfuse/wire.hpp>

namespace mtdfuse::run {

// Calls that name a path or look at a file's type; and ioctl, for some commands.
enum class Trapped {
    open,
    creat,
    openat,
    openat2,
    stat,
    lstat,
    fstat,
    fstatat,
    statx,
    access,
    faccessat,
    faccessat2,
    readlink,
    readlinkat,
    ioctl,
};

inline constexpr int kNoCall = -1;

// arch/x86/entry/syscalls/syscall_64.tbl and syscall_32.tbl; the 32-bit table has each stat twice,
// with 32-bit and with 64-bit sizes. Its oldstat family, of before 1995, is no longer called.
struct TrappedCall {
    Trapped call;
    int x86_64;
    int i386;
};
inline constexpr std::array kTrappedCalls{
    TrappedCall{Trapped::ioctl, 16, 54},       TrappedCall{Trapped::openat, 257, 295},
    TrappedCall{Trapped::open, 2, 5},          TrappedCall{Trapped::fstat, 5, 108},
    TrappedCall{Trapped::fstat, kNoCall, 197}, TrappedCall{Trapped::fstatat, 262, 300},
    TrappedCall{Trapped::statx, 332, 383},     TrappedCall{Trapped::stat, 4, 106},
    TrappedCall{Trapped::stat, kNoCall, 195},  TrappedCall{Trapped::lstat, 6, 107},
    TrappedCall{Trapped::lstat, kNoCall, 196}, TrappedCall{Trapped::access, 21, 33},
    TrappedCall{Trapped::faccessat, 269, 307}, TrappedCall{Trapped::faccessat2, 439, 439},
    TrappedCall{Trapped::readlink, 89, 85},    TrappedCall{Trapped::readlinkat, 267, 305},
    TrappedCall{Trapped::openat2, 437, 437},   TrappedCall{Trapped::creat, 85, 8},
};

// Of these, FUSE copies the wrong bytes or none: their direction is encoded wrongly, or they hold
// pointers (include/uapi/mtd/mtd-abi.h).
inline constexpr auto kTrappedIoctls = std::to_array<std::uint32_t>({
    MEMISLOCKED,
    OTPSELECT,
    OTPGETREGIONCOUNT,
    OTPGETREGIONINFO,
    OTPLOCK,
    MEMREADOOB,
    MEMWRITEOOB,
    MEMREADOOB64,
    MEMWRITEOOB64,
    MEMWRITE,
    MEMREAD,
    wire::kBlkpg,
    wire::kMemWriteOob32,
    wire::kMemReadOob32,
    wire::kMemRead32,
});

// For x86-64 and i386 programs. A call by any other convention (x32) fails with ENOSYS, as on a
// kernel without it. An ioctl is told by the low 32 bits of its command: musl sign-extends it.
[[nodiscard]] std::vector<sock_filter> make_filter();

} // namespace mtdfuse::run
