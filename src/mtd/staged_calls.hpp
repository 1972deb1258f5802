// The packed calls of one open file that come in pieces: begun, filled, executed, fetched from,
// forgotten.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "command.hpp"

namespace mtdfuse::mtd {

// Thread-safe. An unknown token is ESTALE, a step that cannot be now EPROTO.
class StagedCalls {
public:
    static constexpr std::size_t kMaxCalls = 16;

    // The token of a call that has passed its check. Where kMaxCalls are kept already, the oldest
    // that is not being executed is forgotten; EBUSY where all are.
    [[nodiscard]] Result<std::uint64_t> begin(const Command& command, const wire::Request& request);
    // Pieces come in order and without gaps; one that comes again replaces what it was.
    [[nodiscard]] Status put(std::uint64_t token, std::uint64_t at_bytes,
                             std::span<const std::byte> piece);
    // Carries the call out, without the lock; whoever comes later with the same token waits and
    // gets the same answer. `out` of the answer stays here, for get(). The error of a failed call
    // begins with the command's name.
    [[nodiscard]] Result<PackedAnswer> execute(std::uint64_t token, OpenFile& file);
    // Outgoing bytes of a call that was executed and did not fail.
    [[nodiscard]] Result<std::vector<std::byte>> get(std::uint64_t token, std::uint64_t at_bytes,
                                                     std::uint64_t length_bytes);
    // One that is being executed is carried out nevertheless.
    [[nodiscard]] Status end(std::uint64_t token);

    // Room taken for incoming and outgoing bytes.
    [[nodiscard]] std::uint64_t kept_bytes() const;

private:
    enum class Stage { filling, executing, executed };
    struct Call {
        const Command& command;
        const wire::Request request;
        const std::uint64_t in_bytes;
        Stage stage = Stage::filling;
        std::vector<std::byte> in;
        std::optional<Result<PackedAnswer>> answer;
    };

    [[nodiscard]] Result<std::shared_ptr<Call>> find(std::uint64_t token) const;
    [[nodiscard]] Status make_room();

    mutable std::mutex mutex_;
    std::condition_variable executed_;
    std::uint64_t last_token_ = 0;
    std::map<std::uint64_t, std::shared_ptr<Call>> calls_; // by token, so by age
};

} // namespace mtdfuse::mtd
