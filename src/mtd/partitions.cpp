// The mtdparts syntax, as drivers/mtd/parsers/cmdlinepart.c of Linux reads it behind the mtd-id,
// and the places that it gives. Stateless.
#include <mtdfuse/mtd.hpp>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

namespace mtdfuse::mtd {
namespace {

constexpr std::string_view kUsage = "write SIZE[@OFFSET][(NAME)][ro][lk], more after a comma, as "
                                    "in 256K(boot),64K(env)ro,-(rootfs)";

// Takes a size as parse_size reads it from the front of `rest`, whatever follows: `64Kro` is a
// read-only partition of 64K. As the kernel's memparse, a suffix may be a small letter.
Result<std::uint64_t> take_size(std::string_view& rest, std::string_view what) {
    const bool hex = rest.starts_with("0x") || rest.starts_with("0X");
    const std::size_t start = hex ? 2 : 0;
    std::size_t end = rest.find_first_not_of(hex ? "0123456789abcdefABCDEF" : "0123456789", start);
    end = std::min(end, rest.size());
    std::string text(rest.substr(0, end));
    constexpr std::string_view kSmall = "kmgt";
    constexpr std::string_view kLarge = "KMGT";
    if (end > start && end < rest.size()) {
        const std::size_t small = kSmall.find(rest[end]);
        const std::size_t power = small != kSmall.npos ? small : kLarge.find(rest[end]);
        if (power != kLarge.npos) {
            text += kLarge[power];
            ++end;
            if (rest.substr(end).starts_with("iB"))
                end += 2;
        }
    }
    const auto bytes = parse_size(text);
    if (!bytes && bytes.error().number == ERANGE)
        return fail(EINVAL, fmt::format("{}: {}", what, bytes.error().context));
    if (!bytes)
        return fail(EINVAL, fmt::format("'{}' does not begin with {}: {}", rest, what, kUsage));
    rest.remove_prefix(end);
    return *bytes;
}

Result<std::string> take_name(std::string_view& rest, std::size_t number) {
    // The kernel's name for a partition without one.
    if (!rest.starts_with('('))
        return fmt::format("Partition_{:03}", number);
    const std::size_t end = rest.find(')');
    if (end == rest.npos)
        return fail(EINVAL, fmt::format("'{}' has no closing parenthesis: {}", rest, kUsage));
    std::string name(rest.substr(1, end - 1));
    if (name.empty())
        return fail(EINVAL, fmt::format("partition {} has an empty name: {}", number, kUsage));
    if (const Status checked = check_name(name); !checked)
        return fail(EINVAL, fmt::format("partition {}: {}", number, checked.error().context));
    rest.remove_prefix(end + 1);
    return name;
}

Result<PartitionSpec> take_partition(std::string_view& rest, std::size_t number) {
    PartitionSpec spec;
    if (rest.starts_with('-')) {
        rest.remove_prefix(1);
    } else {
        const auto size = take_size(rest, "the size of a partition");
        if (!size)
            return tl::unexpected(size.error());
        if (*size == 0)
            return fail(EINVAL, fmt::format("partition {} has a size of 0: give it bytes, or leave "
                                            "it out",
                                            number));
        spec.size_bytes = *size;
    }
    if (rest.starts_with('@')) {
        rest.remove_prefix(1);
        const auto offset = take_size(rest, "the offset of a partition");
        if (!offset)
            return tl::unexpected(offset.error());
        spec.offset_bytes = *offset;
    }
    auto name = take_name(rest, number);
    if (!name)
        return tl::unexpected(name.error());
    spec.name = std::move(*name);
    if (rest.starts_with("ro")) {
        rest.remove_prefix(2);
        spec.read_only = true;
    }
    if (rest.starts_with("lk"))
        rest.remove_prefix(2);
    return spec;
}

std::string place_of(const Partition& part) {
    return fmt::format("\"{}\" ({:#x} bytes at {:#x})", part.name, part.size_bytes,
                       part.offset_bytes);
}

Status check_apart(const std::vector<Partition>& placed, const Partition& next) {
    for (const Partition& before : placed) {
        const bool apart = next.offset_bytes >= before.offset_bytes + before.size_bytes ||
                           before.offset_bytes >= next.offset_bytes + next.size_bytes;
        if (!apart)
            return fail(EINVAL, fmt::format("partitions {} and {} overlap: a byte belongs to one",
                                            place_of(before), place_of(next)));
    }
    return {};
}

} // namespace

Result<std::vector<PartitionSpec>> parse_partitions(std::string_view text) {
    std::vector<PartitionSpec> specs;
    std::string_view rest = text;
    for (;;) {
        auto spec = take_partition(rest, specs.size());
        if (!spec)
            return tl::unexpected(spec.error());
        const bool is_rest = !spec->size_bytes;
        specs.push_back(std::move(*spec));
        if (rest.empty())
            return specs;
        // A comma ends a mount word, so there it is written as a plus.
        if (rest.front() != ',' && rest.front() != '+')
            return fail(EINVAL, fmt::format("'{}' does not continue partition \"{}\": {}", rest,
                                            specs.back().name, kUsage));
        if (is_rest)
            return fail(EINVAL,
                        fmt::format("nothing can follow \"{}\", which takes the rest of the "
                                    "device",
                                    specs.back().name));
        rest.remove_prefix(1);
    }
}

Result<std::vector<Partition>> place_partitions(const std::vector<PartitionSpec>& specs,
                                                const chip::Geometry& geometry) {
    const std::uint64_t block = geometry.erasesize_bytes;
    std::vector<Partition> placed;
    std::uint64_t next_bytes = 0;
    for (const PartitionSpec& spec : specs) {
        Partition part;
        part.name = spec.name;
        part.offset_bytes = spec.offset_bytes.value_or(next_bytes);
        if (part.offset_bytes >= geometry.size_bytes)
            return fail(
                EINVAL,
                fmt::format("partition \"{}\" begins at {:#x}, but the device ends at {:#x}",
                            part.name, part.offset_bytes, geometry.size_bytes));
        const std::uint64_t room_bytes = geometry.size_bytes - part.offset_bytes;
        part.size_bytes = spec.size_bytes.value_or(room_bytes);
        if (part.size_bytes > room_bytes)
            return fail(EINVAL,
                        fmt::format("partition {} reaches past the device's end at {:#x}: "
                                    "there is room for {}",
                                    place_of(part), geometry.size_bytes, format_size(room_bytes)));
        if (part.size_bytes < block)
            return fail(EINVAL, fmt::format("partition {} is smaller than one erase block: give "
                                            "it {} or more",
                                            place_of(part), format_size(block)));
        if (const Status apart = check_apart(placed, part); !apart)
            return tl::unexpected(apart.error());
        part.on_grid = part.offset_bytes % block == 0 && part.size_bytes % block == 0;
        part.read_only = spec.read_only || !part.on_grid;
        next_bytes = part.offset_bytes + part.size_bytes;
        placed.push_back(std::move(part));
    }
    return placed;
}

} // namespace mtdfuse::mtd
