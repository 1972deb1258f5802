// The `ram` chip. Invariant: it holds no flash state of its own - every byte is the mapping's, and
// the folio lock orders those - so there is no lock here; the counters are atomic.
#include <mtdfuse/chip.hpp>

#include <cerrno>

#include <fmt/format.h>

namespace mtdfuse::chip {
namespace {

enum : std::size_t { kReads, kReadBytes, kPrograms, kProgrammedBytes, kErasedBlocks, kCounters };

class Ram final : public Chip {
public:
    Ram(const Geometry& geometry, cache::Mapping& data) : geometry_(geometry), data_(data) {}

    [[nodiscard]] const Geometry& geometry() const override { return geometry_; }

    [[nodiscard]] Status read(ByteOffset at, std::span<std::byte> into) override;
    [[nodiscard]] Status program(ByteOffset at, std::span<const std::byte> from) override;
    [[nodiscard]] Status erase(BlockIndex first, std::uint64_t count) override;

    [[nodiscard]] Status sync(Durability durability, ErrorCursor& cursor) override {
        return data_.sync(durability, cursor);
    }
    [[nodiscard]] ErrorCursor error_cursor() override { return data_.error_cursor(); }
    void drop_caches() override { data_.drop(); }
    void collect_metrics(std::vector<Metric>& into) const override;

private:
    // The mapping may be longer than the chip, so it cannot be left to the mapping.
    [[nodiscard]] bool in_range(ByteOffset at, std::uint64_t length_bytes) const {
        return at.value <= geometry_.size_bytes && length_bytes <= geometry_.size_bytes - at.value;
    }
    [[nodiscard]] tl::unexpected<Error> past_end(ByteOffset at, std::uint64_t length_bytes) const;

    const Geometry geometry_;
    cache::Mapping& data_;
    ThreadCounters<kCounters> counters_;
};

tl::unexpected<Error> Ram::past_end(ByteOffset at, std::uint64_t length_bytes) const {
    return fail(EINVAL, fmt::format("{} bytes at {:#x} reach past the chip's end at {:#x}",
                                    length_bytes, at.value, geometry_.size_bytes));
}

Status Ram::read(ByteOffset at, std::span<std::byte> into) {
    if (!in_range(at, into.size())) [[unlikely]] {
        return past_end(at, into.size());
    }
    if (Status done = data_.read(at, into); !done) {
        return done;
    }
    auto counters = counters_.mine();
    counters.add(kReads);
    counters.add(kReadBytes, into.size());
    return {};
}

Status Ram::program(ByteOffset at, std::span<const std::byte> from) {
    if (!in_range(at, from.size())) [[unlikely]] {
        return past_end(at, from.size());
    }
    if (Status done = data_.write(at, from, cache::Combine::replace); !done) {
        return done;
    }
    auto counters = counters_.mine();
    counters.add(kPrograms);
    counters.add(kProgrammedBytes, from.size());
    return {};
}

Status Ram::erase(BlockIndex first, std::uint64_t count) {
    const std::uint64_t blocks = geometry_.block_count();
    if (first.value > blocks || count > blocks - first.value) {
        return fail(EINVAL, fmt::format("{} blocks from block {} reach past the chip's {} blocks",
                                        count, first.value, blocks));
    }
    // One call for all blocks, never one per block: a folio larger than a block would else lie in
    // no single range wholly, and be read from the backing only to be overwritten. The mapping
    // goes upwards and stops at the first folio that fails.
    if (Status done = data_.fill_ff(geometry_.start_of(first), count * geometry_.erasesize_bytes);
        !done) {
        return done;
    }
    counters_.add(kErasedBlocks, count);
    return {};
}

void Ram::collect_metrics(std::vector<Metric>& into) const {
    const auto counter = [&](const char* name, const char* help, std::size_t which) {
        into.push_back({name, help, MetricKind::counter, counters_.value(which)});
    };
    counter("chip_reads_total", "Reads that the chip answered.", kReads);
    counter("chip_read_bytes_total", "Bytes read from the chip.", kReadBytes);
    counter("chip_programs_total", "Programs that the chip carried out.", kPrograms);
    counter("chip_programmed_bytes_total", "Bytes programmed.", kProgrammedBytes);
    counter("chip_erased_blocks_total", "Blocks erased by erases that succeeded.", kErasedBlocks);
}

} // namespace

std::unique_ptr<Chip> make_ram(const Geometry& geometry, cache::Mapping& data) {
    return std::make_unique<Ram>(geometry, data);
}

} // namespace mtdfuse::chip
