#include <mtdfuse/base.hpp>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace mtdfuse {

tl::unexpected<Error> fail(int number, std::string context) {
    return tl::make_unexpected(Error{number, std::move(context)});
}

tl::unexpected<Error> fail_errno(std::string context) {
    const int number = errno;
    return fail(number, fmt::format("{}: {}", context, errno_text(number)));
}

std::string errno_text(int number) {
    return std::generic_category().message(number);
}

} // namespace mtdfuse
