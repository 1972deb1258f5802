#include "wall.hpp"

#include <cerrno>
#include <exception>
#include <new>

#include <fmt/format.h>

namespace mtdfuse::fuse {

int wire_errno(int number) {
    constexpr int kKernelNotSupported = 524;
    constexpr int kFirstUncarried = 512;
    if (number == kKernelNotSupported) {
        return EOPNOTSUPP;
    }
    return number > 0 && number < kFirstUncarried ? number : EIO;
}

Severity severity_of(int number) {
    switch (number) {
    case EIO:
    case ENOMEM:
        return Severity::error;
    case ENOTTY:
        return Severity::debug;
    default:
        return Severity::info;
    }
}

void tell(const Error& error, mtd::Device* device, Log& log) {
    const int number = wire_errno(error.number);
    const std::string where = device ? fmt::format("mtd{}: ", device->index()) : "";
    const std::string errno_words = errno_text(number);
    const bool said = error.context.find(errno_words) != std::string::npos;
    log.write(severity_of(number),
              said ? where + error.context
                   : fmt::format("{}{} ({})", where, error.context, errno_words));
    if (device && number != ENOTTY) {
        device->last_error().set(error.context);
    }
}

Error current_exception_error() {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return {ENOMEM, "out of memory"};
    } catch (const std::exception& exception) {
        return {EIO, fmt::format("an unexpected failure: {}", exception.what())};
    } catch (...) {
        return {EIO, "an unexpected failure"};
    }
}

} // namespace mtdfuse::fuse
