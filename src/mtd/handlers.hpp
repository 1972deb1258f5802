// What answers each ioctl that FUSE carries. EFAULT where the call brings less than the argument's
// structure, or takes less than the answer's: what a bad pointer gives on a kernel.
#pragma once

#include "command.hpp"

namespace mtdfuse::mtd {

[[nodiscard]] Result<IoctlReply> get_info(OpenFile& file, const Call& call);
[[nodiscard]] Result<IoctlReply> get_region_count(OpenFile& file, const Call& call);
[[nodiscard]] Result<IoctlReply> get_region_info(OpenFile& file, const Call& call);
[[nodiscard]] Result<IoctlReply> get_oob_layout(OpenFile& file, const Call& call);
[[nodiscard]] Result<IoctlReply> get_ecc_stats(OpenFile& file, const Call& call);
[[nodiscard]] Result<IoctlReply> get_bad_block(OpenFile& file, const Call& call);
[[nodiscard]] Result<IoctlReply> set_bad_block(OpenFile& file, const Call& call);
[[nodiscard]] Result<IoctlReply> erase(OpenFile& file, const Call& call);
[[nodiscard]] Result<IoctlReply> erase64(OpenFile& file, const Call& call);
[[nodiscard]] Result<IoctlReply> lock_range(OpenFile& file, const Call& call);
[[nodiscard]] Result<IoctlReply> unlock_range(OpenFile& file, const Call& call);
[[nodiscard]] Result<IoctlReply> set_file_mode(OpenFile& file, const Call& call);
[[nodiscard]] Result<IoctlReply> erase_otp(OpenFile& file, const Call& call);
[[nodiscard]] Result<IoctlReply> reread_partitions(OpenFile& file, const Call& call);

} // namespace mtdfuse::mtd
