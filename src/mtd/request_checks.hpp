// What mtdchar refuses of the calls with OOB and OTP before it looks at their bytes, and which
// pages they cover. Stateless; a staged call is refused by it at its begin, before anything is kept
// for it.
#pragma once

#include <mtdfuse/mtd.hpp>

namespace mtdfuse::mtd {

// MEMREADOOB and MEMWRITEOOB: `start_bytes` holds the page and the offset within its OOB.
[[nodiscard]] Status check_read_oob(const Device& device, std::uint64_t start_bytes,
                                    std::uint64_t length_bytes);
[[nodiscard]] Status check_write_oob(const Device& device, std::uint64_t start_bytes,
                                     std::uint64_t length_bytes);
[[nodiscard]] PageRange oob_range(const Device& device, std::uint64_t start_bytes,
                                  std::uint64_t length_bytes);

// MEMREAD and MEMWRITE.
struct RequestSizes {
    std::uint64_t start_bytes = 0, data_bytes = 0, oob_bytes = 0;
    std::uint32_t mode = 0;
};
[[nodiscard]] Status check_page_request(const Device& device, const RequestSizes& request);
// Of a request that passed: without the OOB that the pages of the data have no room for.
[[nodiscard]] PageRange request_range(const Device& device, const RequestSizes& request);

[[nodiscard]] Status check_otp_mode(const Device& device, int mode);
[[nodiscard]] Status check_otp_lock(const Device& device);

} // namespace mtdfuse::mtd
