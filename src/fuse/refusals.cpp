// What cannot be done to a fixed tree. The refusals are loud on purpose: fw_setenv, for one, would
// replace a regular file by rename, and take that for a written environment.
//
// Not in the table, so that libfuse answers ENOSYS and the kernel stops asking: extended attributes
// (the caller gets EOPNOTSUPP, about which ls and cp are silent), access, poll, lseek.

#include <cerrno>

#include <fmt/format.h>

#include "context.hpp"

namespace mtdfuse::fuse {

namespace {

void refuse(fuse_req_t request, const char* call, const char* name) {
    answer(request, [&](Context&, Reply& reply) {
        reply.refuse(
            {EPERM, fmt::format("{} of {}: the names in this tree are fixed", call, name)});
    });
}

// What the kernel's node of a MTD device answers.
void refuse_fallocate(fuse_req_t request, fuse_ino_t, int, off_t, off_t, fuse_file_info*) {
    answer(request, [](Context&, Reply& reply) {
        reply.refuse({ENODEV, "fallocate: flash has no space to reserve or to punch"});
    });
}

} // namespace

void add_refusals(fuse_lowlevel_ops& table) {
    table.create = [](fuse_req_t request, fuse_ino_t, const char* name, mode_t, fuse_file_info*) {
        refuse(request, "creation", name);
    };
    table.mknod = [](fuse_req_t request, fuse_ino_t, const char* name, mode_t, dev_t) {
        refuse(request, "creation", name);
    };
    table.mkdir = [](fuse_req_t request, fuse_ino_t, const char* name, mode_t) {
        refuse(request, "mkdir", name);
    };
    table.symlink = [](fuse_req_t request, const char*, fuse_ino_t, const char* name) {
        refuse(request, "symlink", name);
    };
    table.link = [](fuse_req_t request, fuse_ino_t, fuse_ino_t, const char* name) {
        refuse(request, "link", name);
    };
    table.rename = [](fuse_req_t request, fuse_ino_t, const char* name, fuse_ino_t, const char*,
                      unsigned) { refuse(request, "rename", name); };
    table.unlink = [](fuse_req_t request, fuse_ino_t, const char* name) {
        refuse(request, "removal", name);
    };
    table.rmdir = [](fuse_req_t request, fuse_ino_t, const char* name) {
        refuse(request, "removal", name);
    };
    table.fallocate = refuse_fallocate;
}

} // namespace mtdfuse::fuse
