#include "target.hpp"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <fmt/format.h>
#include <mtd/mtd-user.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace mtdfuse::replay {
namespace {

constexpr std::size_t kMapBytes = 4096;

Outcome outcome(std::int64_t value) {
    return {value, value < 0 ? errno : 0};
}

std::uint64_t address_of(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

class NodeTarget final : public Target {
public:
    NodeTarget(std::string path, UniqueFd main) : path_(std::move(path)), main_(std::move(main)) {}
    ~NodeTarget() override {
        back_to_main();
        close_loudly(main_);
    }

    Answer open(Node node, int flags) override;
    void back_to_main() override { close_loudly(further_); }

    Answer pread(std::int64_t at, std::span<std::byte> into) override {
        return outcome(::pread(fd(), into.data(), into.size(), at));
    }
    Answer pwrite(std::int64_t at, std::span<const std::byte> from) override {
        return outcome(::pwrite(fd(), from.data(), from.size(), at));
    }
    void move_to(std::uint64_t position) override { (void)lseek(off(position), SEEK_SET); }
    Answer read(std::span<std::byte> into) override {
        return outcome(::read(fd(), into.data(), into.size()));
    }
    Answer write(std::span<const std::byte> from) override {
        return outcome(::write(fd(), from.data(), from.size()));
    }
    void mend(std::uint64_t at, std::span<const std::byte> from) override;

    Answer ioctl(std::uint32_t command, std::span<std::byte> argument) override {
        return outcome(::ioctl(fd(), command, argument.data()));
    }
    Answer ioctl_value(std::uint32_t command, std::uint64_t value) override {
        return outcome(::ioctl(fd(), command, value));
    }

    Answer read_oob(OobTransfer& transfer) override {
        return oob(transfer, MEMREADOOB, MEMREADOOB64);
    }
    Answer write_oob(OobTransfer& transfer) override {
        return oob(transfer, MEMWRITEOOB, MEMWRITEOOB64);
    }
    Answer write_request(std::uint64_t start, std::span<std::byte> data, std::span<std::byte> oob,
                         unsigned mode) override;
    Answer is_locked(std::uint32_t start, std::uint32_t length) override {
        erase_info_user range{start, length};
        return outcome(::ioctl(fd(), MEMISLOCKED, &range));
    }
    Answer otp_select(int mode) override { return outcome(::ioctl(fd(), OTPSELECT, &mode)); }
    Answer otp_region_count(std::uint32_t& count) override {
        return outcome(::ioctl(fd(), OTPGETREGIONCOUNT, &count));
    }

    std::optional<Status> fstat() override;
    Answer lseek(std::int64_t offset, int whence) override {
        return outcome(::lseek(fd(), offset, whence));
    }
    Answer fsync(bool data_only) override {
        return outcome(data_only ? ::fdatasync(fd()) : ::fsync(fd()));
    }
    Answer ftruncate(std::uint64_t length) override {
        return outcome(::ftruncate(fd(), off(length)));
    }
    Answer fallocate(std::uint64_t length) override {
        return outcome(::fallocate(fd(), 0, 0, off(length)));
    }
    Answer mmap(bool shared) override;

private:
    static off_t off(std::uint64_t value) { return static_cast<off_t>(value); }
    [[nodiscard]] int fd() const { return further_ ? further_.get() : main_.get(); }
    Answer oob(OobTransfer& transfer, unsigned long narrow, unsigned long wide);
    void close_loudly(UniqueFd& handle);

    const std::string path_;
    UniqueFd main_;
    UniqueFd further_;
};

Answer NodeTarget::open(Node node, int flags) {
    back_to_main();
    const std::string path = node == Node::read_only ? path_ + "ro" : path_;
    const int opened = ::open(path.c_str(), flags | O_CLOEXEC);
    const Outcome result = outcome(opened);
    if (opened >= 0) {
        further_ = UniqueFd(opened);
    }
    return result;
}

// A trace has no line for close, yet a close that fails would lose data without a word. Closing a
// duplicate flushes as well, and tells.
void NodeTarget::close_loudly(UniqueFd& handle) {
    if (handle && ::close(::dup(handle.get())) != 0) {
        std::fprintf(stderr, "%s: at close: %s\n", path_.c_str(), errno_text(errno).c_str());
    }
    handle.reset();
}

void NodeTarget::mend(std::uint64_t at, std::span<const std::byte> from) {
    if (::pwrite(main_.get(), from.data(), from.size(), off(at)) < 0) {
        std::fprintf(stderr, "%s: mending at %llu: %s\n", path_.c_str(),
                     static_cast<unsigned long long>(at), errno_text(errno).c_str());
    }
}

Answer NodeTarget::oob(OobTransfer& transfer, unsigned long narrow, unsigned long wide) {
    if (transfer.wide) {
        mtd_oob_buf64 argument{transfer.start, 0, transfer.length,
                               address_of(transfer.data.data())};
        const Outcome result = outcome(::ioctl(fd(), wide, &argument));
        transfer.start = argument.start;
        transfer.length = argument.length;
        return result;
    }
    mtd_oob_buf argument{static_cast<std::uint32_t>(transfer.start), transfer.length,
                         reinterpret_cast<unsigned char*>(transfer.data.data())};
    const Outcome result = outcome(::ioctl(fd(), narrow, &argument));
    transfer.start = argument.start;
    transfer.length = argument.length;
    return result;
}

Answer NodeTarget::write_request(std::uint64_t start, std::span<std::byte> data,
                                 std::span<std::byte> oob, unsigned mode) {
    mtd_write_req request{};
    request.start = start;
    request.len = data.size();
    request.ooblen = oob.size();
    request.usr_data = data.empty() ? 0 : address_of(data.data());
    request.usr_oob = oob.empty() ? 0 : address_of(oob.data());
    request.mode = static_cast<std::uint8_t>(mode);
    return outcome(::ioctl(fd(), MEMWRITE, &request));
}

std::optional<Target::Status> NodeTarget::fstat() {
    struct stat status {};
    if (::fstat(fd(), &status) != 0) {
        return Status{"?", 0, 0};
    }
    const char* const mode =
        S_ISCHR(status.st_mode) ? "chr" : (S_ISREG(status.st_mode) ? "reg" : "?");
    return Status{mode, static_cast<std::uint64_t>(status.st_size), major(status.st_rdev)};
}

Answer NodeTarget::mmap(bool shared) {
    void* const mapped =
        ::mmap(nullptr, kMapBytes, PROT_READ, shared ? MAP_SHARED : MAP_PRIVATE, fd(), 0);
    if (mapped == MAP_FAILED) {
        return outcome(-1);
    }
    ::munmap(mapped, kMapBytes);
    return Outcome{};
}

} // namespace

Result<std::unique_ptr<Target>> make_node(const std::string& path) {
    UniqueFd main(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!main) {
        return fail_errno(path);
    }
    return std::make_unique<NodeTarget>(path, std::move(main));
}

} // namespace mtdfuse::replay
