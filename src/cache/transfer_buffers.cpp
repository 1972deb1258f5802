#include "transfer_buffers.hpp"

#include <sys/mman.h>

namespace mtdfuse::cache {

Result<MemoryMap> TransferBuffers::take() {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
        MemoryMap buffer = std::move(idle_.back());
        idle_.pop_back();
        return buffer;
    }
    idle_.reserve(made_ + 1); // giving back must not fail
    auto made = MemoryMap::create(kTransferBytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    made_ += made ? 1 : 0;
    return made;
}

void TransferBuffers::give_back(MemoryMap buffer) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(buffer));
}

} // namespace mtdfuse::cache
