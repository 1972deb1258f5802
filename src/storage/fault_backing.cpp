// Stateless: the rule holds whatever state a fault pattern needs.
#include <mtdfuse/storage.hpp>

#include "range.hpp"

#include <fmt/format.h>

namespace mtdfuse::storage {

namespace {

std::string_view verb_of(Operation operation) {
    switch (operation) {
    case Operation::read:
        return "read";
    case Operation::write:
        return "write";
    case Operation::sync:
        break;
    }
    return "sync";
}

class FaultBacking final : public Backing {
public:
    FaultBacking(std::unique_ptr<Backing> inner, FaultRule rule)
        : inner_(std::move(inner)), rule_(std::move(rule)) {}

    [[nodiscard]] std::uint64_t size_bytes() const override { return inner_->size_bytes(); }
    [[nodiscard]] std::uint64_t block_bytes() const override { return inner_->block_bytes(); }

    [[nodiscard]] Status read_at(ByteOffset at, std::span<std::byte> into) override {
        if (auto go_on = ask(Operation::read, at, into.size()); !go_on)
            return go_on;
        return inner_->read_at(at, into);
    }

    [[nodiscard]] Status write_at(ByteOffset at, std::span<const std::byte> from) override {
        if (auto go_on = ask(Operation::write, at, from.size()); !go_on)
            return go_on;
        return inner_->write_at(at, from);
    }

    [[nodiscard]] Status
    write_vector_at(ByteOffset at, std::span<const std::span<const std::byte>> segments) override {
        if (auto go_on = ask(Operation::write, at, total_bytes(segments)); !go_on)
            return go_on;
        return inner_->write_vector_at(at, segments);
    }

    void start_write_out(ByteOffset at, std::uint64_t length_bytes) override {
        inner_->start_write_out(at, length_bytes);
    }

    [[nodiscard]] Status sync() override {
        if (auto go_on = ask(Operation::sync, ByteOffset(0), 0); !go_on)
            return go_on;
        return inner_->sync();
    }

private:
    [[nodiscard]] Status ask(Operation operation, ByteOffset at, std::uint64_t length_bytes) const {
        const int number = rule_(operation, at, length_bytes);
        if (number == 0)
            return {};
        return fail(number,
                    fmt::format("injected fault: {} of {} bytes at {}: {}", verb_of(operation),
                                length_bytes, at.value, errno_text(number)));
    }

    std::unique_ptr<Backing> inner_;
    FaultRule rule_;
};

} // namespace

std::unique_ptr<Backing> inject_faults(std::unique_ptr<Backing> inner, FaultRule rule) {
    return std::make_unique<FaultBacking>(std::move(inner), std::move(rule));
}

} // namespace mtdfuse::storage
