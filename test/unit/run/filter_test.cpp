// The filter, run by a small BPF machine of the test's own, and by the kernel.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include <catch2/catch.hpp>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter.hpp"

using namespace mtdfuse::run;

namespace {

// What the program answers; steps out if it leaves itself.
std::uint32_t run_filter(const std::vector<sock_filter>& program, const seccomp_data& data) {
    std::uint32_t accumulator = 0;
    for (std::size_t at = 0; at < program.size(); ++at) {
        const sock_filter& step = program[at];
        switch (step.code) {
        case BPF_LD | BPF_W | BPF_ABS:
            REQUIRE(step.k + sizeof accumulator <= sizeof data);
            std::memcpy(&accumulator, reinterpret_cast<const char*>(&data) + step.k,
                        sizeof accumulator);
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            at += accumulator == step.k ? step.jt : step.jf;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            at += accumulator >= step.k ? step.jt : step.jf;
            break;
        case BPF_RET | BPF_K:
            return step.k;
        default:
            FAIL("code " << step.code << " at " << at);
        }
    }
    FAIL("the program has no end");
    return 0;
}

seccomp_data call_of(std::uint32_t arch, int number, std::uint64_t command = 0) {
    seccomp_data data{};
    data.arch = arch;
    data.nr = number;
    data.args[1] = command;
    return data;
}

} // namespace

TEST_CASE("the filter asks about the trapped calls and no other") {
    const auto program = make_filter();
    CHECK(program.size() < BPF_MAXINSNS);
    for (const std::uint32_t arch :
         {std::uint32_t{AUDIT_ARCH_X86_64}, std::uint32_t{AUDIT_ARCH_I386}}) {
        std::set<int> trapped;
        int ioctl = kNoCall;
        for (const TrappedCall& call : kTrappedCalls) {
            const int number = arch == AUDIT_ARCH_I386 ? call.i386 : call.x86_64;
            if (call.call == Trapped::ioctl)
                ioctl = number;
            else if (number != kNoCall)
                trapped.insert(number);
        }
        for (int number = 0; number < 600; ++number) {
            INFO("call " << number << " of architecture " << arch);
            const std::uint32_t wanted =
                trapped.count(number) != 0 ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
            CHECK(run_filter(program, call_of(arch, number)) == wanted);
        }
        for (const std::uint32_t command : kTrappedIoctls) {
            const std::uint64_t sign_extended = 0xffffffff00000000 | command;
            CHECK(run_filter(program, call_of(arch, ioctl, command)) == SECCOMP_RET_USER_NOTIF);
            CHECK(run_filter(program, call_of(arch, ioctl, sign_extended)) ==
                  SECCOMP_RET_USER_NOTIF);
        }
        for (const auto command :
             std::to_array<std::uint32_t>({MEMGETINFO, MEMERASE, MEMERASE64, MEMGETBADBLOCK}))
            CHECK(run_filter(program, call_of(arch, ioctl, command)) == SECCOMP_RET_ALLOW);
    }
}

TEST_CASE("the numbers of the trapped calls are this machine's") {
    const auto number_of = [](Trapped wanted) {
        return std::find_if(kTrappedCalls.begin(), kTrappedCalls.end(),
                            [&](const TrappedCall& call) { return call.call == wanted; })
            ->x86_64;
    };
#if defined(__x86_64__) && defined(__LP64__)
    CHECK(number_of(Trapped::open) == SYS_open);
    CHECK(number_of(Trapped::creat) == SYS_creat);
    CHECK(number_of(Trapped::openat) == SYS_openat);
    CHECK(number_of(Trapped::openat2) == SYS_openat2);
    CHECK(number_of(Trapped::stat) == SYS_stat);
    CHECK(number_of(Trapped::lstat) == SYS_lstat);
    CHECK(number_of(Trapped::fstat) == SYS_fstat);
    CHECK(number_of(Trapped::fstatat) == SYS_newfstatat);
    CHECK(number_of(Trapped::statx) == SYS_statx);
    CHECK(number_of(Trapped::access) == SYS_access);
    CHECK(number_of(Trapped::faccessat) == SYS_faccessat);
    CHECK(number_of(Trapped::faccessat2) == SYS_faccessat2);
    CHECK(number_of(Trapped::readlink) == SYS_readlink);
    CHECK(number_of(Trapped::readlinkat) == SYS_readlinkat);
    CHECK(number_of(Trapped::ioctl) == SYS_ioctl);
#else
    CHECK(number_of(Trapped::open) == 2);
#endif
}

TEST_CASE("other conventions of calling are not let through") {
    const auto program = make_filter();
    constexpr std::uint32_t kNoSuchCall = SECCOMP_RET_ERRNO | ENOSYS;
    CHECK(run_filter(program, call_of(AUDIT_ARCH_X86_64, 0x40000002)) == kNoSuchCall); // x32 open
    CHECK(run_filter(program, call_of(AUDIT_ARCH_X86_64, -1)) == kNoSuchCall);
    CHECK(run_filter(program, call_of(AUDIT_ARCH_AARCH64, 56)) == kNoSuchCall);
}

TEST_CASE("the kernel takes the filter, and asks where nobody answers: ENOSYS") {
    auto program = make_filter();
    sock_fprog whole{static_cast<unsigned short>(program.size()), program.data()};
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        // Only calls that cannot allocate or print: a number tells what went wrong.
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
            _exit(2);
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &whole) != 0)
            _exit(3);
        if (syscall(SYS_getpid) <= 0)
            _exit(4);
        errno = 0;
        if (syscall(SYS_access, "/", 0) != -1 || errno != ENOSYS)
            _exit(5);
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}
