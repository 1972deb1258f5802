// The half of MappingState that shows bytes to callers.
#include <algorithm>
#include <array>
#include <cstring>

#include "cache_state.hpp"
#include "mapping_state.hpp"

namespace mtdfuse::cache {

Status MappingState::read(ByteOffset at, std::span<std::byte> into) {
    if (!in_range(at, into.size())) [[unlikely]]
        return out_of_range(at, into.size());
    if (read_one(at, into))
        return {};
    while (!into.empty()) {
        std::uint64_t done = read_resident(at, into.first(stream_bytes(at, into.size())));
        if (done == 0) [[unlikely]] {
            auto slowly = read_first_folio(at, into);
            if (!slowly)
                return tl::unexpected(std::move(slowly.error()));
            done = *slowly;
        }
        at = at + done;
        into = into.subspan(done);
    }
    return {};
}

bool MappingState::read_one(ByteOffset at, std::span<std::byte> into) {
    if (!in_one_folio(at, into.size()) || !copies_without_hold())
        return false;
    const FolioIndex index = folio_of(at);
    const FolioWord looked = folios_->load(index);
    if (!readable(looked))
        return false;
    cache_.before_lock(*this, index);
    kernels_.copy_out(into.data(), arena_.bytes(at, into.size()).data(), into.size());
    if (!same_copy(looked, folios_->load(index))) [[unlikely]] {
        lose_copy(index, 1);
        return false;
    }
    cache_.counters.hits.add(0);
    if (backing_ && (looked & kReferenced) == 0)
        static_cast<void>(folios_->apply(index, Transition::reference));
    return true;
}

std::uint64_t MappingState::read_resident(ByteOffset at, std::span<std::byte> into) {
    if (!copies_without_hold())
        return 0;
    const FolioIndex first = folio_of(at);
    const FolioIndex last = folio_of(at + (into.size() - 1));
    std::array<FolioWord, kStreamRunBytes / kMinFolioBytes> words;
    std::size_t count = 0;
    for (FolioIndex index = first; index <= last; ++index) {
        const FolioWord looked = folios_->load(index);
        if (!readable(looked))
            break;
        words[count++] = looked;
    }
    if (count == 0)
        return 0;
    cache_.before_lock(*this, first);
    const std::uint64_t length =
        std::min<std::uint64_t>(into.size(), folio_start(first + count) - at);
    kernels_.copy_out(into.data(), arena_.bytes(at, length).data(), length);
    for (std::size_t i = 0; i < count; ++i) {
        if (!same_copy(words[i], folios_->load(first + i))) [[unlikely]] {
            lose_copy(first, count);
            return 0;
        }
    }
    note_use(first, std::span(words).first(count));
    return length;
}

void MappingState::note_use(FolioIndex first, std::span<const FolioWord> looked) {
    cache_.counters.hits.add(0, looked.size());
    if (!backing_)
        return; // never reclaimed
    for (std::size_t i = 0; i < looked.size(); ++i)
        if ((looked[i] & kReferenced) == 0)
            static_cast<void>(folios_->apply(first + i, Transition::reference));
}

void MappingState::lose_copy(FolioIndex first, std::uint64_t count) {
    cache_.counters.lost_copies.add();
    for (FolioIndex touched = first; backing_ && touched < first + count; ++touched)
        settle_late_copy(touched);
}

// The copy may have made memory resident again that reclaim had given back.
void MappingState::settle_late_copy(FolioIndex index) {
    for (;;) {
        const FolioWord word = folios_->load(index);
        if ((word & kLocked) != 0) {
            // Its owner may be between giving the memory back and saying so.
            folios_->wait_while(index, kLocked);
            continue;
        }
        if ((word & kUptodate) != 0)
            return; // accounted for
        if (folios_->apply_if_still(index, Transition::lock, word) != Proof::owned)
            continue;
        const FolioHold lock(*folios_, index, Transition::unlock);
        punch(folio_start(index), charge_bytes(index));
        return;
    }
}

Result<std::uint64_t> MappingState::read_first_folio(ByteOffset at, std::span<std::byte> into) {
    const Piece piece = piece_at(at, into.size());
    for (;;) {
        const FolioWord looked = folios_->load(piece.index);
        Proof proof = Proof::owned;
        if ((looked & kUptodate) != 0) {
            proof = take(piece.index, Transition::share, looked);
            if (proof == Proof::owned)
                cache_.counters.hits.add(0);
        } else if (!backing_) {
            std::memset(into.data(), 0xff, piece.length_bytes);
            return piece.length_bytes;
        } else {
            const std::uint64_t wanted = folio_of(at + (into.size() - 1)) - piece.index + 1;
            const auto filled = fill(piece.index, read_ahead(piece.index, wanted), looked,
                                     Transition::fill_and_share, Patience::wait);
            if (!filled)
                return tl::unexpected(filled.error());
            proof = *filled;
        }
        if (proof == Proof::owned)
            break;
        if (proof == Proof::busy)
            folios_->wait_while(piece.index, kKeepsReadersOut);
    }
    const FolioHold share(*folios_, piece.index, Transition::unshare);
    kernels_.copy_out(into.data(), arena_.bytes(piece.at, piece.length_bytes).data(),
                      piece.length_bytes);
    return piece.length_bytes;
}

Result<MappingState::Pinned> MappingState::pin(ByteOffset at, std::uint64_t length_bytes) {
    if (!in_range(at, length_bytes))
        return out_of_range(at, length_bytes);
    const FolioIndex first = folio_of(at);
    for (;;) {
        const Result<bool> pinned = try_pin(first, Patience::not_for_pins);
        if (!pinned)
            return tl::unexpected(pinned.error());
        if (*pinned)
            break;
        folios_->wait_while(first, kKeepsReadersOut);
    }
    // More only where it needs no sleep, as pins are held: others may be waiting for their release.
    const ByteOffset end = at + length_bytes;
    FolioIndex last = first;
    while (folio_start(last + 1) < end && try_pin(last + 1, Patience::never).value_or(false))
        ++last;
    const std::uint64_t covered = std::min(length_bytes, folio_start(last + 1) - at);
    return Pinned{first, last, arena_.bytes(at, covered)};
}

Result<bool> MappingState::try_pin(FolioIndex index, Patience patience) {
    const FolioWord looked = folios_->load(index);
    if ((looked & kUptodate) != 0)
        return take(index, Transition::pin, looked) == Proof::owned;
    const auto filled = fill(index, 1, looked, Transition::fill_and_pin, patience);
    if (!filled)
        return tl::unexpected(filled.error());
    return *filled == Proof::owned;
}

void MappingState::unpin(FolioIndex first, FolioIndex last) {
    for (FolioIndex index = first; index <= last; ++index)
        folios_->must(index, Transition::unpin);
}

} // namespace mtdfuse::cache
