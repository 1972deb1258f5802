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

// "a ram device has no locks": EOPNOTSUPP, what a type answers to a call that it has nothing for.
[[nodiscard]] tl::unexpected<Error> has_none(Type type, std::string_view what);

// Where OOB bytes lie: MTD_OPS_PLACE_OOB, _AUTO_OOB and _RAW of mtd-abi.h, under their numbers.
enum class OobMode : std::uint32_t { place = 0, automatic = 1, raw = 2 };

// One transfer of pages, as struct mtd_oob_ops of the kernel: `data` from `at` on, and with each
// page its share of `oob`, from `oob_offset_bytes` of the first page's OOB area on. Without data it
// is the OOB areas alone, from the page at `at` on. `Byte` is const std::byte where pages are
// programmed.
template<class Byte>
struct PageTransfer {
    ByteOffset at;
    std::span<Byte> data, oob;
    std::uint32_t oob_offset_bytes = 0;
    OobMode mode = OobMode::place;
};
using PageProgram = PageTransfer<const std::byte>;
using PageRead = PageTransfer<std::byte>;

// What ECC met in a transfer (struct mtd_req_stats): uncorrectable steps, bits corrected, and the
// most bits corrected in one step.
struct EccCounts {
    std::uint32_t uncorrectable_errors = 0, corrected_bitflips = 0, max_bitflips = 0;
};

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

    // What only some types have. A type without it answers EOPNOTSUPP, which is what these defaults
    // do; mtd asks has_locks() and Geometry::oobsize_bytes before it looks at a range, because
    // mtdcore.c does so.

    [[nodiscard]] virtual bool has_locks() const { return false; }
    // Ranges of bytes; EINVAL where one breaks the type's rule for them.
    [[nodiscard]] virtual Status lock(ByteOffset at, std::uint64_t length_bytes);
    [[nodiscard]] virtual Status unlock(ByteOffset at, std::uint64_t length_bytes);
    // Whether any of the range is locked.
    [[nodiscard]] virtual Result<bool> is_locked(ByteOffset at, std::uint64_t length_bytes) const;

    // The bytes of a page's OOB area that OobMode::automatic spreads over: mtd->oobavail.
    [[nodiscard]] virtual std::uint32_t oobavail_bytes() const { return geometry().oobsize_bytes; }
    // Programs pages with their OOB. EINVAL for a part of a page or an OOB offset that the type
    // cannot. On an error pages in front may have been programmed.
    [[nodiscard]] virtual Status program_pages(const PageProgram& pages);
    // Reads pages with their OOB: all of `data` and `oob` is filled, also where ECC gave up, which
    // only the counts tell.
    [[nodiscard]] virtual Result<EccCounts> read_pages(const PageRead& pages);

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
