// What every handler needs: libfuse hands it to each as the session's user data.
//
// All of it outlives every request. Nothing here but the handles changes after the mount; those
// have their own lock, and no lock is taken under another.
#pragma once

#include <ctime>
#include <map>

#include "buffer_pool.hpp"
#include "handles.hpp"
#include "init_reply.hpp"
#include "notifier.hpp"

#include <mtdfuse/tree.hpp>

namespace mtdfuse::fuse {

// Per device: the kernel may hold pages of one of its nodes. Set before a page is read, cleared
// when the pages are dropped.
using PagesCached = std::map<const mtd::Device*, std::atomic<bool>>;

struct Context {
    Context(const tree::Tree& tree, Log& log);

    // stat(2) of a node. The owner is the daemon's user, all times are the mount's.
    [[nodiscard]] struct stat attributes_of(const tree::Node& node) const;
    // The same with what the kernel may keep of it, and how long.
    [[nodiscard]] fuse_entry_param entry_of(const tree::Node& node) const;

    // Hands the reply to the notifier: every node's cached pages of the device go first.
    void invalidate_then_answer(const mtd::Device& device, Reply reply, Notifier::Answer answer);

    const tree::Tree& tree;
    Log& log;
    Counters counters;
    Handles handles;
    BufferPool buffers{kMaxRequestBytes};
    InitReply init_reply;
    PagesCached pages_cached;
    fuse_session* session = nullptr;    // set when it exists, before the first request
    std::unique_ptr<Notifier> notifier; // there while requests are served

private:
    timespec mounted_at_{};
    uid_t uid_;
    gid_t gid_;
};

[[nodiscard]] double attribute_timeout(const tree::Node& node);

// Runs a handler behind the wall: with the one reply that the request is owed, and with every
// exception turned into an errno. Every entry of libfuse's table goes through here.
template<class Handler>
void answer(fuse_req_t request, Handler handler) {
    auto& context = *static_cast<Context*>(fuse_req_userdata(request));
    Reply reply(request, context.counters, context.log);
    try {
        handler(context, reply);
    } catch (...) {
        reply.refuse(current_exception_error());
    }
}

// The three parts of libfuse's table.
void add_directory_operations(fuse_lowlevel_ops& table);
void add_file_operations(fuse_lowlevel_ops& table);
void add_refusals(fuse_lowlevel_ops& table);

} // namespace mtdfuse::fuse
