#include <mtdfuse/base.hpp>

#include <array>
#include <cerrno>
#include <charconv>

#include <fmt/format.h>

namespace mtdfuse {

namespace {

constexpr std::string_view kSuffixes = "KMGT"; // 2^10, 2^20, 2^30, 2^40

tl::unexpected<Error> no_size(std::string_view text) {
    return fail(EINVAL, fmt::format("'{}' is no size: write bytes as 131072, 128K, 128KiB or "
                                    "0x20000 (suffixes K M G T)",
                                    text));
}

} // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
    std::string_view digits = text;
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
        digits.remove_prefix(2);
        base = 16;
    }
    std::uint64_t number = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    const std::string_view suffix = digits.substr(static_cast<std::size_t>(end - digits.data()));
    if (error == std::errc::invalid_argument)
        return no_size(text);
    unsigned shift = 0;
    if (!suffix.empty()) {
        const std::size_t power = kSuffixes.find(suffix.front());
        if (power == std::string_view::npos || (suffix.size() > 1 && suffix.substr(1) != "iB"))
            return no_size(text);
        shift = 10 * (static_cast<unsigned>(power) + 1);
    }
    if (error == std::errc::result_out_of_range || (number << shift) >> shift != number)
        return fail(ERANGE, fmt::format("'{}' is too large: at most 2^64-1 bytes", text));
    return number << shift;
}

std::string format_size(std::uint64_t bytes) {
    std::size_t power = 0;
    while (bytes != 0 && bytes % 1024 == 0 && power < kSuffixes.size()) {
        bytes /= 1024;
        ++power;
    }
    if (power == 0)
        return fmt::format("{}", bytes);
    return fmt::format("{}{}", bytes, kSuffixes[power - 1]);
}

} // namespace mtdfuse
