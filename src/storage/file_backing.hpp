// A Backing over a file or block device: what the facade's make_file_backing cannot say.
#pragma once

#include <mtdfuse/storage.hpp>

namespace mtdfuse::storage {

struct FileHandles {
    UniqueFd lock; // holds the flock where that is another open file; closed after `data`
    UniqueFd data;
};

[[nodiscard]] std::unique_ptr<Backing> make_file_backing(FileHandles handles,
                                                         std::uint64_t size_bytes,
                                                         std::uint64_t block_bytes,
                                                         std::unique_ptr<FileCalls> calls);

} // namespace mtdfuse::storage
