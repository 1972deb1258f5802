// Stateless. The structures are written down here because glibc's are those of the program that is
// compiled, not of the one that asked.
#include "stat_layout.hpp"

#include <cerrno>
#include <cstring>
#include <limits>

namespace mtdfuse::run {

namespace {

struct StatX8664 {
    std::uint64_t dev, ino, nlink;
    std::uint32_t mode, uid, gid, pad0;
    std::uint64_t rdev;
    std::int64_t size, blksize, blocks;
    std::uint64_t atime, atime_nsec, mtime, mtime_nsec, ctime, ctime_nsec;
    std::int64_t unused[3];
};
static_assert(sizeof(StatX8664) == 144);

struct StatI386 {
    std::uint32_t dev, ino;
    std::uint16_t mode, nlink, uid, gid;
    std::uint32_t rdev, size, blksize, blocks;
    std::uint32_t atime, atime_nsec, mtime, mtime_nsec, ctime, ctime_nsec;
    std::uint32_t unused[2];
};
static_assert(sizeof(StatI386) == 64);

// i386 aligns 8 bytes to 4.
struct __attribute__((packed)) Stat64I386 {
    std::uint64_t dev;
    std::uint8_t pad0[4];
    std::uint32_t short_ino, mode, nlink, uid, gid;
    std::uint64_t rdev;
    std::uint8_t pad3[4];
    std::int64_t size;
    std::uint32_t blksize;
    std::uint64_t blocks;
    std::uint32_t atime, atime_nsec, mtime, mtime_nsec, ctime, ctime_nsec;
    std::uint64_t ino;
};
static_assert(sizeof(Stat64I386) == 96);

// include/linux/kdev_t.h, new_encode_dev.
std::uint32_t encode_device(std::uint32_t major, std::uint32_t minor) {
    return (minor & 0xffU) | (major << 8U) | ((minor & ~0xffU) << 12U);
}

template<class Stat>
void put_times(Stat& stat, const struct statx& file) {
    // A 32-bit time wraps in 2038: the kernel cuts it off, too.
    using Seconds = decltype(stat.atime);
    stat.atime = static_cast<Seconds>(file.stx_atime.tv_sec);
    stat.atime_nsec = file.stx_atime.tv_nsec;
    stat.mtime = static_cast<Seconds>(file.stx_mtime.tv_sec);
    stat.mtime_nsec = file.stx_mtime.tv_nsec;
    stat.ctime = static_cast<Seconds>(file.stx_ctime.tv_sec);
    stat.ctime_nsec = file.stx_ctime.tv_nsec;
}

std::uint32_t device_of(const struct statx& file) {
    return encode_device(file.stx_dev_major, file.stx_dev_minor);
}
std::uint32_t special_of(const struct statx& file) {
    return encode_device(file.stx_rdev_major, file.stx_rdev_minor);
}

template<class T>
std::vector<std::byte> bytes_of(const T& object) {
    std::vector<std::byte> bytes(sizeof object);
    std::memcpy(bytes.data(), &object, sizeof object);
    return bytes;
}

StatX8664 x86_64_stat(const struct statx& file) {
    StatX8664 stat = {};
    stat.dev = device_of(file);
    stat.ino = file.stx_ino;
    stat.nlink = file.stx_nlink;
    stat.mode = file.stx_mode;
    stat.uid = file.stx_uid;
    stat.gid = file.stx_gid;
    stat.rdev = special_of(file);
    stat.size = static_cast<std::int64_t>(file.stx_size);
    stat.blksize = file.stx_blksize;
    stat.blocks = static_cast<std::int64_t>(file.stx_blocks);
    put_times(stat, file);
    return stat;
}

// fs/stat.c, cp_compat_stat.
Result<StatI386> i386_stat(const struct statx& file) {
    constexpr std::uint32_t kOverflowId = 65534; // include/linux/highuid.h
    constexpr std::uint32_t kMaxId = 65535;
    if (file.stx_size > std::numeric_limits<std::int32_t>::max() ||
        file.stx_ino > std::numeric_limits<std::uint32_t>::max() ||
        file.stx_nlink > std::numeric_limits<std::uint16_t>::max())
        return fail(EOVERFLOW, "a file whose numbers do not fit the old struct stat");
    const auto narrow_id = [](std::uint32_t id) {
        return static_cast<std::uint16_t>(id > kMaxId ? kOverflowId : id);
    };
    StatI386 stat = {};
    stat.dev = device_of(file);
    stat.ino = static_cast<std::uint32_t>(file.stx_ino);
    stat.mode = file.stx_mode;
    stat.nlink = static_cast<std::uint16_t>(file.stx_nlink);
    stat.uid = narrow_id(file.stx_uid);
    stat.gid = narrow_id(file.stx_gid);
    stat.rdev = special_of(file);
    stat.size = static_cast<std::uint32_t>(file.stx_size);
    stat.blksize = file.stx_blksize;
    stat.blocks = static_cast<std::uint32_t>(file.stx_blocks);
    put_times(stat, file);
    return stat;
}

Stat64I386 i386_stat64(const struct statx& file) {
    Stat64I386 stat = {};
    stat.dev = device_of(file);
    stat.short_ino = static_cast<std::uint32_t>(file.stx_ino);
    stat.mode = file.stx_mode;
    stat.nlink = file.stx_nlink;
    stat.uid = file.stx_uid;
    stat.gid = file.stx_gid;
    stat.rdev = special_of(file);
    stat.size = static_cast<std::int64_t>(file.stx_size);
    stat.blksize = file.stx_blksize;
    stat.blocks = file.stx_blocks;
    put_times(stat, file);
    stat.ino = file.stx_ino;
    return stat;
}

} // namespace

struct statx as_device(const struct statx& file, const MtdNode& node) {
    struct statx device = file;
    device.stx_mode = static_cast<std::uint16_t>((file.stx_mode & ~S_IFMT) | S_IFCHR);
    device.stx_rdev_major = kMtdCharMajor;
    device.stx_rdev_minor = node.minor();
    device.stx_size = 0;
    device.stx_blocks = 0;
    return device;
}

Result<std::vector<std::byte>> laid_out(const struct statx& file, StatLayout layout) {
    switch (layout) {
    case StatLayout::i386: {
        const auto stat = i386_stat(file);
        if (!stat)
            return tl::make_unexpected(stat.error());
        return bytes_of(*stat);
    }
    case StatLayout::i386_wide:
        return bytes_of(i386_stat64(file));
    case StatLayout::x86_64:
        break;
    }
    return bytes_of(x86_64_stat(file));
}

} // namespace mtdfuse::run
