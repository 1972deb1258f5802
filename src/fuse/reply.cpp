#include "reply.hpp"

#include <cerrno>

namespace mtdfuse::fuse {

namespace {

const char* as_chars(std::span<const std::byte> bytes) {
    return reinterpret_cast<const char*>(bytes.data());
}

} // namespace

Reply::Reply(fuse_req_t request, Counters& counters, Log& log)
    : request_(request), counters_(counters), log_(log) {
    counters_.requests.add();
}

Reply::Reply(Reply&& other) noexcept
    : request_(other.take()), counters_(other.counters_), log_(other.log_) {}

Reply::~Reply() {
    if (request_) {
        log_.error("a request was left unanswered: answered with EIO");
        error(EIO);
    }
}

void Reply::error(int number) {
    if (fuse_req* const request = take()) {
        if (number != 0) {
            counters_.refused.add();
        }
        fuse_reply_err(request, number == 0 ? 0 : wire_errno(number));
    }
}

void Reply::refuse(const Error& refusal, mtd::Device* device) {
    tell(refusal, device, log_);
    error(refusal.number != 0 ? refusal.number : EIO);
}

void Reply::bytes(std::span<const std::byte> bytes) {
    if (fuse_req* const request = take()) {
        fuse_reply_buf(request, as_chars(bytes), bytes.size());
    }
}

void Reply::written(std::size_t length_bytes) {
    if (fuse_req* const request = take()) {
        fuse_reply_write(request, length_bytes);
    }
}

void Reply::ioctl(int value, std::span<const std::byte> out) {
    if (fuse_req* const request = take()) {
        fuse_reply_ioctl(request, value, out.data(), out.size());
    }
}

void Reply::entry(const fuse_entry_param& entry) {
    if (fuse_req* const request = take()) {
        fuse_reply_entry(request, &entry);
    }
}

void Reply::attributes(const struct stat& attributes, double timeout_seconds) {
    if (fuse_req* const request = take()) {
        fuse_reply_attr(request, &attributes, timeout_seconds);
    }
}

void Reply::link_target(const std::string& target) {
    if (fuse_req* const request = take()) {
        fuse_reply_readlink(request, target.c_str());
    }
}

void Reply::statistics(const struct statvfs& statistics) {
    if (fuse_req* const request = take()) {
        fuse_reply_statfs(request, &statistics);
    }
}

bool Reply::opened(const fuse_file_info& info) {
    fuse_req* const request = take();
    return request && fuse_reply_open(request, &info) == 0;
}

} // namespace mtdfuse::fuse
