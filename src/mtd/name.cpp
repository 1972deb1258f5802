#include <mtdfuse/mtd.hpp>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

namespace mtdfuse::mtd {

Status check_name(std::string_view name) {
    if (name.size() > kMaxNameLength) {
        return fail(EINVAL, fmt::format("a device name of {} characters: use at most {}",
                                        name.size(), kMaxNameLength));
    }
    // Both would break the one-line, quoted form of /proc/mtd.
    const auto breaks_line = [](char c) {
        const auto code = static_cast<unsigned char>(c);
        return c == '"' || code < 0x20 || code == 0x7f;
    };
    if (std::any_of(name.begin(), name.end(), breaks_line)) {
        return fail(EINVAL, "a device name must not hold a quote, a newline or another control "
                            "character");
    }
    return {};
}

} // namespace mtdfuse::mtd
