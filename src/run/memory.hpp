// The memory of the program that asked: what its pointers lead to.
#pragma once

#include <cstring>
#include <span>
#include <type_traits>

#include <mtdfuse/base.hpp>

namespace mtdfuse::run {

class Memory {
public:
    Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    virtual ~Memory() = default;

    // All of `into`, or EFAULT.
    [[nodiscard]] virtual Status read(std::uint64_t address, std::span<std::byte> into) = 0;
    // All of `from`; EFAULT after a front part of it where the rest cannot be written.
    [[nodiscard]] virtual Status write(std::uint64_t address, std::span<const std::byte> from) = 0;
};

template<class T>
[[nodiscard]] Result<T> read_object(Memory& memory, std::uint64_t address) {
    static_assert(std::is_trivially_copyable_v<T>);
    T object{};
    if (Status done = memory.read(address, std::as_writable_bytes(std::span(&object, 1))); !done)
        return tl::make_unexpected(done.error());
    return object;
}

template<class T>
[[nodiscard]] Status write_object(Memory& memory, std::uint64_t address, const T& object) {
    static_assert(std::is_trivially_copyable_v<T>);
    return memory.write(address, std::as_bytes(std::span(&object, 1)));
}

} // namespace mtdfuse::run
