// How mtdfuse-run hands the daemon those ioctls that FUSE cannot carry: packed, with the data their
// pointers lead to, into one well-formed ioctl on the caller's own open file. The one description
// of it: the room `run` packs, the room `mtd` decodes. Both ends run on one machine, so numbers are
// the machine's.
//
// A message is a Request and what follows it, at most kMaxMessageBytes together; the answer, a
// Reply and what follows it, comes back in the same buffer. A call whose data fits is one message
// (whole). A larger one is staged: begin says how much there is and is refused like the call
// itself, put brings the incoming bytes in pieces, execute carries the call out - once, whatever is
// repeated - get fetches the outgoing bytes in pieces, end forgets it.
//
// A refused call is the ioctl's errno. A message that is none - another version, a size or step
// that cannot be - is EPROTO; a token that is not known (any more) ESTALE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace mtdfuse::wire {

inline constexpr std::uint32_t kVersion = 1;

// FUSE copies what the number of an ioctl says, which has 14 bits for it.
inline constexpr std::size_t kMaxMessageBytes = 16376;

enum class Step : std::uint32_t { whole = 1, begin, put, execute, get, end };

// `command` is a number of mtd-user.h as x86-64 has it, also for a call of a 32-bit program. What
// the fields mean to each:
//   MEMISLOCKED                  start, length_bytes: the range; value: 0 or 1
//   OTPSELECT                    mode
//   OTPGETREGIONCOUNT            a std::uint32_t comes out
//   OTPGETREGIONINFO             as many struct otp_info come out as there are regions
//   OTPLOCK                      start, length_bytes: the range
//   MEMREADOOB, MEMREADOOB64     start; oob_bytes come out; done_bytes
//   MEMWRITEOOB, MEMWRITEOOB64   start; oob_bytes go in; done_bytes
//   MEMWRITE                     start, mode; data_bytes, then oob_bytes go in
//   MEMREAD                      start, mode; data_bytes, then oob_bytes come out; the ECC counts
//   BLKPG                        nothing: partitions are given at mount
struct Request {
    std::uint32_t version = kVersion;
    Step step = Step::whole;
    std::uint64_t token = 0; // put, execute, get, end: as begin answered
    std::uint32_t command = 0;
    std::uint32_t mode = 0; // MTD_OTP_* or MTD_OPS_*
    std::uint64_t start = 0;
    std::uint64_t length_bytes = 0; // of a range that is named, not transferred
    std::uint64_t data_bytes = 0;
    std::uint64_t oob_bytes = 0;
    std::uint64_t piece_at =
        0; // put, get: where the piece belongs in data and OOB, one behind the other
    std::uint64_t piece_bytes = 0; // whole, put: bytes that follow; get: bytes wanted
};

struct Reply {
    std::uint32_t version = kVersion;
    // The call's own answer, 0 or more; or less than 0, an errno that comes with data (EUCLEAN,
    // EBADMSG).
    std::int32_t value = 0;
    std::uint64_t token = 0;       // begin
    std::uint64_t done_bytes = 0;  // bytes transferred, where the call tells
    std::uint64_t out_bytes = 0;   // whole, execute: bytes that come out
    std::uint64_t piece_bytes = 0; // whole, get: bytes that follow
    std::uint32_t uncorrectable_errors = 0;
    std::uint32_t corrected_bitflips = 0;
    std::uint32_t max_bitflips = 0;
    std::uint32_t reserved = 0;
};

static_assert(sizeof(Request) == 72 && std::is_trivially_copyable_v<Request>);
static_assert(sizeof(Reply) == 56 && std::is_trivially_copyable_v<Reply>);

inline constexpr std::size_t kMaxPieceBytes = kMaxMessageBytes - sizeof(Request);

// Numbers of such ioctls that <mtd/mtd-user.h> does not give. <linux/blkpg.h> spells BLKPG with a
// type that C++ does not accept everywhere; the others are what a 32-bit program calls them by:
// their structures hold a pointer, or end in padding that i386 leaves out.
inline constexpr std::uint32_t kBlkpg = 0x1269;
inline constexpr std::uint32_t kMemWriteOob32 = 0xc00c4d03;
inline constexpr std::uint32_t kMemReadOob32 = 0xc00c4d04;
inline constexpr std::uint32_t kMemRead32 = 0xc03c4d1a;

// The ioctl's number for a message of `bytes`: _IOC(_IOC_READ | _IOC_WRITE, 'M', 0xe0, bytes) of
// asm-generic/ioctl.h. mtd-user.h ends at 0x1b.
[[nodiscard]] constexpr std::uint32_t message_number(std::size_t bytes) {
    return 0xc0004de0U | static_cast<std::uint32_t>(bytes) << 16U;
}
[[nodiscard]] constexpr bool is_message(std::uint32_t number) {
    return (number & 0xc000ffffU) == 0xc0004de0U;
}

} // namespace mtdfuse::wire
