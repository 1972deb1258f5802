// The program for the kernel's classic BPF machine, put together backwards: a jump goes only
// forwards, so what it leads to is there already. Stateless.
#include "filter.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include <linux/audit.h>
#include <linux/seccomp.h>

namespace mtdfuse::run {

namespace {

constexpr std::uint32_t kX32Bit = 0x40000000; // __X32_SYSCALL_BIT of asm/unistd.h

// Grows at its front. A place is told by its distance from the end, which growing does not change.
class Program {
public:
    using Place = std::size_t;

    Place put(std::uint16_t code, std::uint32_t value) {
        return put_jump(code, value, reversed_.size(), reversed_.size());
    }
    // To `yes` or `no`, which are instructions put before.
    Place put_jump(std::uint16_t code, std::uint32_t value, Place yes, Place no) {
        const Place next = reversed_.size();
        const auto distance = [next](Place to) { return static_cast<std::uint8_t>(next - to); };
        reversed_.push_back({code, distance(yes), distance(no), value});
        return reversed_.size();
    }
    Place put_return(std::uint32_t action) { return put(BPF_RET | BPF_K, action); }
    Place put_load(std::size_t offset_bytes) {
        return put(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset_bytes));
    }
    // Goes on with the next instruction where it is not equal.
    Place put_if_equal(std::uint32_t value, Place yes) {
        return put_jump(BPF_JMP | BPF_JEQ | BPF_K, value, yes, reversed_.size());
    }

    [[nodiscard]] std::vector<sock_filter> forwards() const {
        return {reversed_.rbegin(), reversed_.rend()};
    }

private:
    std::vector<sock_filter> reversed_;
};

struct Ends {
    Program::Place ask, look_at_command, fail;
};

// Read and write first: a longer way would slow them down. The number of the call is loaded.
Program::Place put_calls(Program& program, const Ends& ends, int TrappedCall::*number, int read,
                         int write) {
    const Program::Place pass = program.put_return(SECCOMP_RET_ALLOW);
    std::for_each(kTrappedCalls.rbegin(), kTrappedCalls.rend(), [&](const TrappedCall& call) {
        const int wanted = call.*number;
        if (wanted != kNoCall)
            program.put_if_equal(static_cast<std::uint32_t>(wanted),
                                 call.call == Trapped::ioctl ? ends.look_at_command : ends.ask);
    });
    program.put_if_equal(static_cast<std::uint32_t>(write), pass);
    return program.put_if_equal(static_cast<std::uint32_t>(read), pass);
}

} // namespace

std::vector<sock_filter> make_filter() {
    Program program;
    Ends ends{};
    ends.fail = program.put_return(SECCOMP_RET_ERRNO | ENOSYS);
    ends.ask = program.put_return(SECCOMP_RET_USER_NOTIF);
    program.put_return(SECCOMP_RET_ALLOW);
    std::for_each(kTrappedIoctls.rbegin(), kTrappedIoctls.rend(),
                  [&](std::uint32_t command) { program.put_if_equal(command, ends.ask); });
    // x86 is little-endian: the low half comes first.
    ends.look_at_command =
        program.put_load(offsetof(seccomp_data, args) + sizeof(seccomp_data::args[0]));

    put_calls(program, ends, &TrappedCall::i386, 3, 4);
    const Program::Place i386 = program.put_load(offsetof(seccomp_data, nr));
    const Program::Place x86_64_calls = put_calls(program, ends, &TrappedCall::x86_64, 0, 1);
    program.put_jump(BPF_JMP | BPF_JGE | BPF_K, kX32Bit, ends.fail, x86_64_calls);
    const Program::Place x86_64 = program.put_load(offsetof(seccomp_data, nr));
    program.put_jump(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_I386, i386, ends.fail);
    program.put_if_equal(AUDIT_ARCH_X86_64, x86_64);
    program.put_load(offsetof(seccomp_data, arch));
    return program.forwards();
}

} // namespace mtdfuse::run
