#include "control.hpp"

#include <cerrno>
#include <mutex>

#include <fmt/format.h>
#include <unistd.h>

#include "erase_command.hpp"

namespace mtdfuse::tree {

namespace {

// The one place where a refused command is told: logged once, and kept where scripts look.
Store told(std::string path, mtd::Device& device, Log& log, Store store) {
    return [path = std::move(path), &device, &log,
            store = std::move(store)](std::string_view text) -> Result<Stored> {
        auto stored = text.size() <= kMaxCommandBytes
                          ? store(text)
                          : fail(EINVAL, fmt::format("a command of {} bytes: the longest has {}",
                                                     text.size(), kMaxCommandBytes));
        if (!stored) {
            log.warning(fmt::format("{}: {}", path, stored.error().context));
            device.last_error().set(stored.error().context);
        }
        return stored;
    };
}

Result<Stored> erase(std::string_view text, mtd::Device& device) {
    if (device.read_only()) {
        return fail(EROFS, fmt::format("mtd{} is read-only: nothing can be erased; mount it "
                                       "without --ro, or make the image writable",
                                       device.index()));
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

// What ctl/sync has seen of one device's writeback errors: each is told to the next writer once.
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

// One store per device, run one after another: an error of one keeps none of the others back.
Store for_each(std::vector<Store> stores) {
    return [stores = std::move(stores)](std::string_view text) {
        Result<Stored> first_failure = Stored{};
        for (const Store& store : stores) {
            auto stored = store(text);
            if (!stored && first_failure) {
                first_failure = std::move(stored);
            }
        }
        return first_failure;
    };
}

} // namespace

void add_device_control(Builder& builder, Inode directory, mtd::Device& device, Log& log) {
    Node& node =
        builder.command(directory, "erase",
                        told(fmt::format("ctl/mtd{}/erase", device.index()), device, log,
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
    std::vector<Store> syncs;
    std::vector<Store> drops;
    for (mtd::Device* device : devices) {
        const auto write_back = std::make_shared<WriteBack>(*device);
        const auto sync = [write_back](std::string_view) -> Result<Stored> {
            const Status synced = write_back->run();
            return synced ? Result<Stored>(Stored{}) : tl::unexpected(synced.error());
        };
        const auto drop = [device, sync](std::string_view text) -> Result<Stored> {
            auto synced = sync(text);
            device->drop_caches();
            return synced;
        };
        syncs.push_back(told("ctl/sync", *device, log, sync));
        drops.push_back(told("ctl/drop_caches", *device, log, drop));
    }
    builder.command(directory, "sync", for_each(std::move(syncs)));
    builder.command(directory, "drop_caches", for_each(std::move(drops)));
    builder.text(directory, "pid",
                 []() -> Result<std::string> { return fmt::format("{}\n", getpid()); });
}

} // namespace mtdfuse::tree
