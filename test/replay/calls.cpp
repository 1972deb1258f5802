#include "calls.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <mtd/mtd-user.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "data.hpp"

namespace mtdfuse::replay {
namespace {

constexpr std::size_t kBufferBytes = (4U << 20) + 65536;
constexpr std::size_t kOobBytes = 1U << 20;
constexpr std::byte kUnread{0xA5};
constexpr std::uint64_t kMaxCrcBytes = 65536;

using Text = std::optional<std::string>; // nothing: the target cannot make the call

std::string errno_word(int number) {
    const char* const name = ::strerrorname_np(number);
    return name != nullptr ? name : std::to_string(number);
}

std::string refusal(const Outcome& outcome) {
    return "-1 " + errno_word(outcome.error);
}

Text plain(const Answer& answer) {
    if (!answer) {
        return std::nullopt;
    }
    return answer->value < 0 ? refusal(*answer) : std::to_string(answer->value);
}

// For calls that tell "ok" or the errno.
Text ok_or_errno(const Answer& answer) {
    if (!answer) {
        return std::nullopt;
    }
    return answer->value < 0 ? errno_word(answer->error) : "ok";
}

std::uint32_t narrow(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}

template<class T>
Answer ioctl_with(Session& session, std::uint32_t command, T& argument) {
    return session.target.ioctl(command, std::as_writable_bytes(std::span(&argument, 1)));
}

// An ioctl that answers by its structure: `details` follow the 0.
template<class T, class Details>
Text ioctl_details(Session& session, std::uint32_t command, T argument, Details details) {
    const Answer answer = ioctl_with(session, command, argument);
    if (!answer || answer->value < 0) {
        return plain(answer);
    }
    return fmt::format("{} {}", answer->value, details(argument));
}

// ---- reading and writing -------------------------------------------------------------------

Text do_pread(Session& session, const Line& line) {
    // `pread = -1 EBADF` on a handle that cannot read gives no arguments: one byte at 0.
    if (line.arguments.empty()) {
        return plain(session.target.pread(0, session.bytes(1)));
    }
    const auto at = static_cast<std::int64_t>(line.number_of("off"));
    const std::span<std::byte> into = session.bytes(line.number_of("len"));
    if (at >= 0) {
        std::fill(into.begin(), into.end(), kUnread);
    }
    const Answer answer = session.target.pread(at, into);
    if (!answer || answer->value < 0) {
        return plain(answer);
    }
    const auto count = static_cast<std::size_t>(answer->value);
    return fmt::format("{} crc={:08x}", count, crc32(into.first(count)));
}

Text do_pwrite(Session& session, const Line& line) {
    const std::span<std::byte> from = session.bytes(line.number_of("len"));
    fill_pattern(from, narrow(line.number_of("seed")));
    return plain(session.target.pwrite(static_cast<std::int64_t>(line.number_of("off")), from));
}

Text do_pfill(Session& session, const Line& line) {
    const std::span<std::byte> from = session.bytes(line.number_of("len"));
    std::fill(from.begin(), from.end(), static_cast<std::byte>(line.number_of("byte")));
    return plain(session.target.pwrite(static_cast<std::int64_t>(line.number_of("off")), from));
}

// `read seq`: the first one begins half of its length before the end, the next ones go on.
Text do_read(Session& session, const Line& line) {
    session.target.back_to_main();
    const std::uint64_t length = line.number_of("len");
    const std::span<std::byte> into = session.bytes(length);
    if (!session.reading_on) {
        session.target.move_to(session.profile.size_bytes - length / 2);
        std::fill(into.begin(), into.end(), std::byte{0});
    }
    session.reading_on = true;
    return plain(session.target.read(into));
}

// `write seq` likewise; `write` alone is the one of the O_APPEND handle. Both write what the buffer
// holds.
Text do_write(Session& session, const Line& line) {
    if (!line.has_word("seq")) {
        return plain(session.target.write(session.bytes(session.profile.unit_bytes)));
    }
    const std::uint64_t length = line.number_of("len");
    if (!session.writing_on) {
        session.target.move_to(session.profile.size_bytes - length / 2);
    }
    session.writing_on = true;
    return plain(session.target.write(session.bytes(length)));
}

// ---- the file ------------------------------------------------------------------------------

Text do_open(Session& session, const Line& line) {
    const Node node = line.has_word("ro-node") ? Node::read_only : Node::main;
    const std::string words = line.words.empty() ? std::string() : line.words.back();
    int flags = O_RDWR;
    if (words.starts_with("O_RDONLY")) {
        flags = O_RDONLY;
    } else if (words.starts_with("O_WRONLY")) {
        flags = O_WRONLY;
    }
    const auto has = [&words](std::string_view flag) {
        return words.find(flag) != std::string::npos;
    };
    flags |= has("O_APPEND") ? O_APPEND : 0;
    flags |= has("O_TRUNC") ? O_TRUNC : 0;
    flags |= has("O_EXCL") ? O_EXCL : 0;
    return ok_or_errno(session.target.open(node, flags));
}

Text do_fstat(Session& session, const Line&) {
    const auto status = session.target.fstat();
    if (!status) {
        return std::nullopt;
    }
    return fmt::format("mode={} size={} rdev_major={}", status->mode, status->size,
                       status->rdev_major);
}

Text do_lseek(Session& session, const Line& line) {
    const std::string_view whence = line.text_of("whence");
    if (!session.writing_on) {
        session.target.move_to(0);
    }
    return plain(session.target.lseek(static_cast<std::int64_t>(line.number_of("off")),
                                      whence == "SET"   ? SEEK_SET
                                      : whence == "CUR" ? SEEK_CUR
                                                        : SEEK_END));
}

Text do_fsync(Session& session, const Line& line) {
    return plain(session.target.fsync(line.call == "fdatasync"));
}

Text do_ftruncate(Session& session, const Line& line) {
    return plain(session.target.ftruncate(line.number_of("len")));
}

Text do_fallocate(Session& session, const Line&) {
    return plain(session.target.fallocate(4096));
}

Text do_mmap(Session& session, const Line& line) {
    return ok_or_errno(session.target.mmap(line.has_word("MAP_SHARED")));
}

// ---- ioctls that FUSE carries --------------------------------------------------------------

Text do_info(Session& session, const Line&) {
    return ioctl_details(session, MEMGETINFO, mtd_info_user{}, [](const mtd_info_user& info) {
        return fmt::format(
            "type={} flags=0x{:x} size={} erasesize={} writesize={} oobsize={} padding={}",
            info.type, info.flags, info.size, info.erasesize, info.writesize, info.oobsize,
            info.padding);
    });
}

Text do_region_count(Session& session, const Line&) {
    return ioctl_details(session, MEMGETREGIONCOUNT, int{-1},
                         [](int count) { return fmt::format("count={}", count); });
}

Text do_region_info(Session& session, const Line& line) {
    region_info_user region{};
    region.regionindex = narrow(line.number_of("index"));
    return ioctl_details(session, MEMGETREGIONINFO, region, [](const region_info_user& info) {
        return fmt::format("offset={} erasesize={} numblocks={}", info.offset, info.erasesize,
                           info.numblocks);
    });
}

// No device here has an OOB layout: only that the call is refused can be equal.
Text do_oob_layout(Session& session, const Line& line) {
    if (line.call == "MEMGETOOBSEL") {
        nand_oobinfo info{};
        return plain(ioctl_with(session, MEMGETOOBSEL, info));
    }
    nand_ecclayout_user layout{};
    return plain(ioctl_with(session, ECCGETLAYOUT, layout));
}

Text do_ecc_stats(Session& session, const Line&) {
    return ioctl_details(session, ECCGETSTATS, mtd_ecc_stats{}, [](const mtd_ecc_stats& stats) {
        return fmt::format("corrected={} failed={} badblocks={} bbtblocks={}", stats.corrected,
                           stats.failed, stats.badblocks, stats.bbtblocks);
    });
}

Text do_range(Session& session, const Line& line, std::uint32_t command) {
    erase_info_user range{narrow(line.number_of("start")), narrow(line.number_of("length"))};
    return plain(ioctl_with(session, command, range));
}
Text do_erase(Session& session, const Line& line) {
    return do_range(session, line, MEMERASE);
}
Text do_lock(Session& session, const Line& line) {
    return do_range(session, line, MEMLOCK);
}
Text do_unlock(Session& session, const Line& line) {
    return do_range(session, line, MEMUNLOCK);
}

Text do_erase64(Session& session, const Line& line) {
    erase_info_user64 range{line.number_of("start"), line.number_of("length")};
    return plain(ioctl_with(session, MEMERASE64, range));
}

Text do_bad_block(Session& session, const Line& line) {
    std::uint64_t at = line.number_of("off");
    const bool get = line.call == "MEMGETBADBLOCK";
    return plain(ioctl_with(session, get ? MEMGETBADBLOCK : MEMSETBADBLOCK, at));
}

Text do_file_mode(Session& session, const Line& line) {
    return plain(session.target.ioctl_value(MTDFILEMODE, line.number_of("mode")));
}

// `ioctl cmd=NUMBER`, `ioctl cmd=TCGETS`, `ioctl MEMGETINFO arg=NULL`.
Text do_ioctl(Session& session, const Line& line) {
    if (line.has_word("MEMGETINFO")) {
        return plain(session.target.ioctl(MEMGETINFO, {}));
    }
    if (line.text_of("cmd") == "TCGETS") {
        constexpr std::uint32_t kTcgets = 0x5401;
        std::array<std::byte, 256> terminal{};
        return plain(session.target.ioctl(kTcgets, terminal));
    }
    return plain(session.target.ioctl_value(narrow(line.number_of("cmd")), 0));
}

// ---- ioctls that FUSE cannot carry ---------------------------------------------------------

Text do_read_oob(Session& session, const Line& line) {
    const std::uint64_t length = line.number_of("length");
    const std::span<std::byte> data = session.bytes(length);
    const std::span<std::byte> cleared = session.bytes(length + 64);
    std::fill(cleared.begin(), cleared.end(), kUnread);
    OobTransfer transfer{line.call == "MEMREADOOB64", line.number_of("start"), narrow(length),
                         data};
    const Answer answer = session.target.read_oob(transfer);
    if (!answer) {
        return std::nullopt;
    }
    const std::string result = answer->value < 0 ? refusal(*answer) : std::to_string(answer->value);
    if (transfer.wide) {
        const std::string text = fmt::format("{} length={}", result, transfer.length);
        const std::size_t told = transfer.length < kMaxCrcBytes ? transfer.length : 0;
        return answer->value < 0 ? text
                                 : fmt::format("{} crc={:08x}", text, crc32(session.bytes(told)));
    }
    const std::string text = fmt::format("{} start={}", result, transfer.start);
    return answer->value < 0
               ? text
               : fmt::format("{} length={} crc={:08x}", text, transfer.length, crc32(data));
}

Text do_write_oob(Session& session, const Line& line) {
    const std::span<std::byte> data = session.bytes(line.number_of("length"));
    fill_pattern(data, narrow(line.number_of("seed")));
    OobTransfer transfer{line.call == "MEMWRITEOOB64", line.number_of("start"), narrow(data.size()),
                         data};
    const Answer answer = session.target.write_oob(transfer);
    if (!answer || answer->value < 0) {
        return plain(answer);
    }
    return fmt::format("{} length={}", answer->value, transfer.length);
}

Text do_memwrite(Session& session, const Line& line) {
    constexpr std::uint32_t kOobSeedDistance = 77;
    const std::uint32_t seed = narrow(line.number_of("seed"));
    const std::span<std::byte> data = session.bytes(line.number_of("len"));
    const std::span<std::byte> oob =
        std::span(session.oob)
            .first(std::min<std::uint64_t>(line.number_of("ooblen"), session.oob.size()));
    fill_pattern(data, seed);
    fill_pattern(oob, seed + kOobSeedDistance);
    return plain(session.target.write_request(line.number_of("start"), data, oob,
                                              narrow(line.number_of("mode"))));
}

Text do_is_locked(Session& session, const Line& line) {
    return plain(session.target.is_locked(narrow(line.number_of("start")),
                                          narrow(line.number_of("length"))));
}

Text do_otp_select(Session& session, const Line& line) {
    return plain(session.target.otp_select(static_cast<int>(line.number_of("mode"))));
}

Text do_otp_region_count(Session& session, const Line&) {
    std::uint32_t count = 0;
    const Answer answer = session.target.otp_region_count(count);
    if (!answer || answer->value < 0) {
        return plain(answer);
    }
    return fmt::format("{} count={}", answer->value, count);
}

struct CallRow {
    std::string_view name;
    Text (*make)(Session& session, const Line& line);
};
constexpr std::array kCalls{
    CallRow{"pread", do_pread},
    CallRow{"pwrite", do_pwrite},
    CallRow{"pfill", do_pfill},
    CallRow{"read", do_read},
    CallRow{"write", do_write},
    CallRow{"open", do_open},
    CallRow{"fstat", do_fstat},
    CallRow{"lseek", do_lseek},
    CallRow{"fsync", do_fsync},
    CallRow{"fdatasync", do_fsync},
    CallRow{"ftruncate", do_ftruncate},
    CallRow{"fallocate", do_fallocate},
    CallRow{"mmap", do_mmap},
    CallRow{"ioctl", do_ioctl},
    CallRow{"MEMGETINFO", do_info},
    CallRow{"MEMGETREGIONCOUNT", do_region_count},
    CallRow{"MEMGETREGIONINFO", do_region_info},
    CallRow{"MEMGETOOBSEL", do_oob_layout},
    CallRow{"ECCGETLAYOUT", do_oob_layout},
    CallRow{"ECCGETSTATS", do_ecc_stats},
    CallRow{"MEMERASE", do_erase},
    CallRow{"MEMERASE64", do_erase64},
    CallRow{"MEMLOCK", do_lock},
    CallRow{"MEMUNLOCK", do_unlock},
    CallRow{"MEMISLOCKED", do_is_locked},
    CallRow{"MEMGETBADBLOCK", do_bad_block},
    CallRow{"MEMSETBADBLOCK", do_bad_block},
    CallRow{"MTDFILEMODE", do_file_mode},
    CallRow{"MEMREADOOB", do_read_oob},
    CallRow{"MEMREADOOB64", do_read_oob},
    CallRow{"MEMWRITEOOB", do_write_oob},
    CallRow{"MEMWRITEOOB64", do_write_oob},
    CallRow{"MEMWRITE", do_memwrite},
    CallRow{"OTPSELECT", do_otp_select},
    CallRow{"OTPGETREGIONCOUNT", do_otp_region_count},
};

} // namespace

Session::Session(Target& replayed, const Profile& device)
    : target(replayed), profile(device), buffer(kBufferBytes), oob(kOobBytes) {}

std::span<std::byte> Session::bytes(std::uint64_t count) {
    return std::span(buffer).first(std::min<std::uint64_t>(count, buffer.size()));
}

Made make_call(Session& session, const Line& line) {
    for (const CallRow& row : kCalls) {
        if (row.name != line.call) {
            continue;
        }
        Text answer = row.make(session, line);
        if (!answer) {
            return {Made::Kind::not_issued, {}};
        }
        return {Made::Kind::answered, std::move(*answer)};
    }
    return {Made::Kind::unknown, {}};
}

} // namespace mtdfuse::replay
