// A hit allocates nothing. This file replaces the program's operator new by one that counts.
#include <cstdlib>
#include <new>

#include "fixture.hpp"

namespace {

std::uint64_t& allocations_of_this_thread() {
    thread_local std::uint64_t count = 0;
    return count;
}

} // namespace

// Not inlined: g++ would see only one half of a pair in some places, and warn of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    ++allocations_of_this_thread();
    return std::malloc(bytes == 0 ? 1 : bytes);
}

[[gnu::noinline]] void* operator new(std::size_t bytes) {
    if (void* memory = operator new(bytes, std::nothrow))
        return memory;
    throw std::bad_alloc();
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}

[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace mtdfuse::cache {

TEST_CASE("a read, a write and an erase of resident folios allocate nothing") {
    const bool anonymous = GENERATE(false, true);
    CAPTURE(anonymous);
    CacheUnderTest under(64);
    constexpr std::uint64_t kSize = 64 * kFolio;
    Mapping& mapping =
        anonymous ? *under.cache->map_anonymous(kSize).value() : under.map(kSize, 0x11);
    // Dirty already: the first dirt of a folio is an entry in the books, not a hit's business.
    REQUIRE(write(mapping, 0, filled(32 * kFolio, 0x01)));
    if (anonymous)
        REQUIRE(write(mapping, 32 * kFolio, filled(32 * kFolio, 0x11)));
    read_all(mapping, 0, kSize);
    std::vector<std::byte> bytes = filled(40 * kFolio, 0x22);

    const std::uint64_t before = allocations_of_this_thread();
    bool right = true;
    for (const std::uint64_t length : {std::uint64_t{1}, std::uint64_t{512}, 8 * kFolio}) {
        const auto part = std::span(bytes).first(length);
        for (int value = 0; value < 3; ++value) {
            std::fill(part.begin(), part.end(), static_cast<std::byte>(value));
            right = right && mapping.write(ByteOffset(100), part, Combine::replace);
            right = right && mapping.write(ByteOffset(100), part, Combine::replace); // the same
            right = right && mapping.write(ByteOffset(100), part, Combine::and_bits);
            right = right && mapping.read(ByteOffset(100), part);
        }
        right = right && mapping.fill_ff(ByteOffset(100), length);
        right = right && mapping.read(ByteOffset(33 * kFolio), part); // a clean folio
    }
    right = right && mapping.read(ByteOffset(5), bytes); // longer than one stream
    const std::uint64_t after = allocations_of_this_thread();
    CHECK(right);
    CHECK(after - before == 0);
    // The counter counts. Plain calls: a compiler may leave out a new-expression with its delete.
    ::operator delete(::operator new(1));
    const std::uint64_t counted = allocations_of_this_thread();
    CHECK(counted > after);
}

} // namespace mtdfuse::cache
