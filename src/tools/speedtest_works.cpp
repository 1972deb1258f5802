#include "speedtest_works.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace mtdfuse::tools {

namespace {

// A device that moves fewer bytes than asked would look fast.
Status whole(const Result<std::size_t>& moved, std::uint64_t piece_bytes) {
    if (!moved)
        return tl::make_unexpected(moved.error());
    if (*moved != piece_bytes)
        return fail(EIO, fmt::format("{} of {} bytes moved", *moved, piece_bytes));
    return {};
}

// Nothing may be known of the buffer after this, so that no copy into it is optimised away.
void consume(std::span<const std::byte> bytes) {
    asm volatile("" : : "r"(bytes.data()) : "memory");
}

bool all_ff(std::span<const std::byte> bytes) {
    return bytes.front() == std::byte{0xff} &&
           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

} // namespace

Status run_on_device(const Work& work, mtd::Device& device, const Material& material) {
    const std::uint64_t size_bytes = device.geometry().size_bytes;
    const std::uint64_t piece = work.piece_bytes;
    Status done;
    if (work.action == Action::random_read) {
        for (const std::uint64_t at : material.random_offsets_bytes) {
            done = whole(device.read(at, material.buffer.first(piece)), piece);
            if (!done)
                return done;
        }
        return done;
    }
    for (std::uint64_t at = 0; at < size_bytes && done; at += piece) {
        switch (work.action) {
        case Action::read:
            done = whole(device.read(at, material.buffer.first(piece)), piece);
            break;
        case Action::write:
            done = whole(device.write(at, material.data.subspan(at, piece)), piece);
            break;
        case Action::erase:
        case Action::random_read:
            done = device.erase(at, piece);
            break;
        }
    }
    return done;
}

void run_on_memory(const Work& work, std::span<std::byte> ram, const Material& material) {
    const std::uint64_t piece = work.piece_bytes;
    std::byte* const buffer = material.buffer.data();
    if (work.action == Action::random_read) {
        for (const std::uint64_t at : material.random_offsets_bytes) {
            std::memcpy(buffer, ram.data() + at, piece);
            consume(material.buffer);
        }
        return;
    }
    for (std::uint64_t at = 0; at < ram.size(); at += piece) {
        const std::span<std::byte> place = ram.subspan(at, piece);
        switch (work.action) {
        case Action::read:
            std::memcpy(buffer, place.data(), piece);
            consume(material.buffer);
            break;
        case Action::write:
            if (std::memcmp(place.data(), material.data.data() + at, piece) != 0)
                std::memcpy(place.data(), material.data.data() + at, piece);
            consume(place);
            break;
        case Action::erase:
        case Action::random_read:
            if (!all_ff(place))
                std::memset(place.data(), 0xff, piece);
            consume(place);
            break;
        }
    }
}

Status check_contents(mtd::Device& device, std::span<const std::byte> expected,
                      std::span<std::byte> buffer) {
    for (std::uint64_t at = 0; at < expected.size(); at += buffer.size()) {
        const std::uint64_t piece = std::min<std::uint64_t>(buffer.size(), expected.size() - at);
        Status got = whole(device.read(at, buffer.first(piece)), piece);
        if (!got)
            return got;
        const auto [wrong, right] =
            std::mismatch(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(piece),
                          expected.begin() + static_cast<std::ptrdiff_t>(at));
        if (wrong != buffer.begin() + static_cast<std::ptrdiff_t>(piece))
            return fail(EIO, fmt::format("byte {} of the device is 0x{:02x}, written was 0x{:02x}",
                                         at + static_cast<std::uint64_t>(wrong - buffer.begin()),
                                         std::to_integer<unsigned>(*wrong),
                                         std::to_integer<unsigned>(*right)));
    }
    return {};
}

} // namespace mtdfuse::tools
