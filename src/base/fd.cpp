#include <mtdfuse/base.hpp>

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace mtdfuse {

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
        reset();
        fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
}

void UniqueFd::reset() {
    if (fd_ >= 0)
        ::close(fd_);
    fd_ = -1;
}

Result<std::string> read_small_file(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd)
        return fail_errno(fmt::format("cannot open '{}'", path));
    std::string text;
    std::array<char, 4096> part;
    for (;;) {
        const ssize_t got = ::read(fd.get(), part.data(), part.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_errno(fmt::format("cannot read '{}'", path));
        if (got == 0)
            return text;
        text.append(part.data(), static_cast<std::size_t>(got));
    }
}

} // namespace mtdfuse
