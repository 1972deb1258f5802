#include "quota.hpp"

namespace mtdfuse::cache {

std::uint64_t Quota::limit_bytes() const {
    const std::lock_guard lock(mutex_);
    return limit_;
}

void Quota::set_limit(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
}

std::uint64_t Quota::used_bytes() const {
    const std::lock_guard lock(mutex_);
    return used_;
}

bool Quota::try_take(std::uint64_t bytes, std::uint64_t folios) {
    const std::lock_guard lock(mutex_);
    if (used_ + bytes > limit_)
        return false;
    used_ += bytes;
    folios_ += folios;
    return true;
}

std::uint64_t Quota::folios() const {
    const std::lock_guard lock(mutex_);
    return folios_;
}

void Quota::give_back(std::uint64_t bytes, std::uint64_t folios) {
    {
        const std::lock_guard lock(mutex_);
        used_ -= bytes;
        folios_ -= folios;
        ++epoch_;
    }
    changed_.notify_all();
}

std::uint64_t Quota::epoch() const {
    const std::lock_guard lock(mutex_);
    return epoch_;
}

void Quota::announce_change() {
    {
        const std::lock_guard lock(mutex_);
        ++epoch_;
    }
    changed_.notify_all();
}

void Quota::await_change(std::uint64_t sampled_epoch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return epoch_ != sampled_epoch; });
}

} // namespace mtdfuse::cache
