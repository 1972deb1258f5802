#include "attributes.hpp"

#include <sstream>

#include <fmt/format.h>

namespace mtdfuse::replay {
namespace {

constexpr std::string_view kProcHeader = "dev:    size   erasesize  name";

struct Recorded {
    std::string proc;
    std::vector<std::pair<std::string, std::string>> attributes;
};

Recorded parse(const std::string& text) {
    Recorded recorded;
    std::istringstream stream(text);
    std::string row;
    bool in_proc = false;
    while (std::getline(stream, row)) {
        in_proc = row == kProcHeader || (in_proc && row.starts_with("mtd"));
        if (in_proc) {
            recorded.proc += row + "\n";
            continue;
        }
        const std::size_t colon = row.find(": ");
        if (colon != std::string::npos) {
            recorded.attributes.emplace_back(row.substr(0, colon), row.substr(colon + 2) + "\n");
        } else if (!recorded.attributes.empty()) {
            recorded.attributes.back().second += row + "\n";
        }
    }
    return recorded;
}

bool equal(const std::string& path, const std::string& expected) {
    const Result<std::string> got = read_small_file(path);
    if (!got) {
        fmt::print("{}: {}\n", path, got.error().context);
        return false;
    }
    if (*got != expected) {
        fmt::print("{}:\n    expected {:?}\n    got      {:?}\n", path, expected, *got);
        return false;
    }
    return true;
}

} // namespace

Result<bool> compare_attributes(const std::string& recorded, const std::string& sysfs_folder,
                                const std::string& proc_mtd) {
    const Result<std::string> text = read_small_file(recorded);
    if (!text) {
        return tl::make_unexpected(text.error());
    }
    const Recorded expected = parse(*text);
    unsigned same = 0;
    unsigned different = 0;
    const auto compare = [&](const std::string& path, const std::string& content) {
        unsigned& count = equal(path, content) ? same : different;
        ++count;
    };
    if (!expected.proc.empty() && !proc_mtd.empty()) {
        compare(proc_mtd, expected.proc);
    }
    for (const auto& [name, value] : expected.attributes) {
        compare(fmt::format("{}/{}", sysfs_folder, name), value);
    }
    fmt::print("{}: {} equal, {} different\n", recorded, same, different);
    return different == 0 && same > 0;
}

} // namespace mtdfuse::replay
