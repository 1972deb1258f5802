// What the tests of this room share: files and loop devices that go away, a log that listens.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <mtdfuse/storage.hpp>

namespace mtdfuse::storage::test {

// A directory that anybody may search, removed with what is in it.
class TempDir {
public:
    TempDir();
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    ~TempDir();
    [[nodiscard]] std::string path(const std::string& name) const { return root_ + "/" + name; }

private:
    std::string root_;
};

[[nodiscard]] std::vector<std::byte> bytes_of(const std::string& text);
[[nodiscard]] std::string text_of(const std::vector<std::byte>& bytes);

// Writes `content` at `at` into the file, made with at least `size_bytes` if it is absent.
void write_file(const std::string& path, const std::string& content, std::uint64_t at = 0,
                std::uint64_t size_bytes = 0);
[[nodiscard]] std::string read_file(const std::string& path);

// Runs a program, with no shell between; its exit status, or nothing if it is not installed.
[[nodiscard]] std::optional<int> run_program(std::vector<std::string> words);

// A loop device over a file. Null, with a warning that says what is missing, where there is none.
class LoopDevice {
public:
    [[nodiscard]] static std::unique_ptr<LoopDevice> attach(const std::string& file,
                                                            bool read_only = false);
    LoopDevice(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
    LoopDevice(const LoopDevice&) = delete;
    LoopDevice& operator=(const LoopDevice&) = delete;
    ~LoopDevice();
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
    UniqueFd fd_;
};

// Keeps every line; `on_line` hears it as it comes.
class ListeningLog final : public Log {
public:
    void write(Severity severity, std::string_view message) override;
    [[nodiscard]] bool has(Severity severity, const std::string& part) const;

    std::function<void(const std::string&)> on_line;

private:
    std::vector<std::pair<Severity, std::string>> lines_;
};

// The error of a result that must have failed.
template<class T>
[[nodiscard]] Error error_of(const Result<T>& result) {
    REQUIRE_FALSE(result.has_value());
    return result.error();
}

// That `error` has this number and that every part stands in its sentence.
void check_error(const Error& error, int number, const std::vector<std::string>& parts);

} // namespace mtdfuse::storage::test
