#include "signature.hpp"

#include <algorithm>
#include <cerrno>

#include <blkid/blkid.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace mtdfuse::storage {

namespace {

// libblkid's names of what is made for raw flash or is shipped on it read-only.
constexpr std::array<std::string_view, 8> kFlashTypes = {"cramfs",   "erofs",     "jffs2", "romfs",
                                                         "squashfs", "squashfs3", "ubi",   "ubifs"};

struct FreeProbe {
    void operator()(blkid_probe probe) const { blkid_free_probe(probe); }
};
using Probe = std::unique_ptr<blkid_struct_probe, FreeProbe>;

std::string value_of(const Probe& probe, const char* name) {
    const char* value = nullptr;
    if (blkid_probe_lookup_value(probe.get(), name, &value, nullptr) != 0 || value == nullptr)
        return {};
    return value;
}

std::string_view noun_of(std::string_view usage) {
    if (usage == "filesystem")
        return "file system";
    if (usage == "crypto")
        return "encrypted volume";
    return usage == "raid" ? "volume" : "area";
}

Signature describe(const Probe& probe) {
    Signature signature;
    if (const std::string table = value_of(probe, "PTTYPE"); !table.empty()) {
        signature.found = fmt::format("{} partition table", table);
        signature.belongs_on_flash = false;
    }
    const std::string type = value_of(probe, "TYPE");
    if (type.empty())
        return signature;
    signature.found += fmt::format("{}{} {}", signature.found.empty() ? "" : " and ", type,
                                   noun_of(value_of(probe, "USAGE")));
    if (std::find(kFlashTypes.begin(), kFlashTypes.end(), type) == kFlashTypes.end())
        signature.belongs_on_flash = false;
    return signature;
}

} // namespace

Result<Signature> probe_descriptor(int fd, const std::string& path) {
    const Probe probe(blkid_new_probe());
    if (!probe || blkid_probe_set_device(probe.get(), fd, 0, 0) != 0)
        return fail(EIO, fmt::format("libblkid cannot examine '{}'", path));
    blkid_probe_enable_superblocks(probe.get(), 1);
    blkid_probe_set_superblocks_flags(probe.get(), BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE);
    blkid_probe_enable_partitions(probe.get(), 1);
    switch (blkid_do_safeprobe(probe.get())) {
    case 0:
        return describe(probe);
    case 1:
        return Signature{};
    case -2: // libblkid's word for: more than one, and it cannot tell which is meant
        return Signature{"several signatures", false};
    default:
        return fail(EIO, fmt::format("libblkid cannot read '{}'", path));
    }
}

Result<std::string> probe_signature(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!fd)
        return fail_errno(fmt::format("cannot open '{}'", path));
    struct stat about {};
    if (::fstat(fd.get(), &about) != 0)
        return fail_errno(fmt::format("cannot examine '{}'", path));
    if (S_ISREG(about.st_mode) && about.st_size == 0)
        return std::string();
    return probe_descriptor(fd.get(), path).map([](const Signature& signature) {
        return signature.found;
    });
}

} // namespace mtdfuse::storage
