// Random operations on one regular file, compared with a copy in memory: what a file system shows
// must be what was written. The idea is that of fsx; the code is this project's.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <getopt.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mtdfuse/base.hpp>

namespace {

using mtdfuse::Random;
using mtdfuse::UniqueFd;

constexpr std::uint64_t kDefaultSizeBytes = 256U << 10U;
constexpr std::uint64_t kMaxTransferBytes = 64U << 10U;
constexpr std::size_t kLogTail = 50;

constexpr const char* kHelp = R"(usage: fsx --ops N [--seed S] [--size BYTES] [--self-test] FILE

Makes FILE anew and does N random operations on it: pread, pwrite, ftruncate, fsync, close and
open, read through a mapping. Every byte read is compared with a copy in memory.
  --seed S      repeats a run; without it one is drawn, and printed
  --size BYTES  the most FILE grows to (default 262144)
  --self-test   changes a byte of FILE behind the copy's back: exit 0 only if that is found
Exit status: 0 all equal, 1 a mismatch (the last operations are printed) or a failed call, 2 usage.
)";

struct Mismatch : std::runtime_error {
    using std::runtime_error::runtime_error;
};

[[noreturn]] void throw_errno(const std::string& what) {
    throw std::runtime_error(fmt::format("{}: {}", what, mtdfuse::errno_text(errno)));
}

class Checker {
public:
    Checker(std::string path, std::uint64_t seed, std::uint64_t size_bytes)
        : path_(std::move(path)), random_(seed), most_bytes_(size_bytes) {
        open(O_CREAT | O_TRUNC);
    }

    void step();
    // The whole file, also its length.
    void compare_all();
    // Changes one byte that the copy has otherwise.
    void plant_fault();
    void print_log() const;

private:
    using Operation = void (Checker::*)();

    void do_read();
    void do_write();
    void do_truncate();
    void do_sync();
    void do_reopen();
    void do_map();

    void open(int more_flags);
    void note(std::string text);
    void compare(std::string_view how, std::uint64_t at, std::span<const std::byte> got) const;
    std::uint64_t pick_length() { return 1 + random_.below(kMaxTransferBytes); }

    const std::string path_;
    Random random_;
    const std::uint64_t most_bytes_;
    UniqueFd fd_;
    std::vector<std::byte> copy_;
    std::deque<std::string> log_;
    std::uint64_t count_ = 0;
};

void Checker::step() {
    // Weights: reads and writes are what finds faults, the others make their surroundings.
    static constexpr std::array kOperations{
        &Checker::do_read,  &Checker::do_read,    &Checker::do_read,  &Checker::do_write,
        &Checker::do_write, &Checker::do_write,   &Checker::do_write, &Checker::do_map,
        &Checker::do_map,   &Checker::do_truncate};
    constexpr std::uint64_t kSeldom = 50;
    const std::uint64_t seldom = random_.below(kSeldom);
    ++count_;
    if (seldom == 0) {
        do_sync();
    } else if (seldom == 1) {
        do_reopen();
    } else {
        (this->*kOperations[random_.below(kOperations.size())])();
    }
}

void Checker::open(int more_flags) {
    fd_ = UniqueFd(::open(path_.c_str(), O_RDWR | O_CLOEXEC | more_flags, 0600));
    if (!fd_) {
        throw_errno(path_);
    }
}

void Checker::note(std::string text) {
    log_.push_back(fmt::format("{}: {}", count_, std::move(text)));
    if (log_.size() > kLogTail) {
        log_.pop_front();
    }
}

void Checker::compare(std::string_view how, std::uint64_t at,
                      std::span<const std::byte> got) const {
    const auto expected = std::span(copy_).subspan(at, got.size());
    const auto [wrong, right] = std::mismatch(got.begin(), got.end(), expected.begin());
    if (wrong != got.end()) {
        throw Mismatch(fmt::format("operation {}: {} of {} bytes at {:#x}: byte {:#x} is {:#04x}, "
                                   "expected {:#04x}",
                                   count_, how, got.size(), at,
                                   at + static_cast<std::uint64_t>(wrong - got.begin()),
                                   static_cast<unsigned>(*wrong), static_cast<unsigned>(*right)));
    }
}

void Checker::do_read() {
    const std::uint64_t at = random_.below(copy_.size() + 1);
    const std::uint64_t asked = pick_length();
    note(fmt::format("read {:#x} {:#x}", at, asked));
    std::vector<std::byte> bytes(asked);
    const ssize_t got = ::pread(fd_.get(), bytes.data(), asked, static_cast<off_t>(at));
    if (got < 0) {
        throw_errno("pread");
    }
    const std::uint64_t expected = std::min<std::uint64_t>(asked, copy_.size() - at);
    if (static_cast<std::uint64_t>(got) != expected) {
        throw Mismatch(fmt::format("operation {}: read of {:#x} bytes at {:#x} gave {:#x} bytes, "
                                   "expected {:#x}",
                                   count_, asked, at, got, expected));
    }
    compare("read", at, std::span(bytes).first(expected));
}

void Checker::do_write() {
    const std::uint64_t at = random_.below(most_bytes_);
    const std::uint64_t length = std::min(pick_length(), most_bytes_ - at);
    note(fmt::format("write {:#x} {:#x}", at, length));
    std::vector<std::byte> bytes(length);
    Random content(random_.next());
    std::generate(bytes.begin(), bytes.end(),
                  [&content] { return static_cast<std::byte>(content.next() & 0xffU); });
    const ssize_t written = ::pwrite(fd_.get(), bytes.data(), length, static_cast<off_t>(at));
    if (written < 0) {
        throw_errno("pwrite");
    }
    if (static_cast<std::uint64_t>(written) != length) {
        throw std::runtime_error(fmt::format("pwrite of {} bytes wrote {}", length, written));
    }
    copy_.resize(std::max<std::uint64_t>(copy_.size(), at + length));
    std::copy(bytes.begin(), bytes.end(), copy_.begin() + static_cast<std::ptrdiff_t>(at));
}

void Checker::do_truncate() {
    const std::uint64_t length = random_.below(most_bytes_ + 1);
    note(fmt::format("truncate {:#x}", length));
    if (::ftruncate(fd_.get(), static_cast<off_t>(length)) != 0) {
        throw_errno("ftruncate");
    }
    copy_.resize(length);
}

void Checker::do_sync() {
    note("fsync");
    if (::fsync(fd_.get()) != 0) {
        throw_errno("fsync");
    }
}

void Checker::do_reopen() {
    note("close, open");
    open(0);
}

void Checker::do_map() {
    if (copy_.empty()) {
        return;
    }
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t at = random_.below(copy_.size()) / page * page;
    const std::uint64_t length = std::min<std::uint64_t>(pick_length(), copy_.size() - at);
    note(fmt::format("map {:#x} {:#x}", at, length));
    void* const mapped =
        ::mmap(nullptr, length, PROT_READ, MAP_SHARED, fd_.get(), static_cast<off_t>(at));
    if (mapped == MAP_FAILED) {
        throw_errno("mmap");
    }
    const auto* const first = static_cast<const std::byte*>(mapped);
    const std::vector<std::byte> bytes(first, first + length);
    ::munmap(mapped, length);
    compare("map", at, bytes);
}

void Checker::compare_all() {
    const off_t end = ::lseek(fd_.get(), 0, SEEK_END);
    if (end < 0) {
        throw_errno("lseek");
    }
    if (static_cast<std::uint64_t>(end) != copy_.size()) {
        throw Mismatch(fmt::format("the file has {} bytes, expected {}", end, copy_.size()));
    }
    std::vector<std::byte> bytes(copy_.size());
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t got =
            ::pread(fd_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
        if (got <= 0) {
            throw_errno("pread of the whole file");
        }
        done += static_cast<std::size_t>(got);
    }
    compare("final read", 0, bytes);
}

void Checker::plant_fault() {
    while (copy_.empty()) {
        do_write();
    }
    const std::uint64_t at = random_.below(copy_.size());
    const std::byte wrong = ~copy_[at];
    if (::pwrite(fd_.get(), &wrong, 1, static_cast<off_t>(at)) != 1) {
        throw_errno("pwrite");
    }
}

void Checker::print_log() const {
    for (const std::string& line : log_) {
        fmt::print(stderr, "    {}\n", line);
    }
}

struct Arguments {
    std::uint64_t operations = 0;
    std::uint64_t seed = 0;
    std::uint64_t size_bytes = kDefaultSizeBytes;
    bool self_test = false;
    std::string path;
};

int run(const Arguments& arguments) {
    fmt::print("fsx: {} operations, seed {}\n", arguments.operations, arguments.seed);
    std::fflush(stdout);
    Checker checker(arguments.path, arguments.seed, arguments.size_bytes);
    try {
        for (std::uint64_t done = 0; done < arguments.operations; ++done) {
            checker.step();
        }
        if (arguments.self_test) {
            checker.plant_fault();
        }
        checker.compare_all();
    } catch (const std::exception& error) {
        const bool found = dynamic_cast<const Mismatch*>(&error) != nullptr;
        if (arguments.self_test && found) {
            fmt::print("fsx: the planted fault was found: {}\n", error.what());
            return 0;
        }
        fmt::print(stderr, "fsx: seed {}: {}\nthe last operations:\n", arguments.seed,
                   error.what());
        checker.print_log();
        return 1;
    }
    if (arguments.self_test) {
        fmt::print(stderr, "fsx: the planted fault was not found\n");
        return 1;
    }
    return 0;
}

bool parse_number(const char* text, std::uint64_t& number) {
    const auto parsed = mtdfuse::parse_size(text);
    number = parsed.value_or(0);
    return parsed.has_value();
}

bool parse(int count, char** words, Arguments& arguments) {
    static constexpr option kOptions[] = {
        {"ops", required_argument, nullptr, 'n'},  {"seed", required_argument, nullptr, 's'},
        {"size", required_argument, nullptr, 'b'}, {"self-test", no_argument, nullptr, 't'},
        {"help", no_argument, nullptr, 'h'},       {nullptr, 0, nullptr, 0}};
    arguments.seed =
        static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    for (int letter; (letter = getopt_long(count, words, "", kOptions, nullptr)) != -1;) {
        bool right = letter == 't';
        switch (letter) {
        case 'n':
            right = parse_number(optarg, arguments.operations);
            break;
        case 's':
            right = parse_number(optarg, arguments.seed);
            break;
        case 'b':
            right = parse_number(optarg, arguments.size_bytes) && arguments.size_bytes > 0;
            break;
        case 't':
            arguments.self_test = true;
            break;
        default:
            break;
        }
        if (!right) {
            return false;
        }
    }
    if (count - optind != 1 || arguments.operations == 0) {
        return false;
    }
    arguments.path = words[optind];
    return true;
}

} // namespace

int main(int argument_count, char** words) {
    try {
        Arguments arguments;
        if (!parse(argument_count, words, arguments)) {
            std::fputs(kHelp, stderr);
            return 2;
        }
        return run(arguments);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "fsx: %s\n", error.what());
        return 1;
    }
}
