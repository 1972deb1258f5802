#!/usr/bin/env bash
# `>>` arrives at the end of the device: ENOSPC, nothing changed.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_data "$work/flash" $((1 << 20))
cp "$work/flash" "$work/before"
mount_device "$work/flash" "$mnt"

expect_failure sh -c "cat '$0' >>'$mnt/mtd0'"
expect_match 'cat >>' 'No space left on device' "$output"
expect_failure sh -c "echo x >>'$mnt/mtd0'"
expect_equal 'append by system call' 'write = -1 ENOSPC' "$(io "$mnt/mtd0" w+append write:x | head -n 1)"
expect_same 'nothing changed' "$work/before" "$mnt/mtd0"
