// A packed message, taken apart and looked at: what of it can be believed. Stateless.
#pragma once

#include "command.hpp"

namespace mtdfuse::mtd {

struct Message {
    wire::Request request;
    std::span<const std::byte> piece; // whole, put: the bytes that go in
    const Command* command = nullptr; // whole, begin; one that mtdfuse-run brings
};

// EPROTO for a message that is none: too short, of another version, with an unknown step or
// command, with sizes that contradict each other, the command or the room for the answer.
[[nodiscard]] Result<Message> parse_message(std::span<const std::byte> in,
                                            std::size_t out_limit_bytes);

} // namespace mtdfuse::mtd
