// The wall: where every Error and every exception of the rooms below becomes one of the errnos that
// FUSE can carry, and where it is told to the people who have to know.
#pragma once

#include <mtdfuse/mtd.hpp>

namespace mtdfuse::fuse {

// The errno for the kernel. 524 (the kernel's own ENOTSUPP, which MTD drivers leak) is EOPNOTSUPP;
// anything else that is none, or 512 and more, is EIO: fuse_reply_err with such a number fails, and
// the caller would hang for ever.
[[nodiscard]] int wire_errno(int number);

// EIO is the device's trouble, everything else a user's: he asked for what cannot be.
[[nodiscard]] Severity severity_of(int number);

// Logs a refusal and keeps it as the device's last error. ENOTTY is only a debug line: every C
// library asks a new file whether it is a terminal, and that must not cover up a real refusal.
void tell(const Error& error, mtd::Device* device, Log& log);

// The exception being handled, as an Error: ENOMEM for std::bad_alloc, else EIO. Call it only from
// a catch block.
[[nodiscard]] Error current_exception_error();

} // namespace mtdfuse::fuse
