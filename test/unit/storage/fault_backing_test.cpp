#include "support.hpp"

#include <array>
#include <cerrno>

using namespace mtdfuse;
using namespace mtdfuse::storage;
using namespace mtdfuse::storage::test;

namespace {

struct Asked {
    Operation operation;
    std::uint64_t at, length_bytes;
    bool operator==(const Asked&) const = default;
};

} // namespace

TEST_CASE("faults: the rule sees every call, and the n-th one fails and changes nothing") {
    std::vector<Asked> asked;
    const std::size_t failing = GENERATE(range(std::size_t{0}, std::size_t{5}));
    auto memory = make_memory_backing(100, std::byte{'.'});
    REQUIRE(memory);
    const auto backing =
        inject_faults(std::move(*memory), [&](Operation operation, ByteOffset at, std::uint64_t n) {
            asked.push_back({operation, at.value, n});
            return asked.size() - 1 == failing ? ENOSPC : 0;
        });
    CHECK(backing->size_bytes() == 100);
    CHECK(backing->block_bytes() == 1);

    const auto ab = bytes_of("ab");
    const auto c = bytes_of("c");
    const std::array<std::span<const std::byte>, 2> segments = {ab, c};
    std::vector<std::byte> into(5, std::byte{'?'});
    std::vector<Status> results;
    results.push_back(backing->write_at(ByteOffset(1), ab));
    results.push_back(backing->write_vector_at(ByteOffset(3), segments));
    results.push_back(backing->sync());
    results.push_back(backing->read_at(ByteOffset(1), into));
    CHECK(asked == std::vector<Asked>{{Operation::write, 1, 2},
                                      {Operation::write, 3, 3},
                                      {Operation::sync, 0, 0},
                                      {Operation::read, 1, 5}});
    const std::array<std::string, 4> verbs = {"write of 2 bytes at 1", "write of 3 bytes at 3",
                                              "sync", "read of 5 bytes at 1"};
    for (std::size_t i = 0; i < results.size(); ++i) {
        CAPTURE(i, failing);
        CHECK(results[i].has_value() == (i != failing));
        if (i == failing)
            check_error(error_of(results[i]), ENOSPC,
                        {"injected fault", verbs[i], errno_text(ENOSPC)});
    }
    const std::array<std::string, 5> texts = {"..abc", "ab...", "ababc", "?????", "ababc"};
    CHECK(text_of(into) == texts[failing]);
}
