#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "image_tool.hpp"

using namespace mtdfuse;
using namespace mtdfuse::tools;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;
using Words = std::vector<std::string>;

namespace {

class Directory {
public:
    Directory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "mtdfuse-XXXXXX").string();
        REQUIRE(::mkdtemp(pattern.data()));
        path = pattern;
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    ~Directory() { std::filesystem::remove_all(path); }

    [[nodiscard]] std::string at(const std::string& name) const { return (path / name).string(); }
    std::filesystem::path path;
};

struct Outcome {
    int status;
    std::string out, err;
};

Outcome run(const Words& words, bool progress = false) {
    std::ostringstream out, err;
    const int status = image_main(words, {out, err, progress});
    return {status, out.str(), err.str()};
}

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

TEST_CASE("create makes an erased image of the size asked for, and says nothing") {
    const Directory directory;
    const auto [size, bytes] = GENERATE(table<std::string, std::size_t>(
        {{"131072", 131072}, {"128K", 131072}, {"2MiB", 2097152}, {"0x180000", 1572864}}));
    const Outcome outcome = run({"create", "--size", size, directory.at("img")});
    CHECK(outcome.status == 0);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.empty());
    CHECK(contents(directory.at("img")) == std::string(bytes, '\xFF'));
}

TEST_CASE("create leaves what exists alone") {
    const Directory directory;
    std::ofstream(directory.at("img")) << "precious";
    std::filesystem::create_symlink("absent", directory.path / "dangling");
    for (const char* name : {"img", "dangling"}) {
        const Outcome outcome = run({"create", "--size", "1M", directory.at(name)});
        CHECK(outcome.status == 1);
        CHECK_THAT(outcome.err, StartsWith("mtdfuse-image: ") && Contains("exists"));
    }
    CHECK(contents(directory.at("img")) == "precious");
    CHECK_FALSE(std::filesystem::exists(directory.path / "absent"));
}

TEST_CASE("a half-made image is removed when a signal comes") {
    const Directory directory;
    sigset_t term, before;
    ::sigemptyset(&term);
    ::sigaddset(&term, SIGTERM);
    REQUIRE(::pthread_sigmask(SIG_BLOCK, &term, &before) == 0);
    const ImageCommand command = {
        ImageVerb::create, chip::Type::ram, 4 << 20, {}, directory.at("img")};
    bool existed = false;
    const Status created = create_image(command, [&](std::uint64_t done_bytes, std::uint64_t) {
        existed = std::filesystem::exists(command.path);
        if (done_bytes == 1 << 20)
            ::raise(SIGTERM);
    });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    REQUIRE_FALSE(created);
    CHECK(created.error().number == EINTR);
    CHECK(existed);
    CHECK_FALSE(std::filesystem::exists(command.path));
}

TEST_CASE("the bar is drawn on a terminal only, and wiped") {
    const Directory directory;
    const Outcome outcome = run({"create", "--size", "2M", directory.at("img")}, true);
    CHECK_THAT(outcome.err, Contains("[#########################                         ]  50%") &&
                                Contains("100%"));
    CHECK_THAT(outcome.err, Catch::Matchers::EndsWith(" \r"));
}

TEST_CASE("info describes an image and how to mount it") {
    const Directory directory;
    const std::string path = directory.at("my img");
    REQUIRE(run({"create", "--size", "1M", path}).status == 0);
    {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(131072);
        file << 'x';
        file.seekp(3 * 131072 - 1);
        file << 'x';
    }
    const Outcome outcome = run({"info", path});
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
    CHECK_THAT(outcome.out,
               Contains("path:         " + path + "\n") && Contains("1048576 bytes (1M)\n") &&
                   Contains("erase blocks: 8 of 128K\n") && Contains("erased:       6 of 8\n") &&
                   Contains("signature:    none\n") &&
                   Contains("mount:        mtdfuse '" + path + "' MOUNTPOINT\n"));
    const Outcome finer = run({"info", "--erasesize", "64K", path});
    CHECK_THAT(finer.out, Contains("erased:       14 of 16\n") &&
                              Contains("mtdfuse --erasesize 64K '" + path + "' MOUNTPOINT\n"));
    std::ofstream(path, std::ios::app) << "rest";
    CHECK_THAT(run({"info", path}).out, Contains("8 of 128K, and 4 bytes that fit no block\n") &&
                                            Contains("mtdfuse --size 1M '" + path + "'"));
    std::ofstream(directory.at("small")) << "rest";
    CHECK_THAT(run({"info", directory.at("small")}).out, Contains("not possible"));
}

TEST_CASE("info tells what libblkid finds") {
    const Directory directory;
    {
        std::ofstream file(directory.at("swap"), std::ios::binary);
        std::string page(131072, '\0');
        page.replace(1024, 4, std::string("\1\0\0\0", 4)); // version 1
        page.replace(4096 - 10, 10, "SWAPSPACE2");
        page[1028] = 31; // last page
        file << page;
    }
    CHECK_THAT(run({"info", directory.at("swap")}).out, Contains("signature:    swap"));
}

TEST_CASE("what cannot be read or made is refused with status 1") {
    const Directory directory;
    const std::vector<std::pair<Words, std::string>> refusals = {
        {{"info", directory.at("absent")}, "mtdfuse-image create"},
        {{"info", directory.path.string()}, "is a directory"},
        {{"info", "/dev/null"}, "neither a file nor a block device"},
        {{"create", "--size", "1M", directory.at("absent/img")}, "directory does not exist"},
    };
    for (const auto& [words, rule] : refusals) {
        const Outcome outcome = run(words);
        CHECK(outcome.status == 1);
        CHECK(outcome.out.empty());
        CHECK_THAT(outcome.err, StartsWith("mtdfuse-image: ") && Contains(rule));
    }
    CHECK(std::filesystem::is_empty(directory.path));
}

TEST_CASE("wrong command lines are refused with status 2") {
    const auto [words, message] = GENERATE(table<Words, std::string>({
        {Words{}, "a command is missing"},
        {{"make"}, "unknown command 'make'"},
        {{"--bogus"}, "unknown option --bogus"},
        {{"create", "--size", "--bogus"}, "option --size needs a value"},
        {{"create", "--bogus", "--size"}, "unknown option --bogus"},
        {{"create", "--size", "1M", "--chip=x", "img"}, "unknown option --chip"},
        {{"create", "img"}, "create needs --size"},
        {{"create", "--size", "1M"}, "IMAGE is missing"},
        {{"create", "--size", "1M", ""}, "IMAGE is missing"},
        {{"create", "--size", "1M", "a", "b"}, "'b' is one operand too many"},
        {{"create", "img", "--size"}, "option --size needs a value"},
        {{"create", "--size=", "img"}, "option --size needs a value"},
        {{"create", "--size", "", "img"}, "option --size needs a value"},
        {{"create", "--size", "0", "img"}, "size 0"},
        {{"create", "--size", "1k", "img"}, "--size: '1k' is no size"},
        {{"create", "--size", "1000", "img"}, "size 1000 is no multiple of erasesize 128K"},
        {{"create", "--size", "1M", "--size", "1M", "img"}, "option --size is given twice"},
        {{"create", "--size", "1M", "--type", "nor", "img"}, "--type: "},
        {{"create", "--size", "1M", "--erasesize", "255", "img"}, "--erasesize: '255' is out"},
        {{"create", "--size", "1M", "--erasesize", "2G", "img"}, "--erasesize: '2G' is out"},
        {{"info"}, "IMAGE is missing"},
        {{"info", "--size", "1M", "img"}, "info takes no option --size"},
        {{"info", "--type", "ram", "img"}, "info takes no option --type"},
    }));
    CAPTURE(words);
    const Outcome outcome = run(words);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, StartsWith("mtdfuse-image: " + message));
    CHECK_THAT(outcome.err, Catch::Matchers::EndsWith("\ntry 'mtdfuse-image --help'\n"));
}

TEST_CASE("--help and --version go to the output") {
    for (const char* word : {"-h", "--help"})
        CHECK_THAT(run({word}).out, Contains("--erasesize SIZE"));
    CHECK_THAT(run({"create", "--help"}).out, Equals(image_help()));
    for (const char* word : {"-V", "--version"})
        CHECK_THAT(run({word}).out, Catch::Matchers::Matches("mtdfuse-image [0-9.]+\n"));
}
