#include "support.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <linux/loop.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mtdfuse::storage::test {

TempDir::TempDir() {
    root_ = (std::filesystem::temp_directory_path() / "mtdfuse-storage-XXXXXX").string();
    REQUIRE(::mkdtemp(root_.data()) != nullptr);
    REQUIRE(::chmod(root_.c_str(), 0755) == 0);
}

TempDir::~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
}

std::vector<std::byte> bytes_of(const std::string& text) {
    std::vector<std::byte> bytes(text.size());
    std::transform(text.begin(), text.end(), bytes.begin(),
                   [](char c) { return static_cast<std::byte>(c); });
    return bytes;
}

std::string text_of(const std::vector<std::byte>& bytes) {
    std::string text(bytes.size(), '\0');
    std::transform(bytes.begin(), bytes.end(), text.begin(),
                   [](std::byte b) { return static_cast<char>(b); });
    return text;
}

void write_file(const std::string& path, const std::string& content, std::uint64_t at,
                std::uint64_t size_bytes) {
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    REQUIRE(fd);
    if (size_bytes != 0)
        REQUIRE(::ftruncate(fd.get(), static_cast<off_t>(size_bytes)) == 0);
    REQUIRE(::pwrite(fd.get(), content.data(), content.size(), static_cast<off_t>(at)) ==
            static_cast<ssize_t>(content.size()));
}

std::string read_file(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

std::optional<int> run_program(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    if (::posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0)
        return std::nullopt;
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::unique_ptr<LoopDevice> LoopDevice::attach(const std::string& file, bool read_only) {
    const int access = (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC;
    const UniqueFd control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
    if (!control) {
        WARN("SKIPPED: no loop device: /dev/loop-control: " << errno_text(errno) << ", needs root");
        return nullptr;
    }
    const UniqueFd below(::open(file.c_str(), access));
    REQUIRE(below);
    // Somebody else may take the free number between the two calls.
    for (int attempt = 0; attempt < 100; ++attempt) {
        const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
        REQUIRE(number >= 0);
        std::string path = "/dev/loop" + std::to_string(number);
        UniqueFd fd(::open(path.c_str(), access));
        if (!fd) {
            WARN("SKIPPED: no loop device: " << path << ": " << errno_text(errno));
            return nullptr;
        }
        loop_config config{};
        config.fd = static_cast<std::uint32_t>(below.get());
        config.info.lo_flags = read_only ? LO_FLAGS_READ_ONLY : 0;
        if (::ioctl(fd.get(), LOOP_CONFIGURE, &config) == 0)
            return std::make_unique<LoopDevice>(std::move(path), std::move(fd));
        REQUIRE(errno == EBUSY);
    }
    WARN("SKIPPED: no loop device stayed free long enough");
    return nullptr;
}

LoopDevice::~LoopDevice() {
    ::ioctl(fd_.get(), LOOP_CLR_FD);
}

void ListeningLog::write(Severity severity, std::string_view message) {
    lines_.emplace_back(severity, message);
    if (on_line)
        on_line(lines_.back().second);
}

bool ListeningLog::has(Severity severity, const std::string& part) const {
    return std::any_of(lines_.begin(), lines_.end(), [&](const auto& line) {
        return line.first == severity && line.second.find(part) != std::string::npos;
    });
}

void check_error(const Error& error, int number, const std::vector<std::string>& parts) {
    CHECK(error.number == number);
    for (const std::string& part : parts)
        CHECK_THAT(error.context, Catch::Contains(part));
}

} // namespace mtdfuse::storage::test
