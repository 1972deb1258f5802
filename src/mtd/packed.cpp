#include "packed.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "staged_calls.hpp"

namespace mtdfuse::mtd {
namespace {

using wire::Step;

tl::unexpected<Error> no_message(std::string_view why) {
    return fail(EPROTO, fmt::format("no message of mtdfuse-run: {}", why));
}

Error no_room(std::uint64_t bytes, std::size_t out_limit_bytes) {
    return no_message(fmt::format("{} bytes shall come out, there is room for {}", bytes,
                                  out_limit_bytes - sizeof(wire::Reply)))
        .value();
}

Result<wire::Request> parse_request(std::span<const std::byte> in) {
    wire::Request request;
    // Before the length: another version may be shorter.
    if (in.size() >= sizeof request.version) {
        std::uint32_t version = 0;
        std::memcpy(&version, in.data(), sizeof version);
        if (version != wire::kVersion) {
            return fail(EPROTO, fmt::format("mtdfuse-run and mtdfuse are of different versions: "
                                            "message format {}, not {}; install both from one "
                                            "build, and mount again",
                                            version, wire::kVersion));
        }
    }
    if (in.size() < sizeof request) {
        return no_message(fmt::format("{} bytes, a request has {}", in.size(), sizeof request));
    }
    std::memcpy(&request, in.data(), sizeof request);
    return request;
}

bool brings_bytes(Step step) {
    return step == Step::whole || step == Step::put;
}

bool names_command(Step step) {
    return step == Step::whole || step == Step::begin;
}

Status check_size(std::string_view what, Flow flow, std::uint64_t bytes) {
    if (flow == Flow::none && bytes > 0) {
        return no_message(fmt::format("{} bytes of {} for a call that has none", bytes, what));
    }
    return {};
}

// Sums of sizes that a peer made up must not wrap.
Result<std::uint64_t> add(std::uint64_t one, std::uint64_t other) {
    if (one > UINT64_MAX - other) {
        return no_message(fmt::format("{} and {} bytes together", one, other));
    }
    return one + other;
}

Status check_whole(const Packed& packed, const wire::Request& request,
                   std::size_t out_limit_bytes) {
    const auto flowing = [&](Flow flow) {
        return add(packed.data == flow ? request.data_bytes : 0,
                   packed.oob == flow ? request.oob_bytes : 0);
    };
    const auto in_bytes = flowing(Flow::in);
    const auto out_bytes = flowing(Flow::out);
    if (!in_bytes || !out_bytes) {
        return tl::make_unexpected((in_bytes ? out_bytes : in_bytes).error());
    }
    if (request.piece_bytes != *in_bytes) {
        return no_message(
            fmt::format("{} bytes follow a call that {} go into", request.piece_bytes, *in_bytes));
    }
    if (*out_bytes > out_limit_bytes - sizeof(wire::Reply)) {
        return tl::make_unexpected(no_room(*out_bytes, out_limit_bytes));
    }
    return {};
}

Status check_command(const Message& message, std::size_t out_limit_bytes) {
    const wire::Request& request = message.request;
    const Packed& packed = message.command->packed;
    if (Status data = check_size("data", packed.data, request.data_bytes); !data) {
        return data;
    }
    if (Status oob = check_size("OOB", packed.oob, request.oob_bytes); !oob) {
        return oob;
    }
    if (request.step == Step::whole) {
        return check_whole(packed, request, out_limit_bytes);
    }
    const auto sum = add(request.data_bytes, request.oob_bytes);
    return sum ? Status{} : Status{tl::make_unexpected(sum.error())};
}

Result<IoctlReply> answer(const PackedAnswer& answer) {
    wire::Reply reply = answer.reply;
    reply.piece_bytes = answer.out.size();
    IoctlReply made;
    made.changed_flash = answer.changed_flash;
    made.out.resize(sizeof reply + answer.out.size());
    std::memcpy(made.out.data(), &reply, sizeof reply);
    if (!answer.out.empty()) {
        std::memcpy(made.out.data() + sizeof reply, answer.out.data(), answer.out.size());
    }
    return made;
}

Result<IoctlReply> answer(const Status& status) {
    if (!status) {
        return tl::make_unexpected(status.error());
    }
    return answer(PackedAnswer{});
}

Error named(const Command& command, const Error& error) {
    return {error.number, fmt::format("{}: {}", command.name, error.context)};
}

Result<IoctlReply> whole(OpenFile& file, const Message& message, std::size_t out_limit_bytes) {
    const Command& command = *message.command;
    auto done = command.packed.handler(file, message.request, message.piece);
    if (!done) {
        return tl::make_unexpected(named(command, done.error()));
    }
    // Only OTPGETREGIONINFO brings more than a request says; it changes nothing.
    if (done->out.size() > out_limit_bytes - sizeof(wire::Reply)) {
        return tl::make_unexpected(named(command, no_room(done->out.size(), out_limit_bytes)));
    }
    done->reply.out_bytes = done->out.size();
    return answer(*done);
}

} // namespace

Result<Message> parse_message(std::span<const std::byte> in, std::size_t out_limit_bytes) {
    const auto request = parse_request(in);
    if (!request) {
        return tl::make_unexpected(request.error());
    }
    Message message{*request, {}, nullptr};
    const Step step = request->step;
    if (step < Step::whole || step > Step::end) {
        return no_message(fmt::format("step {}", static_cast<std::uint32_t>(step)));
    }
    if (out_limit_bytes < sizeof(wire::Reply)) {
        return no_message(fmt::format("room for a reply of {} bytes, it has {}", out_limit_bytes,
                                      sizeof(wire::Reply)));
    }
    if (brings_bytes(step)) {
        const auto follow = in.subspan(sizeof *request);
        if (request->piece_bytes > follow.size()) {
            return no_message(fmt::format("{} bytes are said to follow, {} do",
                                          request->piece_bytes, follow.size()));
        }
        message.piece = follow.first(request->piece_bytes);
    }
    if (step == Step::get && request->piece_bytes > out_limit_bytes - sizeof(wire::Reply)) {
        return tl::make_unexpected(no_room(request->piece_bytes, out_limit_bytes));
    }
    if (names_command(step)) {
        message.command = find_command(request->command);
        if (message.command == nullptr || message.command->carrier != Carrier::run) {
            return no_message(fmt::format("ioctl {:#x} is none that it brings", request->command));
        }
        if (Status sizes = check_command(message, out_limit_bytes); !sizes) {
            return tl::make_unexpected(named(*message.command, sizes.error()));
        }
    }
    return message;
}

Result<IoctlReply> OpenFile::packed(std::span<const std::byte> in, std::size_t out_limit_bytes) {
    const auto message = parse_message(in, out_limit_bytes);
    if (!message) {
        return tl::make_unexpected(message.error());
    }
    const wire::Request& request = message->request;
    if (message->command != nullptr && message->command->needs_write && !writable()) {
        return needs_writable_file(*message->command);
    }
    switch (request.step) {
    case Step::whole:
        return whole(*this, *message, out_limit_bytes);
    case Step::begin: {
        const Command& command = *message->command;
        if (Status refused = command.packed.check(*this, request); !refused) {
            return tl::make_unexpected(named(command, refused.error()));
        }
        const auto token = staged_->begin(command, request);
        if (!token) {
            return tl::make_unexpected(named(command, token.error()));
        }
        PackedAnswer begun;
        begun.reply.token = *token;
        return answer(begun);
    }
    case Step::put:
        return answer(staged_->put(request.token, request.piece_at, message->piece));
    case Step::execute: {
        const auto executed = staged_->execute(request.token, *this);
        if (!executed) {
            return tl::make_unexpected(executed.error());
        }
        return answer(*executed);
    }
    case Step::get: {
        auto piece = staged_->get(request.token, request.piece_at, request.piece_bytes);
        if (!piece) {
            return tl::make_unexpected(piece.error());
        }
        PackedAnswer fetched;
        fetched.out = std::move(*piece);
        return answer(fetched);
    }
    case Step::end:
        return answer(staged_->end(request.token));
    }
    return no_message("an unknown step"); // parse_message lets none through
}

} // namespace mtdfuse::mtd
