// A thread that waits for the supervisor's answer, as /proc shows it.
//
// Invariant: both descriptors were opened by one number of a thread and stay with that thread: once
// the listener has said that its notification still stands, a number given out again leads nowhere
// else. Not thread-safe: one worker, one task.
#pragma once

#include <optional>
#include <vector>

#include <sys/stat.h>
#include <sys/types.h>

#include "memory.hpp"

namespace mtdfuse::run {

// By what the kernel would judge its access to a file.
struct Credentials {
    uid_t real_user = 0, file_system_user = 0;
    gid_t real_group = 0, file_system_group = 0;
    std::vector<gid_t> groups;
};

class Task final : public Memory {
public:
    // EACCES, EPERM: this process may not look into that one.
    [[nodiscard]] static Result<Task> open(pid_t thread);
    Task(Task&& other) noexcept;
    Task& operator=(Task&&) = delete;
    ~Task() override = default;

    [[nodiscard]] Status read(std::uint64_t address, std::span<std::byte> into) override;
    [[nodiscard]] Status write(std::uint64_t address, std::span<const std::byte> from) override;
    // A text up to its NUL. EFAULT; ENAMETOOLONG where no NUL comes within PATH_MAX.
    [[nodiscard]] Result<std::string> read_path(std::uint64_t address);

    // Where a link below /proc/THREAD leads: cwd, root, fd/3. ENOENT.
    [[nodiscard]] Result<std::string> link(const std::string& name) const;
    // Its root directory, for looking up names as it does.
    [[nodiscard]] Result<UniqueFd> root() const;
    // What an open descriptor of it is, without asking a file system's server. Nothing: not open.
    [[nodiscard]] std::optional<struct statx> look_at(int fd) const;
    // The same open file, not another one of the same name. EBADF, EPERM.
    [[nodiscard]] Result<UniqueFd> take_descriptor(int fd) const;
    [[nodiscard]] Result<Credentials> credentials() const;
    // Its process: the thread group, which /proc calls Tgid.
    [[nodiscard]] Result<pid_t> process() const;
    [[nodiscard]] pid_t thread() const { return thread_; }

private:
    Task(pid_t thread, UniqueFd directory, UniqueFd memory);
    [[nodiscard]] Result<std::string> status_line(const std::string& key) const;

    pid_t thread_;
    UniqueFd directory_;
    UniqueFd memory_;
};

} // namespace mtdfuse::run
