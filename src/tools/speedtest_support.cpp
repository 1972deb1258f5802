#include "speedtest_support.hpp"

#include <algorithm>
#include <new>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <mtdfuse/cache.hpp>

namespace mtdfuse::tools {

PageAligned::PageAligned(std::uint64_t size_bytes, std::byte fill)
    : memory_(static_cast<std::byte*>(std::aligned_alloc(cache::kBasePageBytes, size_bytes))),
      size_bytes_(size_bytes) {
    if (!memory_)
        throw std::bad_alloc();
    std::fill_n(memory_.get(), size_bytes, fill);
}

PageAligned random_bytes(std::uint64_t size_bytes, std::uint64_t seed) {
    PageAligned memory(size_bytes, std::byte{0});
    Random random(seed);
    for (std::byte& byte : memory.bytes())
        byte = static_cast<std::byte>(random.next() >> 56U);
    return memory;
}

Result<UniqueFd> make_nameless_file(const std::string& directory, std::uint64_t size_bytes) {
    UniqueFd fd(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!fd)
        return fail_errno(fmt::format("cannot make a file in '{}'", directory));
    if (::ftruncate(fd.get(), static_cast<off_t>(size_bytes)) != 0)
        return fail_errno(
            fmt::format("cannot make a file of {} bytes in '{}'", size_bytes, directory));
    return fd;
}

double median(std::vector<double>& samples) {
    const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
    std::nth_element(samples.begin(), middle, samples.end());
    return *middle;
}

} // namespace mtdfuse::tools
