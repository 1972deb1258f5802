#include <mtdfuse/cache.hpp>

#include <bit>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "cache_state.hpp"
#include "mapping_state.hpp"

namespace mtdfuse::cache {

namespace {

std::uint64_t whole_pages(std::uint64_t bytes) {
    return (bytes + kBasePageBytes - 1) & ~(kBasePageBytes - 1);
}

Status check_options(const Options& options) {
    if (!std::has_single_bit(options.folio_bytes) || options.folio_bytes < kMinFolioBytes ||
        options.folio_bytes > kMaxFolioBytes)
        return fail(EINVAL, fmt::format("folio size {} is no power of two from {} to {}",
                                        options.folio_bytes, kMinFolioBytes, kMaxFolioBytes));
    if (options.capacity_bytes < options.folio_bytes)
        return fail(EINVAL, fmt::format("cache size {} is below the folio size {}",
                                        options.capacity_bytes, options.folio_bytes));
    if (options.dirty_expire.count() <= 0)
        return fail(EINVAL, "the age at which dirt is written is not positive");
    return {};
}

} // namespace

// ---- CacheState ----------------------------------------------------------------------------

CacheState::CacheState(const Options& wanted, const Kernels& with_kernels, Log& to_log,
                       Clock& with_clock)
    : options(wanted), kernels(with_kernels), log(to_log), clock(with_clock),
      resident(whole_pages(wanted.capacity_bytes)),
      dirty(std::max(wanted.capacity_bytes / 2, wanted.folio_bytes)) {}

void CacheState::add_to_budget(std::uint64_t size_bytes) {
    // What sixteen readers can touch at once of memory that was just given back.
    const std::uint64_t late_read_bytes = 16 * most_stream_bytes(options.folio_bytes);
    const std::uint64_t capacity = whole_pages(options.capacity_bytes);
    size_of_mappings_ += whole_pages(size_bytes);
    if (size_of_mappings_ <= capacity)
        return; // nothing will ever be reclaimed
    // A small cache would lose too much of itself to that: its readers take a hold instead.
    if (capacity >= 16 * late_read_bytes)
        resident.set_limit(capacity - late_read_bytes);
    else
        copies_without_hold = false;
}

#ifndef NDEBUG
void CacheState::provoke(MappingState& mapping) {
    constexpr std::uint64_t kOneIn = 1009;
    looks_.add();
    if (Random(looks_.value()).below(kOneIn) == 0)
        mapping.drop();
}
#endif

// ---- PinnedRange ---------------------------------------------------------------------------

PinnedRange::PinnedRange(PinnedRange&& other) noexcept
    : state_(std::exchange(other.state_, nullptr)), first_(other.first_), last_(other.last_),
      bytes_(std::exchange(other.bytes_, {})) {}

PinnedRange& PinnedRange::operator=(PinnedRange&& other) noexcept {
    if (this != &other) {
        if (state_ != nullptr)
            state_->unpin(first_, last_);
        state_ = std::exchange(other.state_, nullptr);
        first_ = other.first_;
        last_ = other.last_;
        bytes_ = std::exchange(other.bytes_, {});
    }
    return *this;
}

PinnedRange::~PinnedRange() {
    if (state_ != nullptr)
        state_->unpin(first_, last_);
}

// ---- Mapping -------------------------------------------------------------------------------

Mapping::Mapping(std::unique_ptr<MappingState> state) : state_(std::move(state)) {}
Mapping::~Mapping() = default;

std::uint64_t Mapping::size_bytes() const {
    return state_->size_bytes();
}

Status Mapping::read(ByteOffset at, std::span<std::byte> into) {
    return state_->read(at, into);
}

Status Mapping::write(ByteOffset at, std::span<const std::byte> from, Combine combine) {
    return state_->change(at, from.size(), Change::write(from, combine));
}

Status Mapping::fill_ff(ByteOffset at, std::uint64_t length_bytes) {
    return state_->change(at, length_bytes, Change::fill_ff());
}

Result<PinnedRange> Mapping::pin(ByteOffset at, std::uint64_t length_bytes) {
    PinnedRange range;
    if (length_bytes == 0)
        return range;
    auto pinned = state_->pin(at, length_bytes);
    if (!pinned)
        return tl::unexpected(std::move(pinned.error()));
    range.state_ = state_.get();
    range.first_ = pinned->first;
    range.last_ = pinned->last;
    range.bytes_ = pinned->bytes;
    return range;
}

Status Mapping::sync(Durability durability, ErrorCursor& cursor) {
    return state_->sync(durability, cursor.seen_);
}

ErrorCursor Mapping::error_cursor() {
    return ErrorCursor(state_->errors().sample());
}

void Mapping::drop() {
    state_->drop();
}

std::uint64_t Mapping::dirty_bytes() const {
    return state_->dirty_bytes();
}

// ---- Cache ---------------------------------------------------------------------------------

Result<std::unique_ptr<Cache>> Cache::create(const Options& options, Log& log, Clock& clock) {
    const Status checked = check_options(options);
    if (!checked)
        return tl::unexpected(checked.error());
    const auto isa = options.kernels.empty() ? Result<Isa>(best_isa()) : parse_isa(options.kernels);
    if (!isa)
        return tl::unexpected(isa.error());
    if (!cpu_has(*isa))
        return fail(EINVAL, fmt::format("this CPU cannot run the {} kernels: the best it can is {}",
                                        isa_name(*isa), isa_name(best_isa())));
    auto state = std::make_unique<CacheState>(options, kernels_of(*isa), log, clock);
    try {
        state->flusher.start(*state);
    } catch (const std::system_error& error) {
        return fail(error.code().value(), "cannot start the cache's flusher thread");
    }
    return std::unique_ptr<Cache>(new Cache(std::move(state)));
}

Cache::Cache(std::unique_ptr<CacheState> state) : state_(std::move(state)) {}
Cache::~Cache() = default;

Result<Mapping*> Cache::map(std::unique_ptr<storage::Backing> backing) {
    const std::uint64_t size_bytes = backing->size_bytes();
    return add(MappingState::create(*state_, std::move(backing), size_bytes));
}

Result<Mapping*> Cache::map_anonymous(std::uint64_t size_bytes) {
    return add(MappingState::create(*state_, nullptr, size_bytes));
}

Result<Mapping*> Cache::add(Result<std::unique_ptr<MappingState>> made) {
    if (!made)
        return tl::unexpected(std::move(made.error()));
    const std::lock_guard lock(state_->mappings_mutex);
    if ((*made)->backing() != nullptr)
        state_->add_to_budget((*made)->size_bytes());
    state_->mappings.push_back(std::unique_ptr<Mapping>(new Mapping(std::move(*made))));
    return state_->mappings.back().get();
}

const Options& Cache::options() const {
    return state_->options;
}

std::uint64_t Cache::resident_bytes() const {
    return state_->resident.used_bytes();
}

std::uint64_t Cache::dirty_bytes() const {
    const std::lock_guard lock(state_->mappings_mutex);
    std::uint64_t bytes = 0;
    for (const auto& mapping : state_->mappings)
        bytes += mapping->dirty_bytes();
    return bytes;
}

void Cache::collect_metrics(std::vector<Metric>& into) const {
    const CacheCounters& counters = state_->counters;
    const auto counter = [&](const char* name, const char* help, const Counter& value) {
        into.push_back({name, help, MetricKind::counter, value.value()});
    };
    const auto gauge = [&](const char* name, const char* help, std::uint64_t value) {
        into.push_back({name, help, MetricKind::gauge, value});
    };
    into.push_back({"cache_hits_total", "Folio look-ups that found the folio in memory.",
                    MetricKind::counter, counters.hits.value(0)});
    counter("cache_misses_total", "Folios made resident.", counters.misses);
    counter("cache_evictions_total", "Clean folios whose memory was given back.",
            counters.evictions);
    counter("cache_retries_total", "Folios that changed between being looked at and being locked.",
            counters.retries);
    counter("cache_lost_copies_total", "Copies thrown away as their folio changed meanwhile.",
            counters.lost_copies);
    counter("cache_writebacks_total", "Dirty folios written to the backing.", counters.writebacks);
    counter("cache_writeback_errors_total", "Dirty folios that could not be written.",
            counters.writeback_errors);
    gauge("cache_resident_bytes", "Memory held by folios.", resident_bytes());
    gauge("cache_dirty_bytes", "Bytes that the backing does not have yet.", dirty_bytes());
    gauge("cache_capacity_bytes", "The most that folios may hold.",
          whole_pages(state_->options.capacity_bytes));
}

} // namespace mtdfuse::cache
