#include "file_calls.hpp"

#include <unistd.h>

namespace mtdfuse::storage {

ssize_t FileCalls::read_once(int fd, void* into, std::size_t length_bytes, off_t at) {
    return ::pread(fd, into, length_bytes, at);
}

ssize_t FileCalls::write_once(int fd, const iovec* segments, int count, off_t at) {
    return ::pwritev(fd, segments, count, at);
}

int FileCalls::sync_once(int fd) {
    return ::fdatasync(fd);
}

} // namespace mtdfuse::storage
