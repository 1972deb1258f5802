// The ioctls of mtdchar as one table: how each is named, who may call it, how it travels, who
// answers it.
#pragma once

#include <mtdfuse/mtd.hpp>
#include <mtdfuse/wire.hpp>

namespace mtdfuse::mtd {

// What FUSE hands over of one ioctl.
struct Call {
    std::uint64_t argument;
    std::span<const std::byte> in;
    std::size_t out_limit_bytes;
};

using Handler = Result<IoctlReply> (*)(OpenFile& file, const Call& call);

// What a packed call answers; `reply` without its token and piece, which who sends it adds.
struct PackedAnswer {
    wire::Reply reply;
    std::vector<std::byte> out;
    bool changed_flash = false; // as in IoctlReply
};

// Whether a request's data_bytes or oob_bytes go into a call, come out, or cannot be.
enum class Flow { none, in, out };

// Every refusal that needs no bytes and changes nothing: what a call is refused for before it is
// staged, and before room is made for what comes out. The permission has been looked at.
using PackedCheck = Status (*)(OpenFile& file, const wire::Request& request);
// `in` is as long as the request's sizes that go in. Repeats the check.
using PackedHandler = Result<PackedAnswer> (*)(OpenFile& file, const wire::Request& request,
                                               std::span<const std::byte> in);

// The form that mtdfuse-run gives to a call that FUSE cannot carry.
struct Packed {
    Flow data = Flow::none, oob = Flow::none;
    PackedCheck check = nullptr;
    PackedHandler handler = nullptr;
};

enum class Carrier {
    fuse, // the number says truthfully what is copied in and out
    run,  // wrongly encoded, or holds pointers: only mtdfuse-run can bring it
};

struct Command {
    std::uint32_t number;
    std::string_view name;
    bool needs_write;
    Carrier carrier;
    Handler handler = nullptr; // where the carrier is `fuse`
    Packed packed;             // where it is `run`
};

// EPERM for a command with needs_write through a file that was opened for reading only.
[[nodiscard]] tl::unexpected<Error> needs_writable_file(const Command& command);

// Null for a number that mtdchar does not know.
[[nodiscard]] const Command* find_command(std::uint32_t number);

} // namespace mtdfuse::mtd
