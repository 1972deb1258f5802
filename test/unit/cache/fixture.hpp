// A cache over fake backings, for directed tests.
#pragma once

#include <functional>
#include <thread>

#include <catch2/catch.hpp>

#include "fake_backing.hpp"
#include "inspector.hpp"

namespace mtdfuse::cache {

class RecordingLog final : public Log {
public:
    void write(Severity severity, std::string_view) override {
        if (severity == Severity::error)
            errors.add();
    }
    Counter errors;
};

class FakeClock final : public Clock {
public:
    [[nodiscard]] TimePoint now() const override {
        return TimePoint(std::chrono::milliseconds(now_ms.load()));
    }
    std::atomic<std::int64_t> now_ms{1'000'000};
};

// Does `action` at the n-th look of the thread that armed it, once; nothing else. A cache with a
// probe is not provoked by debug builds, so directed tests see only what they ask for.
class ForcedGap final : public Probe {
public:
    void arm(int nth, std::function<void()> action) {
        left_ = nth;
        action_ = std::move(action);
    }
    [[nodiscard]] bool fired() const { return action_ == nullptr; }
    void before_lock(FolioIndex) override {
        if (action_ == nullptr || left_ == 0 || --left_ != 0)
            return;
        std::exchange(action_, nullptr)();
    }

private:
    int left_ = 0;
    std::function<void()> action_;
};

inline constexpr std::uint64_t kFolio = 4096;

inline std::vector<std::byte> filled(std::uint64_t length, unsigned value) {
    return std::vector<std::byte>(length, static_cast<std::byte>(value));
}

struct CacheUnderTest {
    explicit CacheUnderTest(std::uint64_t folios_of_capacity, Options options = {}) {
        options.folio_bytes = kFolio;
        options.capacity_bytes = folios_of_capacity * kFolio;
        options.probe = &gap;
        cache = Cache::create(options, log, clock).value();
    }

    Mapping& map(std::uint64_t size_bytes, unsigned fill = 0xff) {
        auto made = std::make_unique<test::FakeBacking>(size_bytes, static_cast<std::byte>(fill));
        backing = made.get();
        return *cache->map(std::move(made)).value();
    }

    [[nodiscard]] std::uint64_t metric(std::string_view name) const {
        std::vector<Metric> all;
        cache->collect_metrics(all);
        for (const Metric& metric : all)
            if (metric.name == name)
                return metric.value;
        FAIL("no metric " << name);
        return 0;
    }
    [[nodiscard]] std::string leaks() const { return Inspector::leaks(*cache); }

    RecordingLog log;
    FakeClock clock;
    ForcedGap gap;
    std::unique_ptr<Cache> cache;
    test::FakeBacking* backing = nullptr; // of the last map()
};

// body(0) to body(count - 1), each in a thread of its own.
inline void run_threads(unsigned count, const std::function<void(unsigned)>& body) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < count; ++t)
        threads.emplace_back([&body, t] { body(t); });
    for (std::thread& thread : threads)
        thread.join();
}

// The errno, 0 for success.
inline int number_of(const Status& status) {
    return status ? 0 : status.error().number;
}

inline std::vector<std::byte> read_all(Mapping& mapping, std::uint64_t at, std::uint64_t length) {
    std::vector<std::byte> bytes(length);
    REQUIRE(mapping.read(ByteOffset(at), bytes));
    return bytes;
}

inline Status write(Mapping& mapping, std::uint64_t at, const std::vector<std::byte>& bytes,
                    Combine combine = Combine::replace) {
    return mapping.write(ByteOffset(at), bytes, combine);
}

inline Status sync(Mapping& mapping) {
    ErrorCursor cursor = mapping.error_cursor();
    return mapping.sync(Durability::written_back, cursor);
}

} // namespace mtdfuse::cache
