#include "assembly.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

namespace mtdfuse::daemon {

namespace {

constexpr std::uint64_t kMostCacheBytes = 256 * kMiB;
constexpr std::string_view kNone = "none";

// An image whose length fits no erase block: what would fit.
tl::unexpected<Error> odd_size(const Medium& medium, std::uint32_t erasesize_bytes) {
    const std::uint64_t size_bytes = *medium.size_bytes;
    const std::uint64_t front_bytes = size_bytes - size_bytes % erasesize_bytes;
    const std::uint64_t divisor_bytes =
        std::min<std::uint64_t>(size_bytes & -size_bytes, std::bit_floor(erasesize_bytes));
    std::string remedy;
    if (front_bytes > 0)
        remedy = fmt::format("use its front with --size {}", format_size(front_bytes));
    if (divisor_bytes >= chip::kMinErasesizeBytes)
        remedy += fmt::format("{}give an erase block that divides it, as --erasesize {}",
                              remedy.empty() ? "" : ", or ", format_size(divisor_bytes));
    if (remedy.empty())
        remedy = fmt::format("make it longer, or give a smaller --erasesize ({} is the least)",
                             chip::kMinErasesizeBytes);
    return fail(EINVAL, fmt::format("image '{}' of {} bytes is no multiple of erasesize {}: {}",
                                    medium.path, size_bytes, format_size(erasesize_bytes), remedy));
}

} // namespace

Result<chip::Geometry> choose_geometry(const Options& options, const Medium& medium) {
    if (options.size_bytes && medium.size_bytes && *options.size_bytes > *medium.size_bytes)
        return fail(EINVAL, fmt::format("--size {} is larger than image '{}' of {}: give that or "
                                        "less",
                                        format_size(*options.size_bytes), medium.path,
                                        format_size(*medium.size_bytes)));
    const std::uint64_t size_bytes = options.size_bytes.value_or(medium.size_bytes.value_or(0));
    chip::Geometry geometry = chip::default_geometry(options.type, size_bytes);
    if (options.erasesize_bytes)
        geometry.erasesize_bytes = static_cast<std::uint32_t>(*options.erasesize_bytes);
    if (!options.size_bytes && medium.size_bytes && size_bytes % geometry.erasesize_bytes != 0)
        return odd_size(medium, geometry.erasesize_bytes);
    if (auto checked = chip::check_geometry(geometry); !checked)
        return tl::make_unexpected(checked.error());
    return geometry;
}

std::uint64_t choose_cache_bytes(const Options& options, std::uint64_t device_bytes) {
    return options.cache_bytes.value_or(
        std::max(options.folio_bytes, std::min(device_bytes, kMostCacheBytes)));
}

Result<std::string> choose_name(const Options& options) {
    if (options.name)
        return *options.name;
    std::string name = std::filesystem::path(options.image).filename().string();
    if (auto checked = mtd::check_name(name); !checked)
        return fail(EINVAL, fmt::format("the image's base name cannot name the device, give one "
                                        "with --name: {}",
                                        checked.error().context));
    return name;
}

Result<std::vector<std::unique_ptr<mtd::Device>>>
make_devices(const Options& options, chip::Chip& chip, bool read_only, Log& log) {
    std::vector<std::unique_ptr<mtd::Device>> devices;
    if (options.partitions.empty()) {
        auto name = choose_name(options);
        if (!name)
            return tl::make_unexpected(name.error());
        devices.push_back(std::make_unique<mtd::Device>(chip, 0, std::move(*name), read_only));
        return devices;
    }
    auto parts = mtd::place_partitions(options.partitions, chip.geometry());
    if (!parts)
        return fail(parts.error().number, fmt::format("--parts: {}", parts.error().context));
    for (mtd::Partition& part : *parts) {
        if (!part.on_grid)
            log.warning(fmt::format("partition \"{}\" is read-only: it does not begin and end on "
                                    "an erase block's boundary (erasesize {})",
                                    part.name, format_size(chip.geometry().erasesize_bytes)));
        part.read_only = part.read_only || read_only;
        devices.push_back(
            std::make_unique<mtd::Device>(chip, static_cast<unsigned>(devices.size()), part));
    }
    return devices;
}

Result<std::unique_ptr<Assembly>> Assembly::build(const Options& options, Log& log) {
    auto made = std::make_unique<Assembly>();
    storage::Image image = {nullptr, std::string(kNone), 0, options.read_only, false};
    Medium medium = {options.image, std::nullopt};
    if (options.image != kNone) {
        storage::OpenOptions open_options;
        open_options.read_only = options.read_only;
        open_options.force = options.force;
        auto opened = storage::open_image(options.image, open_options, log);
        if (!opened)
            return tl::make_unexpected(opened.error());
        image = std::move(*opened);
        medium.size_bytes = image.size_bytes;
    }
    made->source = image.path;
    const auto geometry = choose_geometry(options, medium);
    if (!geometry)
        return tl::make_unexpected(geometry.error());

    cache::Options cache_options;
    cache_options.folio_bytes = options.folio_bytes;
    cache_options.capacity_bytes = choose_cache_bytes(options, geometry->size_bytes);
    cache_options.policy = options.policy;
    auto folios = cache::Cache::create(cache_options, log, made->clock);
    if (!folios)
        return tl::make_unexpected(folios.error());
    made->cache = std::move(*folios);
    const auto data = image.backing
                          ? made->cache->map(storage::record_io(std::move(image.backing), made->io))
                          : made->cache->map_anonymous(geometry->size_bytes);
    if (!data)
        return tl::make_unexpected(data.error());

    made->chip = chip::make_ram(*geometry, **data);
    auto devices = make_devices(options, *made->chip, image.read_only, log);
    if (!devices)
        return tl::make_unexpected(devices.error());
    made->devices = std::move(*devices);
    tree::Sources sources;
    for (const auto& device : made->devices)
        sources.devices.push_back(device.get());
    sources.cache = made->cache.get();
    sources.io = &made->io;
    sources.log = &log;
    sources.more_metrics = [raw = made.get()](std::vector<Metric>& into) {
        if (const fuse::Session* front_end = raw->session)
            front_end->collect_metrics(into);
    };
    made->tree = std::make_unique<tree::Tree>(sources);
    return made;
}

std::string Assembly::description() const {
    std::string text;
    for (const auto& device : devices) {
        const chip::Geometry& geometry = device->geometry();
        text += fmt::format(
            "mtd{} \"{}\": {}{}, size {}, erasesize {}, ", device->index(), device->name(),
            chip::type_name(geometry.type), device->read_only() ? ", read-only" : "",
            format_size(geometry.size_bytes), format_size(geometry.erasesize_bytes));
    }
    return text + fmt::format("image {}", source);
}

Status Assembly::sync_for_good() {
    chip::ErrorCursor cursor = chip->error_cursor();
    Status synced = chip->sync(chip::Durability::stable, cursor);
    if (const std::uint64_t lost_bytes = cache->dirty_bytes(); lost_bytes > 0)
        return fail(EIO,
                    fmt::format("{} bytes could not be written back to {} and are lost: {}",
                                lost_bytes, source,
                                synced ? "the cause was told before" : synced.error().context));
    return synced;
}

} // namespace mtdfuse::daemon
