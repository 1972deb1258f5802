#include <mtdfuse/chip.hpp>

#include <cerrno>
#include <limits>

#include <fmt/format.h>

namespace mtdfuse::chip {
namespace {

constexpr std::uint32_t kDefaultErasesizeBytes = 128 * 1024;
// Offsets travel as off_t.
constexpr std::uint64_t kMaxSizeBytes = std::numeric_limits<std::int64_t>::max();

// "use 896K or 1M": the multiples of `unit` next to `value`, those that a user may ask for.
std::string nearest_multiples(std::uint64_t value, std::uint64_t unit, std::uint64_t max) {
    const std::uint64_t below = value - value % unit;
    const bool has_above = below <= max - unit;
    if (below == 0) {
        return fmt::format("use {}", format_size(unit));
    }
    if (!has_above) {
        return fmt::format("use {}", format_size(below));
    }
    return fmt::format("use {} or {}", format_size(below), format_size(below + unit));
}

Status check_erasesize(const Geometry& geometry) {
    const std::uint32_t erasesize = geometry.erasesize_bytes;
    if (erasesize < kMinErasesizeBytes || erasesize > kMaxErasesizeBytes) {
        return fail(EINVAL, fmt::format("erasesize {} is out of range: use {} to {}",
                                        format_size(erasesize), format_size(kMinErasesizeBytes),
                                        format_size(kMaxErasesizeBytes)));
    }
    if (geometry.writesize_bytes == 0) {
        return fail(EINVAL, "writesize 0: use 1 or more");
    }
    if (erasesize % geometry.writesize_bytes != 0) {
        return fail(EINVAL,
                    fmt::format("erasesize {} is no multiple of writesize {}: {}",
                                format_size(erasesize), format_size(geometry.writesize_bytes),
                                nearest_multiples(erasesize, geometry.writesize_bytes,
                                                  kMaxErasesizeBytes)));
    }
    return {};
}

Status check_size(const Geometry& geometry) {
    const std::uint64_t size = geometry.size_bytes;
    if (size == 0) {
        return fail(EINVAL, fmt::format("size 0: use {} (one erase block) or a multiple of it",
                                        format_size(geometry.erasesize_bytes)));
    }
    if (size > kMaxSizeBytes) {
        return fail(EINVAL, fmt::format("size {} is out of range: use at most {}",
                                        format_size(size), format_size(kMaxSizeBytes)));
    }
    if (size % geometry.erasesize_bytes != 0) {
        return fail(EINVAL,
                    fmt::format("size {} is no multiple of erasesize {}: {}", format_size(size),
                                format_size(geometry.erasesize_bytes),
                                nearest_multiples(size, geometry.erasesize_bytes, kMaxSizeBytes)));
    }
    return {};
}

} // namespace

Geometry default_geometry(Type type, std::uint64_t size_bytes) {
    Geometry geometry;
    geometry.type = type;
    geometry.size_bytes = size_bytes;
    geometry.erasesize_bytes = kDefaultErasesizeBytes;
    geometry.writesize_bytes = 1;
    return geometry;
}

Status check_geometry(const Geometry& geometry) {
    if (Status erasesize = check_erasesize(geometry); !erasesize) {
        return erasesize;
    }
    return check_size(geometry);
}

} // namespace mtdfuse::chip
