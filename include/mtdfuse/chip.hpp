// The room `chip`: what a flash chip does with its bytes. It knows erase blocks and programming,
// not files, opens or errnos of system calls.
#pragma once

#include <memory>

#include <mtdfuse/cache.hpp>

namespace mtdfuse::chip {

using cache::Durability;
using cache::ErrorCursor;

// `ram`: block2mtd's and mtdram's semantics - any byte may be written, new bytes replace old ones,
// erase sets 0xFF.
enum class Type { ram };

// "ram"; the word of --type and of sysfs `type`.
[[nodiscard]] std::string_view type_name(Type type);
// EINVAL, the message lists the known words.
[[nodiscard]] Result<Type> parse_type(std::string_view word);

struct Geometry {
    Type type = Type::ram;
    std::uint64_t size_bytes = 0;
    std::uint32_t erasesize_bytes = 0;
    std::uint32_t writesize_bytes = 0;
    std::uint32_t oobsize_bytes = 0;

    [[nodiscard]] std::uint64_t block_count() const { return size_bytes / erasesize_bytes; }
    [[nodiscard]] BlockIndex block_of(ByteOffset at) const {
        return BlockIndex(at.value / erasesize_bytes);
    }
    [[nodiscard]] ByteOffset start_of(BlockIndex block) const {
        return ByteOffset(block.value * erasesize_bytes);
    }
};

inline constexpr std::uint32_t kMinErasesizeBytes = 256;
inline constexpr std::uint32_t kMaxErasesizeBytes = 1024 * 1024 * 1024;

// The type's default geometry for a device of this size: `ram` erasesize 128 KiB, writesize 1.
[[nodiscard]] Geometry default_geometry(Type type, std::uint64_t size_bytes);

// EINVAL with the broken rule and both values: erasesize out of range, or no multiple of
// writesize; size zero or no multiple of erasesize (names the nearest sizes that are).
[[nodiscard]] Status check_geometry(const Geometry& geometry);

// A chip. Thread-safe. Ranges past the end are EINVAL: the caller (mtd) has bounded them.
class Chip {
public:
    Chip() = default;
    Chip(const Chip&) = delete;
    Chip& operator=(const Chip&) = delete;
    virtual ~Chip() = default;

    [[nodiscard]] virtual const Geometry& geometry() const = 0;

    [[nodiscard]] virtual Status read(ByteOffset at, std::span<std::byte> into) = 0;
    // Programs the bytes. On an error a front part may have been programmed.
    [[nodiscard]] virtual Status program(ByteOffset at, std::span<const std::byte> from) = 0;
    // Erases `count` blocks in order; stops at the first that fails, those before it are erased.
    [[nodiscard]] virtual Status erase(BlockIndex first, std::uint64_t count) = 0;

    // As cache::Mapping: everything changed before the call, errors once per cursor.
    [[nodiscard]] virtual Status sync(Durability durability, ErrorCursor& cursor) = 0;
    [[nodiscard]] virtual ErrorCursor error_cursor() = 0;
    // Drops clean cached data; changes nothing a reader could see.
    virtual void drop_caches() = 0;

    // programs, erases (blocks), bytes of each.
    virtual void collect_metrics(std::vector<Metric>& into) const = 0;
};

// A `ram` chip over `data`, which must outlive it and be geometry.size_bytes long or longer.
// Erase blocks need no lock of their own here: all state is bytes, and the folio lock orders those.
[[nodiscard]] std::unique_ptr<Chip> make_ram(const Geometry& geometry, cache::Mapping& data);

} // namespace mtdfuse::chip
