// The mount point and the log, on real directories.
#include <catch2/catch.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include "daemon_log.hpp"
#include "mount_point.hpp"

using namespace mtdfuse;
using namespace mtdfuse::daemon;
using Catch::Matchers::Contains;
using Catch::Matchers::Matches;

namespace {

class Directory {
public:
    Directory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "mtdfuse-XXXXXX").string();
        REQUIRE(::mkdtemp(pattern.data()));
        path = std::filesystem::canonical(pattern);
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    ~Directory() { std::filesystem::remove_all(path); }

    [[nodiscard]] std::string at(const std::string& name) const { return (path / name).string(); }
    std::filesystem::path path;
};

void check_refused(const std::string& path, int number, const std::string& rule) {
    const auto refused = check_mount_point(path);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().number == number);
    CHECK_THAT(refused.error().context, Contains(path) && Contains(rule));
}

std::string read_all(const std::string& path) {
    return read_small_file(path).value();
}

UniqueFd make_file(const std::string& path) {
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    REQUIRE(fd);
    return fd;
}

} // namespace

TEST_CASE("a mount point is an empty directory, made absolute") {
    const Directory directory;
    std::filesystem::create_directory(directory.path / "mnt");
    std::filesystem::create_directory_symlink("mnt", directory.path / "link");
    CHECK(check_mount_point(directory.at("mnt/")).value() == directory.at("mnt"));
    CHECK(check_mount_point(directory.at("link")).value() == directory.at("mnt"));
    check_refused(directory.at("absent"), ENOENT, "mkdir -p");
    check_refused(directory.path.string(), ENOTEMPTY, "give an empty directory");
    make_file(directory.at("file"));
    check_refused(directory.at("file"), ENOTDIR, "give an empty directory");
}

TEST_CASE("in the foreground everything but debug goes to the terminal") {
    const Directory directory;
    const UniqueFd terminal = make_file(directory.at("terminal"));
    LogOptions options;
    options.foreground = true;
    auto log = DaemonLog::open(options, terminal.get()).value();
    log->debug("one");
    log->info("two");
    log->warning("three {}");
    log->error("four");
    CHECK(read_all(directory.at("terminal")) == "mtdfuse: two\nmtdfuse: three {}\nmtdfuse: four\n");
    options.debug = true;
    DaemonLog::open(options, terminal.get()).value()->debug("five");
    CHECK_THAT(read_all(directory.at("terminal")), Contains("mtdfuse: five\n"));
}

TEST_CASE("--log FILE is appended to and has what the terminal has not") {
    const Directory directory;
    const UniqueFd terminal = make_file(directory.at("terminal"));
    std::ofstream(directory.at("log")) << "before\n";
    LogOptions options;
    options.file = directory.at("log");
    auto log = DaemonLog::open(options, terminal.get()).value();
    log->info("two");
    log->error("four");
    CHECK(read_all(directory.at("terminal")) == "mtdfuse: four\n");
    CHECK_THAT(read_all(directory.at("log")),
               Matches("before\n[-0-9T:.+]+ mtdfuse\\[[0-9]+\\] info: two\n"
                       "[-0-9T:.+]+ mtdfuse\\[[0-9]+\\] error: four\n"));
    options.file = directory.at("absent/log");
    const auto refused = DaemonLog::open(options, terminal.get());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().number == ENOENT);
    CHECK_THAT(refused.error().context, Contains("absent/log"));
}

TEST_CASE("without syslog the start says once where messages stand") {
    const Directory directory;
    const UniqueFd terminal = make_file(directory.at("terminal"));
    LogOptions options;
    options.syslog_socket = directory.at("absent");
    const auto log = DaemonLog::open(options, terminal.get());
    REQUIRE(log);
    CHECK_THAT(read_all(directory.at("terminal")),
               Contains("last_error") && Contains("metrics") && Contains("--log"));
}
