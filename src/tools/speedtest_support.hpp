// What the halves of mtdfuse-speedtest share: memory, files, time.
#pragma once

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <mtdfuse/base.hpp>

namespace mtdfuse::tools {

// Memory that starts on a page, as mtd_speedtest's does and the cache's: where source and target
// are not aligned alike, memcpy of 4 KiB and more took up to five times as long (AMD EPYC).
// std::bad_alloc.
class PageAligned {
public:
    PageAligned(std::uint64_t size_bytes, std::byte fill);
    [[nodiscard]] std::span<std::byte> bytes() const { return {memory_.get(), size_bytes_}; }

private:
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    std::unique_ptr<std::byte, Free> memory_;
    std::uint64_t size_bytes_;
};

[[nodiscard]] PageAligned random_bytes(std::uint64_t size_bytes, std::uint64_t seed);

// A file of `size_bytes` without a name, open for reading and writing. Names the directory.
[[nodiscard]] Result<UniqueFd> make_nameless_file(const std::string& directory,
                                                  std::uint64_t size_bytes);

// Of at least one; reorders them.
[[nodiscard]] double median(std::vector<double>& samples);

template<class Body>
double time_ms(Body body) {
    const auto start = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

} // namespace mtdfuse::tools
