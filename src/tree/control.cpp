#include "control.hpp"

#include <cerrno>
#include <mutex>

#include <fmt/format.h>
#include <unistd.h>

#include "erase_command.hpp"

namespace mtdfuse::tree {

namespace {

// The one place where a refused command is told: logged once, and kept where scripts look, with
// each device that it concerns.
Store told(std::string path, std::vector<mtd::Device*> devices, Log& log, Store store) {
    return [path = std::move(path), devices = std::move(devices), &log,
            store = std::move(store)](std::string_view text) -> Result<Stored> {
        auto stored = text.size() <= kMaxCommandBytes
                          ? store(text)
                          : fail(EINVAL, fmt::format("a command of {} bytes: the longest has {}",
                                                     text.size(), kMaxCommandBytes));
        if (!stored) {
            log.warning(fmt::format("{}: {}", path, stored.error().context));
            for (mtd::Device* device : devices) {
                device->last_error().set(stored.error().context);
            }
        }
        return stored;
    };
}

// A partition has causes of its own, and the log told at the start which one is off the grid.
std::string_view way_to_writable(const mtd::Device& device) {
    return device.offset_bytes()
               ? "mount it without --ro, and without ro behind it in --parts; let "
                 "it begin and end on an erase block's boundary; or make the "
                 "image writable"
               : "mount it without --ro, or make the image writable";
}

Result<Stored> erase(std::string_view text, mtd::Device& device) {
    if (device.read_only()) {
        return fail(EROFS, fmt::format("mtd{} is read-only: nothing can be erased; {}",
                                       device.index(), way_to_writable(device)));
    }
    const auto command = parse_erase_command(text, device.geometry());
    if (!command) {
        return tl::unexpected(command.error());
    }
    if (const Status erased = run_erase_command(*command, device); !erased) {
        return tl::unexpected(erased.error());
    }
    return Stored{&device};
}

// What ctl/sync has seen of the chip's writeback errors: each is told to the next writer once.
// The mutex guards the cursor and is held across a sync.
class WriteBack {
public:
    explicit WriteBack(mtd::Device& device) : device_(device), cursor_(device.error_cursor()) {}

    Status run() {
        const std::lock_guard lock(mutex_);
        return device_.sync(mtd::Durability::stable, cursor_);
    }

private:
    mtd::Device& device_;
    std::mutex mutex_;
    chip::ErrorCursor cursor_;
};

} // namespace

void add_device_control(Builder& builder, Inode directory, mtd::Device& device, Log& log) {
    Node& node =
        builder.command(directory, "erase",
                        told(fmt::format("ctl/mtd{}/erase", device.index()), {&device}, log,
                             [&device](std::string_view text) { return erase(text, device); }));
    node.device = &device;
    node.sync_on_close = true;
    builder.text(directory, "last_error", [&device]() -> Result<std::string> {
        const std::string text = device.last_error().text();
        return text.empty() ? text : text + '\n';
    });
}

void add_chip_control(Builder& builder, Inode directory, const std::vector<mtd::Device*>& devices,
                      Log& log) {
    // Partitions share a chip and a cache: one of them reaches all bytes, and all are told.
    mtd::Device& device = *devices.front();
    const auto write_back = std::make_shared<WriteBack>(device);
    const auto sync = [write_back](std::string_view) -> Result<Stored> {
        const Status synced = write_back->run();
        return synced ? Result<Stored>(Stored{}) : tl::unexpected(synced.error());
    };
    const auto drop = [&device, sync](std::string_view text) -> Result<Stored> {
        auto synced = sync(text);
        device.drop_caches();
        return synced;
    };
    builder.command(directory, "sync", told("ctl/sync", devices, log, sync));
    builder.command(directory, "drop_caches", told("ctl/drop_caches", devices, log, drop));
    builder.text(directory, "pid",
                 []() -> Result<std::string> { return fmt::format("{}\n", getpid()); });
}

} // namespace mtdfuse::tree
