// What answers each ioctl that mtdfuse-run packs, and what refuses it beforehand. The calls
// themselves are OpenFile's; here the fields of a wire::Request get their meaning.
#pragma once

#include "command.hpp"

namespace mtdfuse::mtd::packed {

[[nodiscard]] Status check_is_locked(OpenFile& file, const wire::Request& request);
[[nodiscard]] Status check_otp_select(OpenFile& file, const wire::Request& request);
[[nodiscard]] Status check_otp_region_count(OpenFile& file, const wire::Request& request);
[[nodiscard]] Status check_otp_region_info(OpenFile& file, const wire::Request& request);
[[nodiscard]] Status check_otp_lock(OpenFile& file, const wire::Request& request);
[[nodiscard]] Status check_read_oob(OpenFile& file, const wire::Request& request);
[[nodiscard]] Status check_write_oob(OpenFile& file, const wire::Request& request);
[[nodiscard]] Status check_page_request(OpenFile& file, const wire::Request& request);
[[nodiscard]] Status check_partition(OpenFile& file, const wire::Request& request);

[[nodiscard]] Result<PackedAnswer> is_locked(OpenFile& file, const wire::Request& request,
                                             std::span<const std::byte> in);
[[nodiscard]] Result<PackedAnswer> otp_select(OpenFile& file, const wire::Request& request,
                                              std::span<const std::byte> in);
[[nodiscard]] Result<PackedAnswer> otp_region_count(OpenFile& file, const wire::Request& request,
                                                    std::span<const std::byte> in);
[[nodiscard]] Result<PackedAnswer> otp_region_info(OpenFile& file, const wire::Request& request,
                                                   std::span<const std::byte> in);
[[nodiscard]] Result<PackedAnswer> otp_lock(OpenFile& file, const wire::Request& request,
                                            std::span<const std::byte> in);
[[nodiscard]] Result<PackedAnswer> read_oob(OpenFile& file, const wire::Request& request,
                                            std::span<const std::byte> in);
[[nodiscard]] Result<PackedAnswer> write_oob(OpenFile& file, const wire::Request& request,
                                             std::span<const std::byte> in);
[[nodiscard]] Result<PackedAnswer> read_pages(OpenFile& file, const wire::Request& request,
                                              std::span<const std::byte> in);
[[nodiscard]] Result<PackedAnswer> write_pages(OpenFile& file, const wire::Request& request,
                                               std::span<const std::byte> in);
[[nodiscard]] Result<PackedAnswer> change_partition(OpenFile& file, const wire::Request& request,
                                                    std::span<const std::byte> in);

} // namespace mtdfuse::mtd::packed
