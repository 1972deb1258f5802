// The texts that Linux shows of an MTD device: /sys/class/mtd/* and /proc/mtd, byte for byte
// (drivers/mtd/mtdcore.c).
#pragma once

#include "builder.hpp"

namespace mtdfuse::tree {

// mtdN and mtdNro below `parent`.
void add_sysfs_class(Builder& builder, Inode parent, const mtd::Device& device);

[[nodiscard]] std::string proc_mtd_text(const std::vector<mtd::Device*>& devices);

} // namespace mtdfuse::tree
