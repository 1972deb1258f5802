// Every kernel of every instruction set against a byte at a time.
#include <algorithm>
#include <thread>

#include <catch2/catch.hpp>

#include "kernels.hpp"

namespace mtdfuse::cache {

namespace {

constexpr std::size_t kGuard = 64;

std::vector<std::byte> random_bytes(std::size_t length, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::byte> bytes(length);
    for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(random.next() >> 40U);
    return bytes;
}

// Lengths around every edge of the loops: words, vectors, steps, streaming.
std::vector<std::size_t> lengths() {
    std::vector<std::size_t> all;
    for (std::size_t length = 0; length <= 300; ++length)
        all.push_back(length);
    for (const std::size_t edge : {512U, 1024U, 4096U, 8192U, 131072U})
        for (const std::size_t length : {edge - 1, edge, edge + 1, edge + 67})
            all.push_back(length);
    return all;
}

struct Alignment {
    std::size_t folio, other;
};
// All of the folio's over a few neighbouring lengths, each with others of the other side.
std::vector<Alignment> alignments(std::size_t length) {
    std::vector<Alignment> all;
    for (std::size_t folio = length % 5; folio < 64; folio += 5)
        for (std::size_t other = (folio + length) % 31; other < 64; other += 31)
            all.push_back({folio, other});
    return all;
}

// Folio memory and the other side, each at its alignment within guard bytes.
struct Ground {
    Ground(std::size_t length, Alignment alignment, std::uint64_t seed)
        : folio_memory(random_bytes(length + 64 + 2 * kGuard, seed)),
          other_memory(random_bytes(length + 64 + 2 * kGuard, seed + 1)), before(folio_memory),
          folio(&folio_memory[offset(folio_memory, alignment.folio)]),
          other(&other_memory[offset(other_memory, alignment.other)]), length_bytes(length) {}

    static std::size_t offset(const std::vector<std::byte>& memory, std::size_t alignment) {
        const auto past = reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
        return kGuard + (64 + alignment - past) % 64;
    }
    // What was not the kernel's to touch is as before.
    [[nodiscard]] bool guards_hold() const {
        const auto start = folio - folio_memory.data();
        const auto end = start + static_cast<std::ptrdiff_t>(length_bytes);
        return std::equal(folio_memory.begin(), folio_memory.begin() + start, before.begin()) &&
               std::equal(folio_memory.begin() + end, folio_memory.end(), before.begin() + end);
    }

    std::vector<std::byte> folio_memory, other_memory, before;
    std::byte* folio;
    std::byte* other;
    std::size_t length_bytes;
};

// Calls `check(kernels, ground)` for all instruction sets of this CPU, lengths and alignments.
template<class Check>
void for_all(Check check) {
    for (const Isa isa : {Isa::plain, Isa::avx2, Isa::avx512}) {
        if (!cpu_has(isa)) {
            WARN("SKIP: this CPU has no " << isa_name(isa));
            continue;
        }
        for (const std::size_t length : lengths()) {
            for (const Alignment alignment : alignments(length)) {
                Ground ground(length, alignment, length + 1);
                if (check(kernels_of(isa), ground))
                    continue;
                FAIL(isa_name(isa) << " length " << length << " folio at " << alignment.folio
                                   << " other at " << alignment.other);
            }
        }
    }
}

// The search has to come to `place`, or to a little before it.
bool found(std::size_t answer, std::size_t place, std::size_t length) {
    if (place == length)
        return answer == length;
    return answer <= place && place - answer < kSearchBytes;
}

// Around the ends and at every step between.
std::vector<std::size_t> places(std::size_t length) {
    std::vector<std::size_t> all{length};
    for (std::size_t place = 0; place < length; place += length <= 300 ? 1 : 997)
        all.push_back(place);
    if (length > 0)
        all.push_back(length - 1);
    return all;
}

} // namespace

TEST_CASE("kernels: copy_out and copy_in move all bytes and no others") {
    for_all([](const Kernels& kernels, Ground& ground) {
        const std::size_t length = ground.length_bytes;
        std::vector<std::byte> out(length + 1, std::byte{0x77});
        kernels.copy_out(out.data(), ground.folio, length);
        bool right =
            std::equal(out.begin(), out.end() - 1, ground.folio) && out.back() == std::byte{0x77};
        kernels.copy_in(ground.folio, ground.other, length);
        kernels.fence();
        right = right && std::equal(ground.folio, ground.folio + length, ground.other);
        return right && ground.guards_hold();
    });
}

TEST_CASE("kernels: and_in and fill_ff change all bytes and no others") {
    for_all([](const Kernels& kernels, Ground& ground) {
        const std::size_t length = ground.length_bytes;
        std::vector<std::byte> expected(ground.folio, ground.folio + length);
        for (std::size_t i = 0; i < length; ++i)
            expected[i] &= ground.other[i];
        kernels.and_in(ground.folio, ground.other, length);
        bool right = std::equal(expected.begin(), expected.end(), ground.folio);
        kernels.fill_ff(ground.folio, length);
        kernels.fence();
        right = right && std::all_of(ground.folio, ground.folio + length,
                                     [](std::byte byte) { return byte == std::byte{0xff}; });
        return right && ground.guards_hold();
    });
}

TEST_CASE("kernels: the searches come to the first place, or a little before") {
    for_all([](const Kernels& kernels, Ground& ground) {
        const std::size_t length = ground.length_bytes;
        bool right = true;
        std::copy_n(ground.folio, length, ground.other);
        for (const std::size_t place : places(length)) {
            if (place < length)
                ground.other[place] ^= std::byte{0x10};
            right = right && found(kernels.first_difference(ground.folio, ground.other, length),
                                   place, length);
            if (place < length)
                ground.other[place] ^= std::byte{0x10};
        }
        // A bit of the mask that the folio does not have clears nothing.
        for (const std::size_t place : places(length)) {
            const std::byte old = place < length ? ground.folio[place] : std::byte{0};
            if (place < length) {
                ground.folio[place] |= std::byte{0x10};
                ground.other[place] = ground.folio[place] & ~std::byte{0x10};
            }
            right = right &&
                    found(kernels.first_cleared(ground.folio, ground.other, length), place, length);
            if (place < length)
                ground.folio[place] = ground.other[place] = old;
        }
        std::fill_n(ground.folio, length, std::byte{0xff});
        for (const std::size_t place : places(length)) {
            if (place < length)
                ground.folio[place] = std::byte{0xfe};
            right = right && found(kernels.first_not_ff(ground.folio, length), place, length);
            if (place < length)
                ground.folio[place] = std::byte{0xff};
        }
        return right;
    });
}

TEST_CASE("kernels: a copy between two equal counts is whole, whoever writes meanwhile") {
    for (const Isa isa : {Isa::plain, Isa::avx2, Isa::avx512}) {
        if (!cpu_has(isa))
            continue;
        const Kernels& kernels = kernels_of(isa);
        constexpr std::size_t kLength = 8192;
        std::vector<std::byte> folio(kLength);
        std::atomic<std::uint64_t> sequence{0};
        std::atomic<bool> stop{false};
        std::thread writer([&] {
            std::vector<std::byte> bytes(kLength);
            for (unsigned value = 1; !stop; ++value) {
                std::fill(bytes.begin(), bytes.end(), static_cast<std::byte>(value));
                sequence.fetch_add(1, std::memory_order_acq_rel);
                kernels.copy_in(folio.data(), bytes.data(), value % 2 == 0 ? kLength : 600);
                if (value % 2 != 0)
                    kernels.copy_in(folio.data() + 600, bytes.data() + 600, kLength - 600);
                kernels.fence();
                sequence.fetch_add(1, std::memory_order_acq_rel);
                std::this_thread::yield();
            }
        });
        unsigned whole = 0;
        unsigned torn = 0;
        std::vector<std::byte> seen(kLength);
        while (whole < 300) {
            const auto before = sequence.load(std::memory_order_acquire);
            kernels.copy_out(seen.data(), folio.data(), kLength);
            if (before % 2 != 0 || sequence.load(std::memory_order_acquire) != before)
                continue;
            ++whole;
            torn += std::count(seen.begin(), seen.end(), seen[0]) == kLength ? 0 : 1;
        }
        stop = true;
        writer.join();
        INFO(isa_name(isa));
        CHECK(torn == 0);
    }
}

TEST_CASE("kernels are named, and the best is one that the CPU has") {
    CHECK(cpu_has(Isa::plain));
    CHECK(cpu_has(best_isa()));
    for (const Isa isa : {Isa::plain, Isa::avx2, Isa::avx512}) {
        CHECK(parse_isa(isa_name(isa)).value() == isa);
        if (cpu_has(isa))
            CHECK(kernels_of(isa).isa == isa);
    }
    const auto unknown = parse_isa("sse");
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().number == EINVAL);
    CHECK(unknown.error().context == "'sse' names no kernels: use plain, avx2, avx512");
}

} // namespace mtdfuse::cache
