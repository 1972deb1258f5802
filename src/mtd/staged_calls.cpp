// Invariants: a call leaves the stage `filling` once, with all its bytes, and by that thread it is
// executed; while it is `executing` its bytes are that thread's alone, and `answer` is set as it
// becomes `executed`. No call holds more than its begin announced and its answer brought, and
// calls_ holds at most kMaxCalls; so what is kept is bounded by the device's size.
// Lock order: mutex_ guards everything and is a leaf. It is not held while the chip works.
#include "staged_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <new>

#include <fmt/format.h>

namespace mtdfuse::mtd {
namespace {

std::uint64_t bytes_that_go_in(const Packed& packed, const wire::Request& request) {
    return (packed.data == Flow::in ? request.data_bytes : 0) +
           (packed.oob == Flow::in ? request.oob_bytes : 0);
}

tl::unexpected<Error> not_now(const Command& command, std::string_view what) {
    return fail(EPROTO, fmt::format("{}: {}", command.name, what));
}

// No exception may leave: whoever waits for the answer would wait for ever.
Result<PackedAnswer> carry_out(OpenFile& file, const Command& command, const wire::Request& request,
                               std::span<const std::byte> in) {
    Error error{};
    try {
        Result<PackedAnswer> answer = command.packed.handler(file, request, in);
        if (answer) {
            return answer;
        }
        error = std::move(answer.error());
    } catch (const std::bad_alloc&) {
        error = {ENOMEM, "no memory for what comes out"};
    } catch (const std::exception& exception) {
        error = {EIO, exception.what()};
    }
    return fail(error.number, fmt::format("{}: {}", command.name, error.context));
}

} // namespace

Result<std::shared_ptr<StagedCalls::Call>> StagedCalls::find(std::uint64_t token) const {
    const auto found = calls_.find(token);
    if (found == calls_.end()) {
        return fail(ESTALE, fmt::format("no staged call has the token {}: it has ended, or newer "
                                        "ones took its place",
                                        token));
    }
    return found->second;
}

Status StagedCalls::make_room() {
    if (calls_.size() < kMaxCalls) {
        return {};
    }
    const auto oldest = std::find_if(calls_.begin(), calls_.end(), [](const auto& entry) {
        return entry.second->stage != Stage::executing;
    });
    if (oldest == calls_.end()) {
        return fail(EBUSY, fmt::format("{} staged calls of one open file are being executed: no "
                                       "more are taken",
                                       kMaxCalls));
    }
    calls_.erase(oldest);
    return {};
}

Result<std::uint64_t> StagedCalls::begin(const Command& command, const wire::Request& request) {
    const std::lock_guard lock(mutex_);
    if (Status room = make_room(); !room) {
        return tl::make_unexpected(room.error());
    }
    const std::uint64_t token = ++last_token_;
    calls_.emplace(
        token, std::make_shared<Call>(
                   Call{command, request, bytes_that_go_in(command.packed, request), {}, {}, {}}));
    return token;
}

Status StagedCalls::put(std::uint64_t token, std::uint64_t at_bytes,
                        std::span<const std::byte> piece) {
    const std::lock_guard lock(mutex_);
    const auto call = find(token);
    if (!call) {
        return tl::make_unexpected(call.error());
    }
    Call& filling = **call;
    if (filling.stage != Stage::filling) {
        return not_now(filling.command, "a piece came after the call was executed");
    }
    if (at_bytes > filling.in_bytes || piece.size() > filling.in_bytes - at_bytes) {
        return not_now(filling.command,
                       fmt::format("a piece of {} bytes at {} of the {} that were announced",
                                   piece.size(), at_bytes, filling.in_bytes));
    }
    std::vector<std::byte>& in = filling.in;
    if (at_bytes > in.size()) {
        return not_now(filling.command,
                       fmt::format("a piece at {} while {} bytes have come: pieces come in order",
                                   at_bytes, in.size()));
    }
    const std::size_t end = std::max<std::size_t>(in.size(), at_bytes + piece.size());
    if (end > in.capacity()) {
        // Doubled as a vector does, but never past what was announced.
        in.reserve(std::min<std::size_t>(filling.in_bytes, std::max(end, 2 * in.capacity())));
    }
    in.resize(end);
    std::copy(piece.begin(), piece.end(), in.begin() + static_cast<std::ptrdiff_t>(at_bytes));
    return {};
}

Result<PackedAnswer> StagedCalls::execute(std::uint64_t token, OpenFile& file) {
    std::unique_lock lock(mutex_);
    const auto found = find(token);
    if (!found) {
        return tl::make_unexpected(found.error());
    }
    Call& call = **found; // end() may forget it meanwhile: `found` keeps it
    if (call.stage == Stage::filling) {
        if (call.in.size() != call.in_bytes) {
            return not_now(call.command, fmt::format("executed after {} of {} bytes have come",
                                                     call.in.size(), call.in_bytes));
        }
        call.stage = Stage::executing;
        lock.unlock();
        Result<PackedAnswer> answer = carry_out(file, call.command, call.request, call.in);
        lock.lock();
        call.in = {};
        call.answer.emplace(std::move(answer));
        call.stage = Stage::executed;
        executed_.notify_all();
    } else {
        executed_.wait(lock, [&] { return call.stage == Stage::executed; });
    }
    const Result<PackedAnswer>& answer = *call.answer;
    if (!answer) {
        return tl::make_unexpected(answer.error());
    }
    PackedAnswer told;
    told.reply = answer->reply;
    told.reply.out_bytes = answer->out.size();
    told.changed_flash = answer->changed_flash;
    return told;
}

Result<std::vector<std::byte>> StagedCalls::get(std::uint64_t token, std::uint64_t at_bytes,
                                                std::uint64_t length_bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = find(token);
    if (!found) {
        return tl::make_unexpected(found.error());
    }
    const Call& call = **found;
    if (call.stage != Stage::executed || !*call.answer) {
        return not_now(call.command, "bytes wanted of a call that has brought none");
    }
    const std::vector<std::byte>& out = (*call.answer)->out;
    if (at_bytes > out.size() || length_bytes > out.size() - at_bytes) {
        return not_now(call.command, fmt::format("{} bytes at {} wanted of the {} that came out",
                                                 length_bytes, at_bytes, out.size()));
    }
    const auto from = out.begin() + static_cast<std::ptrdiff_t>(at_bytes);
    return std::vector<std::byte>(from, from + static_cast<std::ptrdiff_t>(length_bytes));
}

Status StagedCalls::end(std::uint64_t token) {
    const std::lock_guard lock(mutex_);
    if (const auto call = find(token); !call) {
        return tl::make_unexpected(call.error());
    }
    calls_.erase(token);
    return {};
}

std::uint64_t StagedCalls::kept_bytes() const {
    const std::lock_guard lock(mutex_);
    std::uint64_t sum = 0;
    for (const auto& [token, call] : calls_) {
        if (call->stage == Stage::filling) {
            sum += call->in.capacity();
        } else if (call->stage == Stage::executed && *call->answer) {
            sum += (*call->answer)->out.capacity();
        }
    }
    return sum;
}

} // namespace mtdfuse::mtd
