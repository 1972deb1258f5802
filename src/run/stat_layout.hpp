// How each system call of the stat family lays a file's attributes out in memory.
#pragma once

#include <vector>

#include <sys/stat.h>

#include <mtdfuse/base.hpp>

#include "mount_view.hpp"

namespace mtdfuse::run {

enum class StatLayout {
    x86_64,    // struct stat of arch/x86/include/uapi/asm/stat.h
    i386,      // the same file's for 32 bits: stat, lstat, fstat of old programs
    i386_wide, // its struct stat64: stat64, lstat64, fstat64, fstatat64
};

// What a program shall see of a node: a character device 90:2N or 90:2N+1 without a size, as
// mtdchar's; owner, permissions, times and inode are the file's.
[[nodiscard]] struct statx as_device(const struct statx& file, const MtdNode& node);

// EOVERFLOW where a 32-bit field is too small, as the kernel has it.
[[nodiscard]] Result<std::vector<std::byte>> laid_out(const struct statx& file, StatLayout layout);

} // namespace mtdfuse::run
