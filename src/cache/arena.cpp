#include "arena.hpp"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mtdfuse::cache {

Result<Arena> Arena::create(std::uint64_t size_bytes, std::uint64_t folio_bytes) {
    const std::uint64_t rounded = (size_bytes + folio_bytes - 1) / folio_bytes * folio_bytes;
    UniqueFd fd(::memfd_create("mtdfuse-cache", MFD_CLOEXEC));
    if (!fd)
        return fail_errno("cannot create the cache's memory file");
    if (::ftruncate(fd.get(), static_cast<off_t>(rounded)) != 0)
        return fail_errno(fmt::format("cannot size the cache's memory file to {} bytes", rounded));
    auto map = MemoryMap::create(rounded, MAP_SHARED | MAP_NORESERVE, fd.get());
    if (!map)
        return tl::unexpected(std::move(map.error()));
    // Where the system makes huge pages of shared memory by itself, touching one folio would
    // allocate its neighbours outside of the budget. Failure means a kernel without huge pages.
    ::madvise(map->data(), rounded, MADV_NOHUGEPAGE);
    return Arena(std::move(fd), std::move(*map));
}

Status Arena::store(ByteOffset at, std::span<const std::byte> from) {
    while (!from.empty()) {
        const ssize_t stored =
            ::pwrite(fd_.get(), from.data(), from.size(), static_cast<off_t>(at.value));
        if (stored < 0 && errno == EINTR)
            continue;
        if (stored < 0)
            return fail_errno(
                fmt::format("cannot keep {} bytes at {} in the cache", from.size(), at.value));
        at = at + static_cast<std::uint64_t>(stored);
        from = from.subspan(static_cast<std::size_t>(stored));
    }
    return {};
}

Status Arena::fetch(ByteOffset at, std::span<std::byte> into) const {
    while (!into.empty()) {
        const ssize_t got =
            ::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(at.value));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail(
                got == 0 ? EIO : errno,
                fmt::format("cannot read {} bytes at {} from the cache", into.size(), at.value));
        at = at + static_cast<std::uint64_t>(got);
        into = into.subspan(static_cast<std::size_t>(got));
    }
    return {};
}

Status Arena::punch(ByteOffset at, std::uint64_t length_bytes) {
    if (::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    static_cast<off_t>(at.value), static_cast<off_t>(length_bytes)) != 0)
        return fail_errno(
            fmt::format("cannot give back {} bytes of cache at {}", length_bytes, at.value));
    return {};
}

Result<std::uint64_t> Arena::allocated_bytes() const {
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0)
        return fail_errno("cannot look at the cache's memory file");
    return static_cast<std::uint64_t>(status.st_blocks) * 512U;
}

} // namespace mtdfuse::cache
