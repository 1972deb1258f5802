// The ioctls of mtdchar as one table: how each is named, who may call it, how it travels, who
// answers it.
#pragma once

#include <mtdfuse/mtd.hpp>

namespace mtdfuse::mtd {

// What FUSE hands over of one ioctl.
struct Call {
    std::uint64_t argument;
    std::span<const std::byte> in;
    std::size_t out_limit_bytes;
};

using Handler = Result<IoctlReply> (*)(OpenFile& file, const Call& call);

enum class Carrier {
    fuse, // the number says truthfully what is copied in and out
    run,  // wrongly encoded, or holds pointers: only mtdfuse-run can bring it
};

struct Command {
    std::uint32_t number;
    std::string_view name;
    bool needs_write;
    Carrier carrier;
    Handler handler; // null where the carrier is `run`: its decoded form has an own call
};

// Null for a number that mtdchar does not know.
[[nodiscard]] const Command* find_command(std::uint32_t number);

} // namespace mtdfuse::mtd
