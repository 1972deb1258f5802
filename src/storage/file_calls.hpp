// The system calls under a file backing, apart so that a test can answer with short transfers,
// EINTR and errors. Each is one call with the kernel's own return value and errno.
#pragma once

#include <cstddef>

#include <sys/types.h>
#include <sys/uio.h>

namespace mtdfuse::storage {

class FileCalls {
public:
    FileCalls() = default;
    FileCalls(const FileCalls&) = delete;
    FileCalls& operator=(const FileCalls&) = delete;
    virtual ~FileCalls() = default;

    virtual ssize_t read_once(int fd, void* into, std::size_t length_bytes, off_t at);
    virtual ssize_t write_once(int fd, const iovec* segments, int count, off_t at);
    virtual int start_write_out_once(int fd, off_t at, off_t length_bytes);
    virtual int sync_once(int fd);
};

} // namespace mtdfuse::storage
