#include "mapping_state.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>

#include <fmt/format.h>

#include "cache_state.hpp"

namespace mtdfuse::cache {

Result<std::unique_ptr<MappingState>>
MappingState::create(CacheState& cache, std::unique_ptr<storage::Backing> backing,
                     std::uint64_t size_bytes) {
    if (size_bytes == 0)
        return fail(EINVAL, "a device of 0 bytes cannot be cached");
    const std::uint64_t folio_bytes = cache.options.folio_bytes;
    auto arena = Arena::create(size_bytes, folio_bytes);
    if (!arena)
        return tl::unexpected(std::move(arena.error()));
    auto folios = FolioTable::create((size_bytes + folio_bytes - 1) / folio_bytes);
    if (!folios)
        return tl::unexpected(std::move(folios.error()));
    return std::unique_ptr<MappingState>(new MappingState(
        cache, std::move(backing), std::move(*arena), std::move(*folios), size_bytes));
}

MappingState::MappingState(CacheState& cache, std::unique_ptr<storage::Backing> backing,
                           Arena arena, std::unique_ptr<FolioTable> folios,
                           std::uint64_t size_bytes)
    : cache_(cache), kernels_(cache.kernels), backing_(std::move(backing)), size_bytes_(size_bytes),
      folio_bytes_(cache.options.folio_bytes),
      folio_shift_(static_cast<unsigned>(std::countr_zero(folio_bytes_))), arena_(std::move(arena)),
      folios_(std::move(folios)) {}

std::uint64_t MappingState::folio_length_bytes(FolioIndex index) const {
    return std::min(folio_bytes_, size_bytes_ - folio_start(index).value);
}

std::uint64_t MappingState::charge_bytes(FolioIndex index) const {
    return (folio_length_bytes(index) + kBasePageBytes - 1) & ~(kBasePageBytes - 1);
}

std::uint64_t MappingState::run_bytes(FolioIndex first, std::uint64_t count) const {
    return (count - 1) * folio_bytes_ + folio_length_bytes(first + (count - 1));
}

std::uint64_t MappingState::run_charge_bytes(FolioIndex first, std::uint64_t count) const {
    return (count - 1) * folio_bytes_ + charge_bytes(first + (count - 1));
}

void MappingState::punch(ByteOffset at, std::uint64_t length_bytes) {
    const Status punched = arena_.punch(at, length_bytes);
    if (!punched)
        cache_.log.error(punched.error().context);
}

void MappingState::record_error(const Error& error) {
    {
        const std::lock_guard lock(error_text_mutex_);
        error_text_ = error.context;
    }
    errors_.record(error.number);
}

MappingState::Piece MappingState::piece_at(ByteOffset at, std::uint64_t length_bytes) const {
    const std::uint64_t to_end = folio_bytes_ - (at.value & (folio_bytes_ - 1));
    return {folio_of(at), at, std::min(length_bytes, to_end)};
}

tl::unexpected<Error> MappingState::out_of_range(ByteOffset at, std::uint64_t length_bytes) const {
    return fail(EINVAL, fmt::format("range of {} bytes at {} is past the end of {} bytes",
                                    length_bytes, at.value, size_bytes_));
}

void MappingState::drop() {
    if (backing_)
        evict_clean(cache_, *this);
}

} // namespace mtdfuse::cache
