// Errors of the backing: nothing is lost, nothing stays held, everybody hears of it once.
#include "fixture.hpp"

namespace mtdfuse::cache {

namespace {

using storage::Operation;

storage::FaultRule fail_writes(int number) {
    return [number](Operation operation, ByteOffset, std::uint64_t) {
        return operation == Operation::write ? number : 0;
    };
}

storage::FaultRule fail_writes_over(std::uint64_t place, int number) {
    return [place, number](Operation operation, ByteOffset at, std::uint64_t length) {
        const bool over = at.value <= place && place < at.value + length;
        return operation == Operation::write && over ? number : 0;
    };
}

Status sync_with(Mapping& mapping, ErrorCursor& cursor,
                 Durability durability = Durability::written_back) {
    return mapping.sync(durability, cursor);
}

// A bit of everything, over more folios than fit.
void work_on(Mapping& mapping, unsigned round) {
    const auto ignored = [](const auto& result) { static_cast<void>(result); };
    std::vector<std::byte> buffer(3 * kFolio);
    for (std::uint64_t at = 0; at < 12 * kFolio; at += 3 * kFolio) {
        ignored(mapping.read(ByteOffset(at + 7), std::span(buffer).first(2 * kFolio)));
        ignored(write(mapping, at + 99, filled(kFolio + 50, round + 1)));
        ignored(write(mapping, at + kFolio, filled(kFolio, 0x0f), Combine::and_bits));
        ignored(mapping.fill_ff(ByteOffset(at + 2 * kFolio - 1), kFolio + 1));
        ignored(mapping.pin(ByteOffset(at), 3 * kFolio));
    }
    ErrorCursor cursor = mapping.error_cursor();
    ignored(sync_with(mapping, cursor, Durability::stable));
}

} // namespace

TEST_CASE("an error at any call to the backing leaves no lock, pin or reservation") {
    const bool sticky = GENERATE(false, true);
    const auto policy = GENERATE(Policy::writeback, Policy::writethrough);
    std::uint64_t hit = 0;
    for (std::uint64_t nth = 1;; ++nth) {
        Options options;
        options.policy = policy;
        CacheUnderTest under(4, options);
        Mapping& mapping = under.map(12 * kFolio, 0xa5);
        std::uint64_t calls = 0;
        under.backing->fault = [&](Operation, ByteOffset, std::uint64_t) {
            ++calls;
            return calls == nth || (sticky && calls > nth) ? EIO : 0;
        };
        work_on(mapping, 0);
        INFO("error at call " << nth << ", sticky " << sticky);
        const std::string leaks = under.leaks();
        REQUIRE(leaks == "");
        REQUIRE(under.cache->resident_bytes() <= 4 * kFolio);
        REQUIRE(Inspector::allocated_bytes(mapping) <= under.cache->resident_bytes());
        if (calls < nth)
            break;
        ++hit;
        // The cache works on when the backing does.
        under.backing->fault = nullptr;
        static_cast<void>(sync(mapping));
        REQUIRE(sync(mapping));
        REQUIRE(mapping.dirty_bytes() == 0);
        REQUIRE(write(mapping, 0, filled(12 * kFolio, 0x42)));
        REQUIRE(sync(mapping));
        REQUIRE(under.backing->bytes() == filled(12 * kFolio, 0x42));
    }
    CHECK(hit > 20);
}

TEST_CASE("dirt never exceeds half of the capacity: the writer writes back, oldest first") {
    CacheUnderTest under(8);
    Mapping& mapping = under.map(32 * kFolio);
    for (const std::uint64_t index : {9U, 3U, 5U, 7U}) {
        under.clock.now_ms += 1;
        REQUIRE(write(mapping, index * kFolio, filled(10, 0x01)));
    }
    CHECK(mapping.dirty_bytes() == 4 * kFolio);
    CHECK(under.backing->writes == 0);
    REQUIRE(write(mapping, 20 * kFolio, filled(10, 0x01)));
    CHECK(mapping.dirty_bytes() <= 4 * kFolio);
    CHECK(under.backing->writes > 0);
    CHECK_FALSE(Inspector::dirty(mapping, 9));
    for (std::uint64_t i = 0; i < 32; ++i) {
        REQUIRE(write(mapping, i * kFolio, filled(kFolio, 0x02)));
        REQUIRE(mapping.dirty_bytes() <= 4 * kFolio);
    }
    CHECK(under.leaks().empty());
}

TEST_CASE("at the limit of dirt a failing backing is the writer's error, and nothing is lost") {
    CacheUnderTest under(4);
    Mapping& mapping = under.map(8 * kFolio);
    REQUIRE(write(mapping, 0, filled(2 * kFolio, 0x01)));
    read_all(mapping, 2 * kFolio, kFolio);
    under.backing->fault = fail_writes(ENOSPC);
    CHECK(number_of(write(mapping, 2 * kFolio, filled(1, 0x02))) == ENOSPC);
    CHECK(number_of(mapping.fill_ff(ByteOffset(3 * kFolio), kFolio)) == ENOSPC);
    // What needs no more dirt works: the same bytes, more of a dirty folio, reading.
    CHECK(write(mapping, 2 * kFolio, filled(1, 0xff)));
    CHECK(write(mapping, 5, filled(1, 0x03)));
    CHECK(read_all(mapping, 6 * kFolio, 1) == filled(1, 0xff));
    CHECK(mapping.dirty_bytes() == 2 * kFolio);
    CHECK(under.log.errors.value() == 1);
    under.backing->fault = nullptr;
    CHECK(write(mapping, 2 * kFolio, filled(1, 0x02)));
    CHECK(read_all(mapping, 5, 1) == filled(1, 0x03));
    CHECK(under.leaks().empty());
}

TEST_CASE("one bad place does not keep other dirt from being written") {
    CacheUnderTest under(16);
    Mapping& mapping = under.map(64 * kFolio);
    under.backing->fault = fail_writes_over(2 * kFolio + 5, EIO);
    for (std::uint64_t i = 0; i < 64; ++i)
        REQUIRE(write(mapping, i * kFolio, filled(kFolio, 0x07)));
    ErrorCursor cursor = mapping.error_cursor();
    CHECK(number_of(sync_with(mapping, cursor)) == EIO);
    CHECK(mapping.dirty_bytes() == kFolio);
    CHECK(Inspector::dirty(mapping, 2));
    CHECK(under.backing->bytes()[63 * kFolio] == std::byte{0x07});
    CHECK(under.log.errors.value() == 1);
    under.backing->fault = nullptr;
    CHECK(sync_with(mapping, cursor));
    CHECK(under.backing->bytes() == filled(64 * kFolio, 0x07));
    CHECK(under.leaks().empty());
}

TEST_CASE("a cache of one folio whose dirt cannot be written gives readers the error") {
    CacheUnderTest under(1);
    Mapping& mapping = under.map(2 * kFolio);
    REQUIRE(write(mapping, 0, filled(1, 0x01)));
    under.backing->fault = fail_writes(EIO);
    std::vector<std::byte> one(1);
    CHECK(number_of(mapping.read(ByteOffset(kFolio), one)) == EIO);
    CHECK(read_all(mapping, 0, 1) == filled(1, 0x01));
    under.backing->fault = nullptr;
    CHECK(read_all(mapping, kFolio, 1) == filled(1, 0xff));
}

TEST_CASE("a failed writeback reaches every cursor once, and the folio stays dirty") {
    CacheUnderTest under(8);
    Mapping& mapping = under.map(4 * kFolio);
    ErrorCursor a = mapping.error_cursor();
    ErrorCursor b = mapping.error_cursor();
    REQUIRE(write(mapping, 0, filled(1, 0x01)));
    under.backing->fault = fail_writes(EIO);
    CHECK(number_of(sync_with(mapping, a)) == EIO);
    CHECK(Inspector::dirty(mapping, 0));
    // A new failure is a new error.
    CHECK(number_of(sync_with(mapping, a)) == EIO);
    under.backing->fault = nullptr;
    CHECK(sync_with(mapping, a));
    CHECK(number_of(sync_with(mapping, b)) == EIO);
    CHECK(sync_with(mapping, b));
    CHECK(under.backing->bytes()[0] == std::byte{0x01});
    ErrorCursor late = mapping.error_cursor();
    CHECK(sync_with(mapping, late));
    CHECK(under.log.errors.value() == 1);
    CHECK(under.metric("cache_writeback_errors_total") == 2);
}

TEST_CASE("an error that the flusher met waits for the next open file") {
    Options options;
    CacheUnderTest under(8, options);
    Mapping& mapping = under.map(4 * kFolio);
    REQUIRE(write(mapping, 0, filled(1, 0x01)));
    under.backing->fault = fail_writes(ENOSPC);
    under.clock.now_ms += 10'000;
    const std::atomic<bool> never{false};
    flush_expired(Inspector::state(*under.cache), never);
    under.backing->fault = nullptr;
    ErrorCursor cursor = mapping.error_cursor();
    const Status first = sync_with(mapping, cursor);
    CHECK(number_of(first) == ENOSPC);
    CHECK(first.error().context == "injected");
    CHECK(sync_with(mapping, cursor));
}

TEST_CASE("a failed sync of the backing is an error of the mapping") {
    CacheUnderTest under(8);
    Mapping& mapping = under.map(4 * kFolio);
    ErrorCursor a = mapping.error_cursor();
    ErrorCursor b = mapping.error_cursor();
    under.backing->fault = [](Operation operation, ByteOffset, std::uint64_t) {
        return operation == Operation::sync ? EIO : 0;
    };
    CHECK(number_of(sync_with(mapping, a, Durability::stable)) == EIO);
    under.backing->fault = nullptr;
    CHECK(sync_with(mapping, a, Durability::stable));
    CHECK(number_of(sync_with(mapping, b)) == EIO);
}

TEST_CASE("an error in what is read ahead is nobody's") {
    CacheUnderTest under(64);
    Mapping& mapping = under.map(64 * kFolio, 0x11);
    under.backing->fault = [](Operation operation, ByteOffset at, std::uint64_t length) {
        const bool over = at.value <= 5 * kFolio && 5 * kFolio < at.value + length;
        return operation == Operation::read && over ? EIO : 0;
    };
    for (std::uint64_t at = 0; at < 5 * kFolio; at += kFolio)
        CHECK(read_all(mapping, at, kFolio) == filled(kFolio, 0x11));
    std::vector<std::byte> one(1);
    CHECK(number_of(mapping.read(ByteOffset(5 * kFolio), one)) == EIO);
    CHECK(read_all(mapping, 6 * kFolio, kFolio) == filled(kFolio, 0x11));
    CHECK(under.leaks().empty());
    CHECK(Inspector::allocated_bytes(mapping) == under.cache->resident_bytes());
}

TEST_CASE("a failed read is the reader's error, and leaves the folio absent") {
    CacheUnderTest under(8);
    Mapping& mapping = under.map(4 * kFolio, 0x11);
    under.backing->fault = [](Operation operation, ByteOffset, std::uint64_t) {
        return operation == Operation::read ? EIO : 0;
    };
    std::vector<std::byte> one(1);
    CHECK(number_of(mapping.read(ByteOffset(0), one)) == EIO);
    CHECK(number_of(write(mapping, 1, one)) == EIO);
    CHECK(number_of(write(mapping, 0, filled(kFolio, 0), Combine::and_bits)) == EIO);
    CHECK(number_of(mapping.fill_ff(ByteOffset(1), 1)) == EIO);
    CHECK(mapping.pin(ByteOffset(0), 1).error().number == EIO);
    CHECK(under.cache->resident_bytes() == 0);
    CHECK(Inspector::allocated_bytes(mapping) == 0);
    under.backing->fault = nullptr;
    CHECK(read_all(mapping, 0, 1) == filled(1, 0x11));
    ErrorCursor cursor = mapping.error_cursor();
    CHECK(sync_with(mapping, cursor));
}

// A folio of two transfers: what the first has stored must not outlive the second's failure.
TEST_CASE("a folio longer than a transfer is filled and written back whole or not at all") {
    constexpr std::uint64_t kLong = 2 * kMiB;
    RecordingLog log;
    FakeClock clock;
    ForcedGap gap;
    Options options;
    options.folio_bytes = kLong;
    options.capacity_bytes = 2 * kLong;
    options.probe = &gap;
    const auto cache = Cache::create(options, log, clock).value();
    auto made = std::make_unique<test::FakeBacking>(kLong, std::byte{0x11});
    test::FakeBacking& backing = *made;
    Mapping& mapping = *cache->map(std::move(made)).value();
    ErrorCursor cursor = mapping.error_cursor();
    const auto fail_second_half = [&](Operation failing) {
        backing.fault = [failing](Operation operation, ByteOffset at, std::uint64_t) {
            return operation == failing && at.value >= kLong / 2 ? EIO : 0;
        };
    };

    fail_second_half(Operation::read);
    std::vector<std::byte> one(1);
    CHECK(number_of(mapping.read(ByteOffset(0), one)) == EIO);
    CHECK(backing.reads == 2);
    CHECK(Inspector::allocated_bytes(mapping) == 0);
    backing.fault = nullptr;
    CHECK(read_all(mapping, 0, kLong) == filled(kLong, 0x11));
    REQUIRE(write(mapping, 1, filled(kLong - 2, 0x22)));

    fail_second_half(Operation::write);
    CHECK(number_of(sync_with(mapping, cursor)) == EIO);
    CHECK(mapping.dirty_bytes() == kLong);
    backing.fault = nullptr;
    CHECK(sync_with(mapping, cursor));
    CHECK(mapping.dirty_bytes() == 0);
    std::vector<std::byte> wanted = filled(kLong, 0x22);
    wanted.front() = wanted.back() = std::byte{0x11};
    CHECK((backing.bytes() == wanted));
    CHECK(Inspector::leaks(*cache).empty());
}

} // namespace mtdfuse::cache
