// Stateless: the histogram, which is the caller's, counts with atomic counters.
#include <mtdfuse/storage.hpp>

#include "range.hpp"

namespace mtdfuse::storage {

namespace {

class RecordingBacking final : public Backing {
public:
    RecordingBacking(std::unique_ptr<Backing> inner, IoHistogram& histogram)
        : inner_(std::move(inner)), histogram_(histogram) {}

    [[nodiscard]] std::uint64_t size_bytes() const override { return inner_->size_bytes(); }
    [[nodiscard]] std::uint64_t block_bytes() const override { return inner_->block_bytes(); }

    [[nodiscard]] Status read_at(ByteOffset at, std::span<std::byte> into) override {
        histogram_.record(Direction::read, at, into.size());
        return inner_->read_at(at, into);
    }

    [[nodiscard]] Status write_at(ByteOffset at, std::span<const std::byte> from) override {
        histogram_.record(Direction::write, at, from.size());
        return inner_->write_at(at, from);
    }

    [[nodiscard]] Status
    write_vector_at(ByteOffset at, std::span<const std::span<const std::byte>> segments) override {
        histogram_.record(Direction::write, at, total_bytes(segments));
        return inner_->write_vector_at(at, segments);
    }

    void start_write_out(ByteOffset at, std::uint64_t length_bytes) override {
        inner_->start_write_out(at, length_bytes);
    }

    [[nodiscard]] Status sync() override {
        histogram_.record_sync();
        return inner_->sync();
    }

private:
    std::unique_ptr<Backing> inner_;
    IoHistogram& histogram_;
};

} // namespace

std::unique_ptr<Backing> record_io(std::unique_ptr<Backing> inner, IoHistogram& histogram) {
    return std::make_unique<RecordingBacking>(std::move(inner), histogram);
}

} // namespace mtdfuse::storage
