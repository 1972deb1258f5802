#include "speedtest_works.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "speedtest_limits.hpp"

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

class DeviceTarget final : public Target {
public:
    explicit DeviceTarget(mtd::Device& device) : device_(device) {}
    [[nodiscard]] std::uint64_t size_bytes() const override {
        return device_.geometry().size_bytes;
    }
    [[nodiscard]] Status read(std::uint64_t at_bytes, std::span<std::byte> into) override {
        return whole(device_.read(at_bytes, into), into.size());
    }
    [[nodiscard]] Status write(std::uint64_t at_bytes, std::span<const std::byte> from) override {
        return whole(device_.write(at_bytes, from), from.size());
    }
    [[nodiscard]] Status erase(std::uint64_t at_bytes, std::uint64_t length_bytes) override {
        return device_.erase(at_bytes, length_bytes);
    }

private:
    mtd::Device& device_;
};

class MappingTarget final : public Target {
public:
    explicit MappingTarget(cache::Mapping& mapping) : mapping_(mapping) {}
    [[nodiscard]] std::uint64_t size_bytes() const override { return mapping_.size_bytes(); }
    [[nodiscard]] Status read(std::uint64_t at_bytes, std::span<std::byte> into) override {
        return mapping_.read(ByteOffset(at_bytes), into);
    }
    [[nodiscard]] Status write(std::uint64_t at_bytes, std::span<const std::byte> from) override {
        return mapping_.write(ByteOffset(at_bytes), from, cache::Combine::replace);
    }
    [[nodiscard]] Status erase(std::uint64_t at_bytes, std::uint64_t length_bytes) override {
        return mapping_.fill_ff(ByteOffset(at_bytes), length_bytes);
    }

private:
    cache::Mapping& mapping_;
};

// Nothing may be known of the buffer after this, so that no copy into it is optimised away.
void consume(std::span<const std::byte> bytes) {
    asm volatile("" : : "r"(bytes.data()) : "memory");
}

// body(0) here, the others in threads of their own.
template<class Body>
void on_threads(unsigned count, const Body& body) {
    std::vector<std::thread> others;
    for (unsigned number = 1; number < count; ++number)
        others.emplace_back([&body, number] { body(number); });
    body(0);
    for (std::thread& other : others)
        other.join();
}

Status one_pass(const Work& work, Target& target, const Material& material, unsigned number) {
    const std::uint64_t size_bytes = target.size_bytes();
    const std::uint64_t piece = work.piece_bytes;
    const std::span<std::byte> buffer = material.buffers[number].first(piece);
    Status done;
    if (work.action == Action::random_read) {
        for (const std::uint64_t at : material.random_offsets_bytes) {
            done = target.read(at, buffer);
            if (!done)
                return done;
        }
        return done;
    }
    for (std::uint64_t at = 0; at < size_bytes && done; at += piece) {
        switch (work.action) {
        case Action::read:
            done = target.read(at, buffer);
            break;
        case Action::write:
        case Action::write_same:
            done = target.write(at, data_at(material.data, at, piece));
            break;
        case Action::erase:
        case Action::random_read:
            done = target.erase(at, piece);
            break;
        }
    }
    return done;
}

void one_pass_on_memory(const Work& work, std::span<std::byte> ram, const Material& material,
                        unsigned number) {
    const std::uint64_t piece = work.piece_bytes;
    const std::span<std::byte> buffer = material.buffers[number];
    if (work.action == Action::random_read) {
        for (const std::uint64_t at : material.random_offsets_bytes) {
            std::memcpy(buffer.data(), ram.data() + at, piece);
            consume(buffer);
        }
        return;
    }
    for (std::uint64_t at = 0; at < ram.size(); at += piece) {
        const std::span<std::byte> place = ram.subspan(at, piece);
        switch (work.action) {
        case Action::read:
            std::memcpy(buffer.data(), place.data(), piece);
            consume(buffer);
            break;
        case Action::write:
            std::memcpy(place.data(), data_at(material.data, at, piece).data(), piece);
            consume(place);
            break;
        case Action::write_same:
            if (!same_bytes(place, data_at(material.data, at, piece)))
                std::memcpy(place.data(), data_at(material.data, at, piece).data(), piece);
            consume(place);
            break;
        case Action::erase:
        case Action::random_read:
            if (!all_ff(place))
                stream_ff(place);
            consume(place);
            break;
        }
    }
}

} // namespace

std::span<const std::byte> data_at(std::span<const std::byte> data, std::uint64_t at_bytes,
                                   std::uint64_t piece_bytes) {
    const std::uint64_t shift = at_bytes / kEraseBlockBytes % kShifts;
    return data.subspan(shift * kShiftBytes + at_bytes % kEraseBlockBytes, piece_bytes);
}

std::unique_ptr<Target> make_target(mtd::Device& device) {
    return std::make_unique<DeviceTarget>(device);
}

std::unique_ptr<Target> make_target(cache::Mapping& mapping) {
    return std::make_unique<MappingTarget>(mapping);
}

Status run_on_target(const Work& work, Target& target, const Material& material) {
    std::array<Status, kMostThreads> done;
    on_threads(work.threads,
               [&](unsigned number) { done[number] = one_pass(work, target, material, number); });
    for (Status& one : done)
        if (!one)
            return std::move(one);
    return {};
}

void run_on_memory(const Work& work, std::span<std::byte> ram, const Material& material) {
    on_threads(work.threads,
               [&](unsigned number) { one_pass_on_memory(work, ram, material, number); });
}

Status check_contents(Target& target, std::span<const std::byte> data,
                      std::span<std::byte> buffer) {
    for (std::uint64_t at = 0; at < target.size_bytes(); at += buffer.size()) {
        Status got = target.read(at, buffer);
        if (!got)
            return got;
        const std::span<const std::byte> expected = data_at(data, at, buffer.size());
        const auto [wrong, right] = std::mismatch(buffer.begin(), buffer.end(), expected.begin());
        if (wrong != buffer.end())
            return fail(EIO, fmt::format("byte {} of the device is 0x{:02x}, written was 0x{:02x}",
                                         at + static_cast<std::uint64_t>(wrong - buffer.begin()),
                                         std::to_integer<unsigned>(*wrong),
                                         std::to_integer<unsigned>(*right)));
    }
    return {};
}

} // namespace mtdfuse::tools
