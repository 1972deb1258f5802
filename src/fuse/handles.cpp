#include "handles.hpp"

#include <bit>

namespace mtdfuse::fuse {

std::uint64_t Handles::add(std::unique_ptr<Handle> handle) {
    const auto number = reinterpret_cast<std::uintptr_t>(handle.get());
    const std::lock_guard lock(mutex_);
    open_.emplace(number, std::move(handle));
    return number;
}

void Handles::remove(std::uint64_t number) {
    std::unique_ptr<Handle> removed; // freed after the lock
    const std::lock_guard lock(mutex_);
    if (const auto found = open_.find(number); found != open_.end()) {
        removed = std::move(found->second);
        open_.erase(found);
    }
}

Handle& Handles::find(std::uint64_t number) {
    return *std::bit_cast<Handle*>(static_cast<std::uintptr_t>(number));
}

std::size_t Handles::count() const {
    const std::lock_guard lock(mutex_);
    return open_.size();
}

} // namespace mtdfuse::fuse
