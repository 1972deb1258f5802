#include "option_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>

#include <fmt/format.h>

namespace mtdfuse::daemon {

namespace {

Status set_size_between(std::string_view value, std::uint64_t low, std::uint64_t high,
                        std::uint64_t& into) {
    const auto bytes = parse_size(value);
    if (!bytes)
        return tl::make_unexpected(bytes.error());
    if (*bytes < low || *bytes > high)
        return fail(EINVAL, fmt::format("'{}' is out of range: {} to {} is right", value,
                                        format_size(low), format_size(high)));
    into = *bytes;
    return {};
}

Status set_type(std::string_view value, Options& into) {
    const auto type = chip::parse_type(value);
    if (!type)
        return tl::make_unexpected(type.error());
    into.type = *type;
    return {};
}

Status set_erasesize(std::string_view value, Options& into) {
    return set_size_between(value, chip::kMinErasesizeBytes, chip::kMaxErasesizeBytes,
                            into.erasesize_bytes.emplace());
}

Status set_size(std::string_view value, Options& into) {
    const auto bytes = parse_size(value);
    if (!bytes)
        return tl::make_unexpected(bytes.error());
    if (*bytes == 0)
        return fail(EINVAL, fmt::format("'{}' is out of range: a device has at least one erase "
                                        "block",
                                        value));
    into.size_bytes = *bytes;
    return {};
}

Status set_name(std::string_view value, Options& into) {
    if (auto checked = mtd::check_name(value); !checked)
        return checked;
    into.name = std::string(value);
    return {};
}

Status set_partitions(std::string_view value, Options& into) {
    auto specs = mtd::parse_partitions(value);
    if (!specs)
        return tl::make_unexpected(specs.error());
    into.partitions = std::move(*specs);
    return {};
}

Status set_read_only(std::string_view, Options& into) {
    into.read_only = true;
    return {};
}

Status set_folio_size(std::string_view value, Options& into) {
    std::uint64_t bytes = 0;
    if (auto set = set_size_between(value, cache::kMinFolioBytes, cache::kMaxFolioBytes, bytes);
        !set)
        return set;
    if (!std::has_single_bit(bytes))
        return fail(EINVAL, fmt::format("'{}' is no power of two: {} and {} are the nearest", value,
                                        format_size(std::bit_floor(bytes)),
                                        format_size(std::bit_ceil(bytes))));
    into.folio_bytes = bytes;
    return {};
}

Status set_cache_size(std::string_view value, Options& into) {
    const auto bytes = parse_size(value);
    if (!bytes)
        return tl::make_unexpected(bytes.error());
    into.cache_bytes = *bytes;
    return {};
}

Status set_policy(std::string_view value, Options& into) {
    if (value == "writeback")
        into.policy = cache::Policy::writeback;
    else if (value == "writethrough")
        into.policy = cache::Policy::writethrough;
    else
        return fail(EINVAL,
                    fmt::format("'{}' is no policy: write writeback or writethrough", value));
    return {};
}

Status set_force(std::string_view, Options& into) {
    into.force = true;
    return {};
}

Status set_log(std::string_view value, Options& into) {
    into.log_file = std::string(value);
    return {};
}

Status set_foreground(std::string_view, Options& into) {
    into.foreground = true;
    return {};
}

Status set_debug(std::string_view, Options& into) {
    into.debug = true;
    into.foreground = true;
    return {};
}

Status set_single_thread(std::string_view, Options& into) {
    into.single_thread = true;
    return {};
}

constexpr std::array kOptions = {
    OptionRow{"type", '\0', true, "TYPE", "kind of flash: ram (default: ram)", set_type},
    OptionRow{"erasesize", '\0', true, "SIZE", "bytes of an erase block, 256 to 1G (default: 128K)",
              set_erasesize},
    OptionRow{"size", '\0', true, "SIZE", "bytes of the device (default: IMAGE's; none needs it)",
              set_size},
    OptionRow{"name", '\0', true, "NAME", "name of the device (default: base name of IMAGE)",
              set_name},
    OptionRow{"parts", '\0', true, "LIST",
              "partitions as in mtdparts: 256K(boot),-(rootfs) (default: none)", set_partitions},
    OptionRow{"ro", '\0', true, "", "a device that cannot be written (default: writable)",
              set_read_only},
    OptionRow{"folio-size", '\0', true, "SIZE",
              "unit of the cache, a power of two, 4K to 2M (default: 64K)", set_folio_size},
    OptionRow{"cache-size", '\0', true, "SIZE",
              "most bytes the cache holds (default: the smaller of device and 256M)",
              set_cache_size},
    OptionRow{"cache", '\0', true, "POLICY", "writeback or writethrough (default: writeback)",
              set_policy},
    OptionRow{"force", '\0', true, "",
              "use a block device although it holds something (default: refuse)", set_force},
    OptionRow{"log", '\0', true, "FILE", "append the log to FILE (default: syslog)", set_log},
    OptionRow{"", 'f', false, "", "stay in the foreground, log on stderr (default: background)",
              set_foreground},
    OptionRow{"", 'd', false, "", "show every request, in the foreground (default: off)",
              set_debug},
    OptionRow{"", 's', false, "", "serve with one thread (default: several)", set_single_thread},
    OptionRow{"", 'o', false, "WORD[,WORD...]", "options as mount words (default: none)", nullptr},
    OptionRow{"version", 'V', false, "", "print the version and leave", nullptr},
    OptionRow{"help", 'h', false, "", "print this text and leave", nullptr},
};

// noatime and the like concern the kernel; who may mount, when and in what order concerns
// mount(8), which has acted on it already. The mount is nosuid and nodev whatever is asked for.
constexpr std::array kMountWords = {
    MountWord{"rw", WordEffect::writable},    MountWord{"allow_other", WordEffect::allow_other},
    MountWord{"exec", WordEffect::kernel},    MountWord{"noexec", WordEffect::kernel},
    MountWord{"atime", WordEffect::kernel},   MountWord{"noatime", WordEffect::kernel},
    MountWord{"sync", WordEffect::kernel},    MountWord{"async", WordEffect::kernel},
    MountWord{"dev", WordEffect::none},       MountWord{"nodev", WordEffect::none},
    MountWord{"suid", WordEffect::none},      MountWord{"nosuid", WordEffect::none},
    MountWord{"relatime", WordEffect::none},  MountWord{"norelatime", WordEffect::none},
    MountWord{"diratime", WordEffect::none},  MountWord{"nodiratime", WordEffect::none},
    MountWord{"auto", WordEffect::none},      MountWord{"noauto", WordEffect::none},
    MountWord{"user", WordEffect::none},      MountWord{"user=*", WordEffect::none},
    MountWord{"nouser", WordEffect::none},    MountWord{"users", WordEffect::none},
    MountWord{"owner", WordEffect::none},     MountWord{"group", WordEffect::none},
    MountWord{"_netdev", WordEffect::none},   MountWord{"nofail", WordEffect::none},
    MountWord{"defaults", WordEffect::none},  MountWord{"x-*", WordEffect::none},
    MountWord{"comment=*", WordEffect::none},
};

constexpr std::size_t kHelpColumn = 30;

bool word_matches(std::string_view pattern, std::string_view word) {
    if (pattern.ends_with('*'))
        return word.starts_with(pattern.substr(0, pattern.size() - 1));
    return pattern == word;
}

std::string help_line(const OptionRow& row) {
    std::string left = row.short_name ? fmt::format("  -{}", row.short_name) : "    ";
    if (!row.long_name.empty())
        left += fmt::format("{}--{}", row.short_name ? ", " : "  ", row.long_name);
    if (!row.value.empty())
        left += fmt::format(" {}", row.value);
    return fmt::format("{:<{}}{}\n", left, kHelpColumn, row.help);
}

template<class Rows, class Matches>
auto find_in(const Rows& rows, Matches matches) {
    const auto at = std::find_if(rows.begin(), rows.end(), matches);
    return at == rows.end() ? nullptr : &*at;
}

} // namespace

std::span<const OptionRow> option_table() {
    return kOptions;
}

const OptionRow* find_long(std::string_view name) {
    return find_in(kOptions, [&](const OptionRow& row) {
        return !row.long_name.empty() && row.long_name == name;
    });
}

const OptionRow* find_short(char letter) {
    return find_in(kOptions,
                   [&](const OptionRow& row) { return letter && row.short_name == letter; });
}

const OptionRow* find_word(std::string_view name) {
    const OptionRow* row = find_long(name);
    return row && row->word ? row : nullptr;
}

std::string spelling(const OptionRow& row) {
    return row.long_name.empty() ? fmt::format("-{}", row.short_name)
                                 : fmt::format("--{}", row.long_name);
}

const MountWord* find_mount_word(std::string_view word) {
    return find_in(kMountWords,
                   [&](const MountWord& known) { return word_matches(known.name, word); });
}

std::string help_text() {
    std::string text = "Usage: mtdfuse [options] IMAGE MOUNTPOINT\n"
                       "Shows a flash device (mtd0, sysfs, /proc/mtd, control files) over IMAGE in "
                       "the directory MOUNTPOINT.\n"
                       "IMAGE is a file, a block device, or none: memory only, gone at unmount.\n"
                       "Sizes are written as 131072, 128K, 128KiB or 0x20000.\n\n"
                       "Options:\n";
    for (const OptionRow& row : kOptions)
        text += help_line(row);
    text += "\nEvery option with a long name but the last two is also a mount word, as in\n"
            "  mount -t fuse.mtdfuse IMAGE MOUNTPOINT -o erasesize=64K,ro\n"
            "The words of mount(8) and fstab are accepted, and allow_other.\n"
            "Unmount with: fusermount3 -u MOUNTPOINT\n";
    return text;
}

std::string version_text() {
    return fmt::format("mtdfuse {}\n", MTDFUSE_VERSION);
}

} // namespace mtdfuse::daemon
