#include "exceptions.hpp"

#include <array>

#include <fmt/format.h>

namespace mtdfuse::replay {
namespace {

using Instead = std::optional<std::string>;

constexpr std::string_view kInvalid = "-1 EINVAL";
constexpr std::string_view kUnsupported = "-1 EOPNOTSUPP";

// `give` where the line is exactly `text`.
Instead exactly(const Line& line, std::string_view text, std::string_view give) {
    return line.text == text ? Instead(give) : std::nullopt;
}

Instead fsync_works(const Line& line, const Profile&) {
    const bool is_sync = line.text == "fsync = -1 EINVAL" || line.text == "fdatasync = -1 EINVAL";
    return is_sync ? Instead("0") : std::nullopt;
}

Instead unaligned_erase(const Line& line, const Profile& profile) {
    const bool is_erase = line.call == "MEMERASE" || line.call == "MEMERASE64";
    if (!is_erase || profile.id != "block2mtd-64k" || line.expected != "0") {
        return std::nullopt;
    }
    const bool aligned = line.number_of("start") % profile.erasesize_bytes == 0 &&
                         line.number_of("length") % profile.erasesize_bytes == 0;
    return aligned ? std::nullopt : Instead(kInvalid);
}

Instead node_is_a_file(const Line& line, const Profile& profile) {
    return exactly(line, "fstat mode=chr size=0 rdev_major=90",
                   fmt::format("mode=reg size={} rdev_major=0", profile.size_bytes));
}

Instead seek_past_end(const Line& line, const Profile& profile) {
    if (line.call != "lseek" || line.expected != kInvalid) {
        return std::nullopt;
    }
    // The recorder set the position to 0 before.
    const bool from_end = line.text_of("whence") == "END";
    const auto size = static_cast<std::int64_t>(profile.size_bytes);
    const std::int64_t position =
        static_cast<std::int64_t>(line.number_of("off")) + (from_end ? size : 0);
    return position > size ? Instead(std::to_string(position)) : std::nullopt;
}

Instead empty_write_at_end(const Line& line, const Profile& profile) {
    return exactly(line, fmt::format("pwrite off={} len=0 seed=11 = -1 ENOSPC", profile.size_bytes),
                   "0");
}

Instead truncate_succeeds(const Line& line, const Profile&) {
    return exactly(line, "ftruncate len=0 = -1 EINVAL", "0");
}

Instead private_map(const Line& line, const Profile&) {
    return exactly(line, "mmap PROT_READ MAP_PRIVATE = ENODEV", "ok");
}

Instead append_at_end(const Line& line, const Profile& profile) {
    return exactly(line, fmt::format("write = {}", profile.unit_bytes), "-1 ENOSPC");
}

void append_at_front(Session& session) {
    session.target.mend(0, session.bytes(session.profile.unit_bytes));
}

// The structure stays as the caller filled it.
Instead read_oob(const Line& line, const Profile&) {
    if (line.call != "MEMREADOOB" || line.expected != "-1 EINVAL start=0") {
        return std::nullopt;
    }
    return fmt::format("{} start={}", kUnsupported, line.number_of("start"));
}

Instead read_oob64(const Line& line, const Profile&) {
    if (line.call != "MEMREADOOB64" || line.expected != "-1 EINVAL length=0") {
        return std::nullopt;
    }
    return fmt::format("{} length={}", kUnsupported, line.number_of("length"));
}

Instead otp_select(const Line& line, const Profile&) {
    const bool is_select =
        line.text == "OTPSELECT mode=0 = 0" || line.text == "OTPSELECT mode=9 = -1 EINVAL";
    return is_select ? Instead(kUnsupported) : std::nullopt;
}

Instead otp_region_count(const Line& line, const Profile&) {
    return exactly(line, "OTPGETREGIONCOUNT = -1 EINVAL", kUnsupported);
}

// What a directed trace of these devices holds; it is the same list for both.
constexpr unsigned kDirectedReadOob = 38;
// A random trace draws 1200 calls, MEMREADOOB with a chance of 4.75 in 100: 57 on average, with a
// standard deviation of 7.4. Six of those above the average is seen once in 10^9 traces.
constexpr unsigned kRandomReadOob = 101;

constexpr std::string_view kNeedsRun =
    "FUSE cannot carry it: encoded wrongly, or holds pointers; mtdfuse-run brings it";

constexpr std::array kExceptions{
    Exception{"fsync-works", true, 2, 0, fsync_works, nullptr,
              "fsync is the way to durability here; a kernel's MTD node has none"},
    Exception{"unaligned-erase", true, 6, 0, unaligned_erase, nullptr,
              "block2mtd rounds such an erase to whole blocks; losing a neighbour's data is worse"},
    Exception{"node-is-a-file", false, 1, 0, node_is_a_file, nullptr,
              "a character device in a FUSE mount would be served by the kernel's driver table"},
    Exception{"seek-past-end", false, 5, 0, seek_past_end, nullptr,
              "the VFS answers lseek on a regular file, FUSE never sees it"},
    Exception{"empty-write-at-end", false, 1, 0, empty_write_at_end, nullptr,
              "the VFS answers a write of nothing, FUSE never sees it"},
    Exception{"truncate-succeeds", false, 1, 0, truncate_succeeds, nullptr,
              "shells open with O_TRUNC, which arrives as the same request; nothing is changed"},
    Exception{"private-map", false, 1, 0, private_map, nullptr,
              "FUSE cannot refuse a private mapping"},
    Exception{"append-at-end", false, 1, 0, append_at_end, append_at_front,
              "the VFS puts an appended write at the file's size; the replay then writes the same "
              "bytes at 0, where the kernel put them, so that the lines after it compare"},
    Exception{"read-oob", false, kDirectedReadOob, kRandomReadOob, read_oob, nullptr, kNeedsRun},
    Exception{"read-oob64", false, 3, 0, read_oob64, nullptr, kNeedsRun},
    Exception{"otp-select", false, 2, 0, otp_select, nullptr, kNeedsRun},
    Exception{"otp-region-count", false, 1, 0, otp_region_count, nullptr, kNeedsRun},
};

constexpr std::string_view kNoVfs = "the VFS answers it, there is none in process";

constexpr std::array kNotIssued{
    NotIssued{"fstat", 1, kNoVfs},
    NotIssued{"lseek", 22, kNoVfs},
    NotIssued{"ftruncate", 1, kNoVfs},
    NotIssued{"fallocate", 1, kNoVfs},
    NotIssued{"mmap", 2, kNoVfs},
    NotIssued{"pread", 1, "the VFS refuses a negative offset, there is none in process"},
};

} // namespace

std::span<const Exception> exceptions() {
    return kExceptions;
}

std::span<const NotIssued> not_issued() {
    return kNotIssued;
}

const Exception* find_exception(TargetKind target, const Line& line, const Profile& profile,
                                std::string_view answer) {
    for (const Exception& exception : kExceptions) {
        if (target == TargetKind::in_process && !exception.in_process) {
            continue;
        }
        const Instead instead = exception.instead(line, profile);
        if (instead && *instead == answer) {
            return &exception;
        }
    }
    return nullptr;
}

} // namespace mtdfuse::replay
