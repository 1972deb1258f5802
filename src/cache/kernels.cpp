#include "kernels.hpp"

#include <array>
#include <cerrno>

#include <fmt/format.h>

namespace mtdfuse::cache {

namespace {

constexpr std::array kIsas{Isa::plain, Isa::avx2, Isa::avx512};
constexpr std::array<std::string_view, kIsas.size()> kNames{"plain", "avx2", "avx512"};

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool kThreadSanitizer = false;
#endif

} // namespace

bool cpu_has(Isa isa) {
    if (isa == Isa::plain)
        return true;
#if defined(__x86_64__)
    if (kThreadSanitizer)
        return false;
    // The builtin asks the operating system, too: it has to save the registers.
    if (isa == Isa::avx2)
        return __builtin_cpu_supports("avx2");
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
#else
    return kThreadSanitizer && false;
#endif
}

Isa best_isa() {
    if (cpu_has(Isa::avx512))
        return Isa::avx512;
    return cpu_has(Isa::avx2) ? Isa::avx2 : Isa::plain;
}

const Kernels& kernels_of(Isa isa) {
#if defined(__x86_64__)
    if (isa == Isa::avx2)
        return kAvx2Kernels;
    if (isa == Isa::avx512)
        return kAvx512Kernels;
#endif
    static_cast<void>(isa);
    return kPlainKernels;
}

std::string_view isa_name(Isa isa) {
    return kNames[static_cast<std::size_t>(isa)];
}

Result<Isa> parse_isa(std::string_view word) {
    for (const Isa isa : kIsas)
        if (isa_name(isa) == word)
            return isa;
    return fail(EINVAL,
                fmt::format("'{}' names no kernels: use {}", word, fmt::join(kNames, ", ")));
}

} // namespace mtdfuse::cache
