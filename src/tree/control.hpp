// The control files: what a write to them does, and how their refusals are told.
#pragma once

#include "builder.hpp"

namespace mtdfuse::tree {

// The longest command: longer than any that means something.
inline constexpr std::size_t kMaxCommandBytes = 4096;

// erase and last_error below `directory` (ctl/mtdN).
void add_device_control(Builder& builder, Inode directory, mtd::Device& device, Log& log);

// sync, drop_caches and pid below `directory` (ctl). `devices` are of one chip, one at least.
void add_chip_control(Builder& builder, Inode directory, const std::vector<mtd::Device*>& devices,
                      Log& log);

} // namespace mtdfuse::tree
