// Invariant: text_ is one whole sentence or empty; mutex_ guards it and is a leaf: nothing else is
// locked under it.
#include <mtdfuse/mtd.hpp>

namespace mtdfuse::mtd {

void LastError::set(std::string text) {
    const std::lock_guard lock(mutex_);
    text_ = std::move(text);
}

std::string LastError::text() const {
    const std::lock_guard lock(mutex_);
    return text_;
}

} // namespace mtdfuse::mtd
