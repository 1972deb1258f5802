// What a chip answers to the calls that its type has nothing for. Stateless.
#include <mtdfuse/chip.hpp>

#include <cerrno>

#include <fmt/format.h>

namespace mtdfuse::chip {

tl::unexpected<Error> has_none(Type type, std::string_view what) {
    return fail(EOPNOTSUPP, fmt::format("a {} device has no {}", type_name(type), what));
}

Status Chip::lock(ByteOffset, std::uint64_t) {
    return has_none(geometry().type, "locks");
}

Status Chip::unlock(ByteOffset, std::uint64_t) {
    return has_none(geometry().type, "locks");
}

Result<bool> Chip::is_locked(ByteOffset, std::uint64_t) const {
    return has_none(geometry().type, "locks");
}

Status Chip::program_pages(const PageProgram&) {
    return has_none(geometry().type, "OOB area");
}

Result<EccCounts> Chip::read_pages(const PageRead&) {
    return has_none(geometry().type, "OOB area");
}

} // namespace mtdfuse::chip
