// io FILE FLAGS STEP... - system calls on one open file, and what each answered.
//
// FLAGS: r, w or rw, then any of +trunc +creat +append +sync +direct. Steps (numbers in bytes):
//   write:TEXT  pwrite:AT:TEXT  pfill:AT:LENGTH:BYTE[:SKEW]  pread:AT:LENGTH  fsync  ftruncate:SIZE
//   erase:AT:LENGTH  erase32:AT:LENGTH  getinfo  ioctl:COMMAND  sendfile:AT:LENGTH  seek:AT
//   mode:VALUE  fallocate:AT:LENGTH  wait
// pfill writes LENGTH bytes of BYTE in one call from a buffer that starts SKEW bytes past a page
// boundary; pread and sendfile print the length and the CRC-free summary "all XX" or "mixed";
// wait reads a line from stdin, so that a test can act while the file is open. One line per step,
// `name = value` or `name = -1 ERRNO`; the last line is close's. Exit status 0 if all succeeded.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>
#include <mtd/mtd-user.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <unistd.h>

namespace {

constexpr std::size_t kPageBytes = 4096;

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    for (;;) {
        const std::size_t to = text.find(separator, from);
        parts.push_back(text.substr(from, to == std::string::npos ? to : to - from));
        if (to == std::string::npos)
            return parts;
        from = to + 1;
    }
}

std::uint64_t number(const std::string& text) {
    return std::strtoull(text.c_str(), nullptr, 0);
}

std::string describe(std::span<const std::uint8_t> bytes) {
    if (bytes.empty())
        return "";
    for (const std::uint8_t byte : bytes)
        if (byte != bytes[0])
            return " mixed";
    char text[16];
    std::snprintf(text, sizeof text, " all %02x", bytes[0]);
    return text;
}

bool report(const std::string& name, long long value, const std::string& more = "") {
    if (value < 0) {
        const char* errno_name = strerrorname_np(errno);
        std::cout << name << " = -1 " << (errno_name ? errno_name : std::to_string(errno)) << "\n";
    } else {
        std::cout << name << " = " << value << more << "\n";
    }
    std::cout.flush();
    return value >= 0;
}

int open_flags(const std::string& text) {
    const std::vector<std::string> words = split(text, '+');
    int flags = words[0] == "r" ? O_RDONLY : words[0] == "w" ? O_WRONLY : O_RDWR;
    for (const std::string& word : words) {
        if (word == "trunc")
            flags |= O_TRUNC;
        else if (word == "creat")
            flags |= O_CREAT;
        else if (word == "append")
            flags |= O_APPEND;
        else if (word == "sync")
            flags |= O_SYNC;
        else if (word == "direct")
            flags |= O_DIRECT;
    }
    return flags;
}

bool fill(int fd, const std::vector<std::string>& words) {
    const std::size_t length = number(words.at(2));
    const std::size_t skew = words.size() > 4 ? number(words[4]) : 0;
    void* memory = std::aligned_alloc(
        kPageBytes, (skew + length + kPageBytes - 1) / kPageBytes * kPageBytes + kPageBytes);
    if (memory == nullptr)
        return report("pfill", -1);
    auto* from = static_cast<std::uint8_t*>(memory) + skew;
    std::memset(from, static_cast<int>(std::strtoul(words.at(3).c_str(), nullptr, 16)), length);
    const bool done =
        report("pfill", pwrite(fd, from, length, static_cast<off_t>(number(words.at(1)))));
    std::free(memory);
    return done;
}

bool read_back(int fd, const std::vector<std::string>& words) {
    std::vector<std::uint8_t> into(number(words.at(2)));
    const ssize_t n = pread(fd, into.data(), into.size(), static_cast<off_t>(number(words.at(1))));
    return report("pread", n,
                  n > 0 ? describe(std::span(into).first(static_cast<std::size_t>(n))) : "");
}

// sendfile to a pipe and read it back: the way of busybox cat, past direct I/O.
bool send(int fd, const std::vector<std::string>& words) {
    int ends[2];
    if (pipe(ends) != 0)
        return report("sendfile", -1);
    auto at = static_cast<off_t>(number(words.at(1)));
    const std::size_t length = number(words.at(2)); // must fit in a pipe: 64 KiB
    const ssize_t n = sendfile(ends[1], fd, &at, length);
    const int sent_errno = errno;
    std::vector<std::uint8_t> into(n > 0 ? static_cast<std::size_t>(n) : 0);
    if (n > 0 && read(ends[0], into.data(), into.size()) != n)
        into.clear();
    close(ends[0]);
    close(ends[1]);
    errno = sent_errno;
    return report("sendfile", n, describe(into));
}

bool erase(int fd, const std::vector<std::string>& words) {
    if (words[0] == "erase32") {
        erase_info_user range{static_cast<std::uint32_t>(number(words.at(1))),
                              static_cast<std::uint32_t>(number(words.at(2)))};
        return report("erase32", ioctl(fd, MEMERASE, &range));
    }
    erase_info_user64 range{number(words.at(1)), number(words.at(2))};
    return report("erase", ioctl(fd, MEMERASE64, &range));
}

bool get_info(int fd) {
    mtd_info_user info{};
    const int result = ioctl(fd, MEMGETINFO, &info);
    return report("getinfo", result,
                  " size=" + std::to_string(info.size) + " erasesize=" +
                      std::to_string(info.erasesize) + " flags=" + std::to_string(info.flags));
}

bool run_step(int fd, const std::string& step) {
    const std::vector<std::string> words = split(step, ':');
    const std::string& name = words[0];
    if (name == "write")
        return report(name, write(fd, step.data() + 6, step.size() - 6));
    if (name == "pwrite") {
        const std::string text = step.substr(8 + words.at(1).size());
        return report(name,
                      pwrite(fd, text.data(), text.size(), static_cast<off_t>(number(words[1]))));
    }
    if (name == "pfill")
        return fill(fd, words);
    if (name == "pread")
        return read_back(fd, words);
    if (name == "sendfile")
        return send(fd, words);
    if (name == "erase" || name == "erase32")
        return erase(fd, words);
    if (name == "getinfo")
        return get_info(fd);
    if (name == "ioctl") {
        std::uint8_t argument[4096] = {};
        return report(name, ioctl(fd, number(words.at(1)), argument));
    }
    if (name == "mode")
        return report(name, ioctl(fd, MTDFILEMODE, number(words.at(1))));
    if (name == "fsync")
        return report(name, fsync(fd));
    if (name == "seek")
        return report(name, lseek(fd, static_cast<off_t>(number(words.at(1))), SEEK_SET));
    if (name == "ftruncate")
        return report(name, ftruncate(fd, static_cast<off_t>(number(words.at(1)))));
    if (name == "fallocate")
        return report(name, fallocate(fd, 0, static_cast<off_t>(number(words.at(1))),
                                      static_cast<off_t>(number(words.at(2)))));
    if (name == "wait") {
        std::string line;
        std::getline(std::cin, line);
        return report(name, 0);
    }
    std::cerr << "io: unknown step " << step << "\n";
    std::exit(2);
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::cerr << "usage: io FILE FLAGS STEP...\n";
        return 2;
    }
    const int fd = open(argv[1], open_flags(argv[2]), 0600);
    if (fd < 0) {
        report("open", -1);
        return 1;
    }
    bool all = true;
    for (int i = 3; i < argc; ++i)
        all = run_step(fd, argv[i]) && all;
    all = report("close", close(fd)) && all;
    return all ? 0 : 1;
}
