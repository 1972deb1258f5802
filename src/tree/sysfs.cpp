#include "sysfs.hpp"

#include <fmt/format.h>

namespace mtdfuse::tree {

namespace {

constexpr unsigned kMtdMajor = 90; // Documentation/admin-guide/devices.txt

void add_line(Builder& builder, Inode directory, std::string name, std::string line) {
    builder.text(directory, std::move(name),
                 [text = std::move(line) + '\n']() -> Result<std::string> { return text; });
}

template<class Value>
void add_number(Builder& builder, Inode directory, std::string name, Value value) {
    add_line(builder, directory, std::move(name), std::to_string(value));
}

void add_counter(Builder& builder, Inode directory, std::string name, const mtd::Device& device,
                 std::uint32_t mtd::EccStats::*field) {
    builder.text(directory, std::move(name), [&device, field]() -> Result<std::string> {
        return fmt::format("{}\n", device.ecc_stats().*field);
    });
}

} // namespace

void add_sysfs_class(Builder& builder, Inode parent, const mtd::Device& device) {
    const chip::Geometry& geometry = device.geometry();
    const unsigned minor = 2 * device.index();
    const std::string name = fmt::format("mtd{}", device.index());

    const Inode directory = builder.directory(parent, name);
    add_line(builder, directory, "name", device.name());
    add_line(builder, directory, "type", std::string(chip::type_name(geometry.type)));
    add_line(builder, directory, "flags", fmt::format("{:#x}", device.flags()));
    add_number(builder, directory, "size", geometry.size_bytes);
    add_number(builder, directory, "erasesize", geometry.erasesize_bytes);
    add_number(builder, directory, "writesize", geometry.writesize_bytes);
    add_number(builder, directory, "subpagesize", geometry.writesize_bytes);
    add_number(builder, directory, "oobsize", geometry.oobsize_bytes);
    add_number(builder, directory, "oobavail", 0);
    add_number(builder, directory, "numeraseregions", 0);
    add_line(builder, directory, "dev", fmt::format("{}:{}", kMtdMajor, minor));
    add_number(builder, directory, "ecc_strength", 0);
    add_number(builder, directory, "ecc_step_size", 0);
    add_number(builder, directory, "bitflip_threshold", 0);
    add_counter(builder, directory, "corrected_bits", device, &mtd::EccStats::corrected);
    add_counter(builder, directory, "ecc_failures", device, &mtd::EccStats::failed);
    add_counter(builder, directory, "bad_blocks", device, &mtd::EccStats::bad_blocks);
    add_counter(builder, directory, "bbt_blocks", device, &mtd::EccStats::bbt_blocks);
    add_line(builder, directory, "uevent",
             fmt::format("MAJOR={}\nMINOR={}\nDEVNAME={}\nDEVTYPE=mtd", kMtdMajor, minor, name));

    if (const auto offset_bytes = device.offset_bytes()) {
        add_number(builder, directory, "offset", *offset_bytes);
    }

    // The kernel gives the read-only node no device type, hence no DEVTYPE line.
    const Inode read_only = builder.directory(parent, name + "ro");
    add_line(builder, read_only, "dev", fmt::format("{}:{}", kMtdMajor, minor + 1));
    add_line(builder, read_only, "uevent",
             fmt::format("MAJOR={}\nMINOR={}\nDEVNAME={}ro", kMtdMajor, minor + 1, name));
}

std::string proc_mtd_text(const std::vector<mtd::Device*>& devices) {
    std::string text = "dev:    size   erasesize  name\n";
    for (const mtd::Device* device : devices) {
        text += fmt::format("mtd{}: {:08x} {:08x} \"{}\"\n", device->index(),
                            device->geometry().size_bytes, device->geometry().erasesize_bytes,
                            device->name());
    }
    return text;
}

} // namespace mtdfuse::tree
