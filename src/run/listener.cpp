#include "listener.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/ioctl.h>

namespace mtdfuse::run {

std::optional<seccomp_notif> Listener::receive() const {
    seccomp_notif question = {};
    if (::ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_RECV, &question) != 0)
        return std::nullopt;
    return question;
}

bool Listener::still_waits(std::uint64_t id) const {
    return ::ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

void Listener::send(const seccomp_notif_resp& response) const {
    seccomp_notif_resp sent = response;
    // Fails only where the asker was killed.
    static_cast<void>(::ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_SEND, &sent));
}

void Listener::answer(std::uint64_t id, std::int64_t value) const {
    send({id, value, 0, 0});
}

void Listener::refuse(std::uint64_t id, int number) const {
    send({id, 0, -number, 0});
}

void Listener::let_pass(std::uint64_t id) const {
    send({id, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE});
}

void Listener::give(std::uint64_t id, int fd, bool close_on_exec) const {
    seccomp_notif_addfd added = {};
    added.id = id;
    added.flags = SECCOMP_ADDFD_FLAG_SEND;
    added.srcfd = static_cast<std::uint32_t>(fd);
    added.newfd_flags = close_on_exec ? O_CLOEXEC : 0;
    if (::ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_ADDFD, &added) < 0)
        refuse(id, errno);
}

} // namespace mtdfuse::run
