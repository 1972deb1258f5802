// The order of the checks. What needs no open comes first; the lock comes before exclusive use,
// so that a daemon that is just ending is waited for and not reported; size and contents are
// looked at last, when nobody else can change them.
#include "image.hpp"

#include "block_device.hpp"
#include "file_backing.hpp"
#include "image_file.hpp"
#include "image_lock.hpp"

namespace mtdfuse::storage {

Result<Image> open_image(const std::string& path, const OpenOptions& options, Log& log,
                         const Surroundings& surroundings) {
    auto file = open_image_file(path, options.read_only, log);
    if (!file)
        return tl::make_unexpected(file.error());
    const LockMode mode = file->read_only ? LockMode::shared : LockMode::exclusive;
    if (auto locked = lock_image(file->fd.get(), file->path, mode, options.lock_wait,
                                 surroundings.mounts, log);
        !locked)
        return tl::make_unexpected(locked.error());

    FileHandles handles;
    if (file->block_device) {
        auto claimed = claim_device(file->path, file->read_only, surroundings);
        if (!claimed)
            return tl::make_unexpected(claimed.error());
        handles.lock = std::move(file->fd);
        handles.data = std::move(*claimed);
    } else {
        handles.data = std::move(file->fd);
    }

    const auto extent = measure(handles.data.get(), *file);
    if (!extent)
        return tl::make_unexpected(extent.error());
    if (file->block_device) {
        if (auto usable = check_contents(handles.data.get(), file->path, options.force, log);
            !usable)
            return tl::make_unexpected(usable.error());
    }
    return Image{make_file_backing(std::move(handles), extent->size_bytes, extent->block_bytes,
                                   std::make_unique<FileCalls>()),
                 std::move(file->path), extent->size_bytes, file->read_only, file->block_device};
}

Result<Image> open_image(const std::string& path, const OpenOptions& options, Log& log) {
    return open_image(path, options, log, Surroundings{});
}

} // namespace mtdfuse::storage
