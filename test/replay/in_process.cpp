#include "target.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <mtd/mtd-user.h>
#include <sys/ioctl.h>

#include <mtdfuse/mtd.hpp>

namespace mtdfuse::replay {
namespace {

// Small, so that a replay also drops, rereads and writes back.
constexpr std::uint64_t kCacheBytes = 1U << 20U;

template<class T>
Outcome outcome(const Result<T>& result) {
    if (!result) {
        return {-1, result.error().number};
    }
    return {static_cast<std::int64_t>(*result), 0};
}

Outcome outcome(const mtdfuse::Status& status) {
    return status ? Outcome{} : Outcome{-1, status.error().number};
}

struct Handle {
    std::unique_ptr<mtd::OpenFile> file;
    std::uint64_t position = 0;
};

// The stack under a node, without FUSE. Members are destroyed in the reverse of this order.
struct Stack {
    NullLog log;
    SteadyClock clock;
    std::unique_ptr<cache::Cache> cache;
    std::unique_ptr<chip::Chip> chip;
    std::unique_ptr<mtd::Device> device;
};

class InProcessTarget final : public Target {
public:
    InProcessTarget(std::unique_ptr<Stack> stack, Handle main)
        : stack_(std::move(stack)), main_(std::move(main)) {}

    Answer open(Node node, int flags) override;
    void back_to_main() override { further_ = Handle{}; }

    Answer pread(std::int64_t at, std::span<std::byte> into) override {
        if (at < 0) {
            return std::nullopt; // the VFS refuses it, no driver sees it
        }
        return outcome(file().read(static_cast<std::uint64_t>(at), into));
    }
    Answer pwrite(std::int64_t at, std::span<const std::byte> from) override {
        return outcome(file().write(static_cast<std::uint64_t>(at), from));
    }
    void move_to(std::uint64_t position) override { handle().position = position; }
    Answer read(std::span<std::byte> into) override {
        return moved(outcome(file().read(handle().position, into)));
    }
    Answer write(std::span<const std::byte> from) override {
        return moved(outcome(file().write(handle().position, from)));
    }
    void mend(std::uint64_t at, std::span<const std::byte> from) override {
        (void)main_.file->write(at, from);
    }

    Answer ioctl(std::uint32_t command, std::span<std::byte> argument) override;
    Answer ioctl_value(std::uint32_t command, std::uint64_t value) override {
        const Result<mtd::IoctlReply> reply = file().ioctl(command, value, {}, 0);
        return reply ? Outcome{reply->value, 0} : Outcome{-1, reply.error().number};
    }

    Answer read_oob(OobTransfer& transfer) override;
    Answer write_oob(OobTransfer& transfer) override {
        const Outcome result =
            outcome(file().write_oob(transfer.start, transfer.data.first(transfer.length)));
        if (result.error == 0) {
            transfer.length = static_cast<std::uint32_t>(result.value);
            return Outcome{};
        }
        return result;
    }
    Answer write_request(std::uint64_t start, std::span<std::byte> data, std::span<std::byte> oob,
                         unsigned mode) override {
        return outcome(file().write_request({start, data, oob, mode}));
    }
    Answer is_locked(std::uint32_t start, std::uint32_t length) override {
        return outcome(file().is_locked(start, length));
    }
    Answer otp_select(int mode) override { return outcome(file().otp_select(mode)); }
    Answer otp_region_count(std::uint32_t& count) override {
        const Result<std::uint32_t> result = file().otp_region_count();
        if (!result) {
            return Outcome{-1, result.error().number};
        }
        count = *result;
        return Outcome{};
    }
    Answer fsync(bool) override { return outcome(file().fsync()); }

    // There is no VFS here.
    std::optional<Status> fstat() override { return std::nullopt; }
    Answer lseek(std::int64_t, int) override { return std::nullopt; }
    Answer ftruncate(std::uint64_t) override { return std::nullopt; }
    Answer fallocate(std::uint64_t) override { return std::nullopt; }
    Answer mmap(bool) override { return std::nullopt; }

private:
    Handle& handle() { return further_.file ? further_ : main_; }
    mtd::OpenFile& file() { return *handle().file; }
    Outcome moved(Outcome result) {
        handle().position += result.error == 0 ? static_cast<std::uint64_t>(result.value) : 0;
        return result;
    }

    std::unique_ptr<Stack> stack_;
    Handle main_;
    Handle further_;
};

Answer InProcessTarget::open(Node node, int flags) {
    back_to_main();
    const int mode = flags & O_ACCMODE;
    const mtd::Access access = mode == O_RDONLY   ? mtd::Access::read
                               : mode == O_WRONLY ? mtd::Access::write
                                                  : mtd::Access::read_write;
    auto opened = mtd::OpenFile::open(*stack_->device, access, node == Node::read_only);
    if (!opened) {
        return Outcome{-1, opened.error().number};
    }
    further_.file = std::move(*opened);
    return Outcome{};
}

// Hands over what FUSE would: the number's bits say what goes in and how much comes back.
Answer InProcessTarget::ioctl(std::uint32_t command, std::span<std::byte> argument) {
    const std::size_t size = std::min<std::size_t>(_IOC_SIZE(command), argument.size());
    const bool in = (_IOC_DIR(command) & _IOC_WRITE) != 0;
    const bool out = (_IOC_DIR(command) & _IOC_READ) != 0;
    const Result<mtd::IoctlReply> reply =
        file().ioctl(command, reinterpret_cast<std::uintptr_t>(argument.data()),
                     argument.first(in ? size : 0), out ? size : 0);
    if (!reply) {
        return Outcome{-1, reply.error().number};
    }
    std::copy(reply->out.begin(), reply->out.end(), argument.begin());
    return Outcome{reply->value, 0};
}

Answer InProcessTarget::read_oob(OobTransfer& transfer) {
    constexpr std::uint32_t kRefusedUnseen = 4096;
    const std::uint32_t asked = transfer.length;
    const Outcome result = outcome(
        file().read_oob(transfer.start, asked,
                        transfer.data.first(std::min<std::size_t>(asked, transfer.data.size()))));
    // The kernel puts the count into `start` (its 32-bit form's quirk) or `length`, also the 0 of a
    // failure, unless it refused the length unseen.
    if (asked <= kRefusedUnseen) {
        const auto count = static_cast<std::uint32_t>(result.error == 0 ? result.value : 0);
        if (transfer.wide) {
            transfer.length = count;
        } else {
            transfer.start = count;
        }
    }
    return result.error == 0 ? Outcome{} : result;
}

Result<cache::Mapping*> map_memory(cache::Cache& cache, const Profile& profile, Memory memory) {
    if (memory == Memory::anonymous) {
        return cache.map_anonymous(profile.size_bytes);
    }
    auto backing = storage::make_memory_backing(profile.size_bytes, profile.initial);
    if (!backing) {
        return tl::make_unexpected(backing.error());
    }
    return cache.map(std::move(*backing));
}

} // namespace

Result<std::unique_ptr<Target>> make_in_process(const Profile& profile, Memory memory) {
    auto stack = std::make_unique<Stack>();
    cache::Options options;
    options.capacity_bytes = kCacheBytes;
    options.policy =
        memory == Memory::writethrough ? cache::Policy::writethrough : cache::Policy::writeback;
    auto made = cache::Cache::create(options, stack->log, stack->clock);
    if (!made) {
        return tl::make_unexpected(made.error());
    }
    stack->cache = std::move(*made);
    const auto mapping = map_memory(*stack->cache, profile, memory);
    if (!mapping) {
        return tl::make_unexpected(mapping.error());
    }
    chip::Geometry geometry = chip::default_geometry(chip::Type::ram, profile.size_bytes);
    geometry.erasesize_bytes = profile.erasesize_bytes;
    stack->chip = chip::make_ram(geometry, **mapping);
    stack->device =
        std::make_unique<mtd::Device>(*stack->chip, 0, std::string(profile.mtd_name), false);
    auto main = mtd::OpenFile::open(*stack->device, mtd::Access::read_write, false);
    if (!main) {
        return tl::make_unexpected(main.error());
    }
    // Memory without a backing starts as 0xFF.
    const std::vector<std::byte> initial(profile.size_bytes, profile.initial);
    if (const auto written = (*main)->write(0, initial); !written) {
        return tl::make_unexpected(written.error());
    }
    return std::make_unique<InProcessTarget>(std::move(stack), Handle{std::move(*main)});
}

} // namespace mtdfuse::replay
