#include "memory_map.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

namespace mtdfuse::cache {

Result<MemoryMap> MemoryMap::create(std::uint64_t length_bytes, int flags, int fd) {
    void* data = ::mmap(nullptr, length_bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (data == MAP_FAILED)
        return fail_errno(fmt::format("cannot map {} bytes for the cache", length_bytes));
    return MemoryMap(static_cast<std::byte*>(data), length_bytes);
}

MemoryMap::~MemoryMap() {
    if (data_ != nullptr)
        ::munmap(data_, length_);
}

} // namespace mtdfuse::cache
