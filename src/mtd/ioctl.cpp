#include <mtdfuse/mtd.hpp>

#include <cerrno>

#include <fmt/format.h>

#include "command.hpp"

namespace mtdfuse::mtd {

Result<IoctlReply> OpenFile::ioctl(std::uint32_t command, std::uint64_t argument,
                                   std::span<const std::byte> in, std::size_t out_limit_bytes) {
    if (wire::is_message(command)) {
        return packed(in, out_limit_bytes);
    }
    const Command* const known = find_command(command);
    if (known == nullptr) {
        return fail(ENOTTY, fmt::format("ioctl {:#x} is no MTD ioctl", command));
    }
    if (known->needs_write && !writable()) {
        return needs_writable_file(*known);
    }
    if (known->carrier == Carrier::run) {
        return fail(EOPNOTSUPP, fmt::format("{}: a file in a FUSE mount cannot carry this ioctl; "
                                            "run the program under mtdfuse-run",
                                            known->name));
    }
    Result<IoctlReply> reply = known->handler(*this, Call{argument, in, out_limit_bytes});
    if (!reply) {
        return fail(reply.error().number,
                    fmt::format("{}: {}", known->name, reply.error().context));
    }
    return reply;
}

} // namespace mtdfuse::mtd
