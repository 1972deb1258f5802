#include <fcntl.h>
#include <unistd.h>

#include <mtdfuse/storage.hpp>

namespace mtdfuse::storage {

ssize_t FileCalls::read_once(int fd, void* into, std::size_t length_bytes, off_t at) {
    return ::pread(fd, into, length_bytes, at);
}

ssize_t FileCalls::write_once(int fd, const iovec* segments, int count, off_t at) {
    return ::pwritev(fd, segments, count, at);
}

int FileCalls::start_write_out_once(int fd, off_t at, off_t length_bytes) {
    return ::sync_file_range(fd, at, length_bytes, SYNC_FILE_RANGE_WRITE);
}

int FileCalls::sync_once(int fd) {
    return ::fdatasync(fd);
}

} // namespace mtdfuse::storage
