// A mount of a MemoryChip for the length of a test.
#pragma once

#include <catch2/catch.hpp>

#include <filesystem>
#include <future>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include <mtdfuse/fuse.hpp>

#include "memory_chip.hpp"

namespace mtdfuse::fuse {

[[nodiscard]] inline bool fuse_is_missing() {
    if (access("/dev/fuse", R_OK | W_OK) == 0) {
        return false;
    }
    WARN("skipped: /dev/fuse is missing");
    return true;
}

class Mounted {
public:
    static constexpr std::uint64_t kSizeBytes = 16 << 20;
    static constexpr std::uint32_t kBlockBytes = 64 << 10;

    explicit Mounted(const std::string& source = "none", bool single_thread = false) {
        char name[] = "/tmp/mtdfuse-unit-XXXXXX";
        REQUIRE(mkdtemp(name));
        directory_ = name;
        MountOptions options;
        options.mount_point = directory_;
        options.source = source;
        options.single_thread = single_thread;
        auto mounted = Session::mount(tree, options, log);
        INFO((mounted ? std::string() : mounted.error().context));
        REQUIRE(mounted);
        session = std::move(*mounted);
        std::promise<void> ready;
        served = std::async(std::launch::async, [this, &ready] {
            return session->serve([&ready] { ready.set_value(); });
        });
        ready.get_future().wait();
    }
    Mounted(const Mounted&) = delete;
    Mounted& operator=(const Mounted&) = delete;
    ~Mounted() {
        end();
        session.reset();
        rmdir(directory_.c_str());
    }

    // Stops and waits; the mount stays until the session goes.
    Status end() {
        if (!served.valid()) {
            return {};
        }
        session->stop();
        return served.get();
    }

    [[nodiscard]] std::string path(const std::string& below) const {
        return directory_ + '/' + below;
    }
    [[nodiscard]] UniqueFd open(const std::string& below, int flags) const {
        return UniqueFd(::open(path(below).c_str(), flags | O_CLOEXEC));
    }
    [[nodiscard]] std::uint64_t metric(const std::string& name) const {
        std::vector<Metric> metrics;
        session->collect_metrics(metrics);
        for (const Metric& metric : metrics) {
            if (metric.name == name) {
                return metric.value;
            }
        }
        FAIL("no metric " << name);
        return 0;
    }

    test::MemoryChip chip{kSizeBytes, kBlockBytes};
    mtd::Device device{chip, 0, "flash", false};
    test::KeptLog log;
    tree::Tree tree{tree::Sources{{&device}, nullptr, nullptr, &log, {}}};
    std::unique_ptr<Session> session;
    std::future<Status> served;

private:
    std::string directory_;
};

} // namespace mtdfuse::fuse
