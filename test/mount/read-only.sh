#!/usr/bin/env bash
# A read-only device: --ro, -o ro, and an image that cannot be written. Open for writing is EACCES,
# the control files EROFS, the attributes say so; mtd0ro is read-only on every device.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_data "$work/flash" $((1 << 20)) 7
cp "$work/flash" "$work/before"

check_read_only() { # WHAT
    local flags
    for flags in rw w rw+trunc w+append; do
        expect_match "$1: open $flags" '^open = -1 (EACCES|EROFS)$' "$(io "$mnt/mtd0" $flags || true)"
    done
    expect_equal "$1: ctl erase" 'write = -1 EROFS' "$(io "$mnt/ctl/mtd0/erase" w write:all | head -n 1 || true)"
    expect_match "$1: last_error" 'read-only' "$(last_error)"
    expect_equal "$1: MEMERASE64" 'erase = -1 EPERM' "$(io "$mnt/mtd0" r erase:0:131072 | head -n 1 || true)"
    expect_equal "$1: flags" 0x1800 "$(cat "$mnt/sys/class/mtd/mtd0/flags")"
    expect_same "$1: reads" "$work/before" "$mnt/mtd0"
    expect_same "$1: the image" "$work/before" "$work/flash"
}

mount_device --ro "$work/flash" "$mnt"
check_read_only --ro
unmount
mount_device -o ro "$work/flash" "$mnt"
check_read_only '-o ro'
unmount

mount_device "$work/flash" "$mnt"
expect_equal 'mtd0ro of a writable device' 'open = -1 EACCES' "$(io "$mnt/mtd0ro" rw || true)"
expect_equal 'erase on mtd0ro' 'erase = -1 EPERM' "$(io "$mnt/mtd0ro" r erase:0:131072 | head -n 1 || true)"
unmount
expect_same 'the image at the end' "$work/before" "$work/flash"
