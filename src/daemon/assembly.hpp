// The rooms put together, from the image to the tree. Members are in the order of making, so that
// each is destroyed before what it stands on; the cache, which owns the image and with it the lock,
// goes last.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include <mtdfuse/daemon.hpp>

namespace mtdfuse::daemon {

// What the device lies on: a file or block device of `size_bytes`, or nothing ("none").
struct Medium {
    std::string path; // for messages; "none"
    std::optional<std::uint64_t> size_bytes;
};

// The geometry that options and medium give. EINVAL with both values and what would be right.
[[nodiscard]] Result<chip::Geometry> choose_geometry(const Options& options, const Medium& medium);

// The smaller of the device and 256 MiB, one folio at least, unless --cache-size says otherwise.
[[nodiscard]] std::uint64_t choose_cache_bytes(const Options& options, std::uint64_t device_bytes);

// --name, else the base name of IMAGE; EINVAL hints at --name.
[[nodiscard]] Result<std::string> choose_name(const Options& options);

// The whole chip as mtd0, or its partitions. EINVAL names the option and what does not fit; those
// that their place makes read-only are told to `log`.
[[nodiscard]] Result<std::vector<std::unique_ptr<mtd::Device>>>
make_devices(const Options& options, chip::Chip& chip, bool read_only, Log& log);

struct Assembly {
    // Opens and locks the image, and builds on it.
    [[nodiscard]] static Result<std::unique_ptr<Assembly>> build(const Options& options, Log& log);

    [[nodiscard]] std::string description() const; // one line for the log

    // Writes everything back and on stable storage. EIO tells the bytes that are lost.
    [[nodiscard]] Status sync_for_good();

    SteadyClock clock;
    storage::IoHistogram io;
    std::string source; // the image's path or "none"
    std::unique_ptr<cache::Cache> cache;
    std::unique_ptr<chip::Chip> chip;
    std::vector<std::unique_ptr<mtd::Device>> devices; // one, or one for each partition
    std::unique_ptr<tree::Tree> tree;
    std::atomic<const fuse::Session*> session{nullptr}; // its metrics are shown once it exists
};

} // namespace mtdfuse::daemon
