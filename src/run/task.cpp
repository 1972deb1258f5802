#include "task.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <sstream>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

namespace mtdfuse::run {

namespace {

constexpr std::size_t kPageBytes = 4096;

} // namespace

Task::Task(pid_t thread, UniqueFd directory, UniqueFd memory)
    : thread_(thread), directory_(std::move(directory)), memory_(std::move(memory)) {}

Task::Task(Task&& other) noexcept
    : thread_(other.thread_), directory_(std::move(other.directory_)),
      memory_(std::move(other.memory_)) {}

Result<Task> Task::open(pid_t thread) {
    const std::string path = fmt::format("/proc/{}", thread);
    UniqueFd directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!directory)
        return fail_errno(fmt::format("cannot open '{}'", path));
    UniqueFd memory(::openat(directory.get(), "mem", O_RDWR | O_CLOEXEC));
    if (!memory)
        return fail_errno(fmt::format("cannot open '{}/mem'", path));
    return Task(thread, std::move(directory), std::move(memory));
}

Status Task::read(std::uint64_t address, std::span<std::byte> into) {
    while (!into.empty()) {
        const ssize_t got =
            ::pread(memory_.get(), into.data(), into.size(), static_cast<off_t>(address));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail(EFAULT, fmt::format("nothing to read at {:#x}", address));
        address += static_cast<std::uint64_t>(got);
        into = into.subspan(static_cast<std::size_t>(got));
    }
    return {};
}

Status Task::write(std::uint64_t address, std::span<const std::byte> from) {
    while (!from.empty()) {
        const ssize_t put =
            ::pwrite(memory_.get(), from.data(), from.size(), static_cast<off_t>(address));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return fail(EFAULT, fmt::format("nothing to write to at {:#x}", address));
        address += static_cast<std::uint64_t>(put);
        from = from.subspan(static_cast<std::size_t>(put));
    }
    return {};
}

Result<std::string> Task::read_path(std::uint64_t address) {
    std::string text;
    std::array<char, kPageBytes> part;
    while (text.size() < PATH_MAX) {
        // To the page's end: the next one need not be there.
        const std::size_t length = kPageBytes - (address + text.size()) % kPageBytes;
        const auto bytes = std::as_writable_bytes(std::span(part).first(length));
        if (Status done = read(address + text.size(), bytes); !done)
            return tl::make_unexpected(done.error());
        const auto end =
            std::find(part.begin(), part.begin() + static_cast<ptrdiff_t>(length), '\0');
        text.append(part.begin(), end);
        if (end != part.begin() + static_cast<ptrdiff_t>(length))
            break;
    }
    if (text.size() >= PATH_MAX)
        return fail(ENAMETOOLONG, "a path without an end");
    return text;
}

Result<std::string> Task::link(const std::string& name) const {
    std::array<char, PATH_MAX> target;
    const ssize_t length =
        ::readlinkat(directory_.get(), name.c_str(), target.data(), target.size());
    if (length < 0)
        return fail_errno(fmt::format("/proc/{}/{}", thread_, name));
    return std::string(target.data(), static_cast<std::size_t>(length));
}

Result<UniqueFd> Task::root() const {
    UniqueFd root(::openat(directory_.get(), "root", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root)
        return fail_errno(fmt::format("/proc/{}/root", thread_));
    return root;
}

std::optional<struct statx> Task::look_at(int fd) const {
    struct statx found = {};
    const std::string name = fmt::format("fd/{}", fd);
    if (::statx(directory_.get(), name.c_str(), AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
                STATX_TYPE | STATX_INO, &found) != 0)
        return std::nullopt;
    return found;
}

Result<UniqueFd> Task::take_descriptor(int fd) const {
    const auto leader = process();
    if (!leader)
        return tl::make_unexpected(leader.error());
    // Of a thread that is no leader the kernel gives none (before 6.9).
    const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, *leader, 0)));
    if (!pidfd)
        return fail_errno(fmt::format("pidfd_open of process {}", *leader));
    UniqueFd taken(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd.get(), fd, 0)));
    if (!taken)
        return fail_errno(fmt::format("pidfd_getfd of descriptor {} of process {}", fd, *leader));
    return taken;
}

Result<std::string> Task::status_line(const std::string& key) const {
    const UniqueFd file(::openat(directory_.get(), "status", O_RDONLY | O_CLOEXEC));
    if (!file)
        return fail_errno(fmt::format("/proc/{}/status", thread_));
    auto text = read_small_file(fmt::format("/proc/self/fd/{}", file.get()));
    if (!text)
        return text;
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(key + ":"))
            return line.substr(key.size() + 1);
    return fail(ENOENT, fmt::format("/proc/{}/status has no {}", thread_, key));
}

Result<pid_t> Task::process() const {
    const auto line = status_line("Tgid");
    if (!line)
        return tl::make_unexpected(line.error());
    pid_t leader = 0;
    if (!(std::istringstream(*line) >> leader))
        return fail(EIO, fmt::format("/proc/{}/status: no number for Tgid", thread_));
    return leader;
}

Result<Credentials> Task::credentials() const {
    const auto users = status_line("Uid");
    const auto groups = status_line("Gid");
    const auto further = status_line("Groups");
    for (const auto* line : {&users, &groups, &further})
        if (!*line)
            return tl::make_unexpected(line->error());
    Credentials found;
    uid_t effective_user = 0, saved_user = 0;
    gid_t effective_group = 0, saved_group = 0;
    std::istringstream(*users) >> found.real_user >> effective_user >> saved_user >>
        found.file_system_user;
    std::istringstream(*groups) >> found.real_group >> effective_group >> saved_group >>
        found.file_system_group;
    std::istringstream rest(*further);
    for (gid_t group = 0; rest >> group;)
        found.groups.push_back(group);
    return found;
}

} // namespace mtdfuse::run
