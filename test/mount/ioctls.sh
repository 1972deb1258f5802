#!/usr/bin/env bash
# Erase by ioctl: what is not on the block grid or not inside the device is EINVAL and changes
# nothing; who did not open for writing gets EPERM; what nobody knows is ENOTTY, what FUSE cannot
# carry EOPNOTSUPP.
source "$(dirname "$0")/lib.sh"
requires_fuse

size=$((1 << 20))
make_data "$work/flash" $size 7
cp "$work/flash" "$work/before"
mount_device --erasesize 64K "$work/flash" "$mnt"
node=$mnt/mtd0

answer() { # FLAGS STEP
    io "$node" "$@" | head -n 1 || true
}
for range in 1:65536 0:65535 0:1 65537:65536 $size:65536 $((size - 65536)):131072 \
    18446744073709486080:65536 65536:18446744073709486080; do
    expect_equal "MEMERASE64 $range" 'erase = -1 EINVAL' "$(answer rw "erase:$range")"
done
for range in 1:65536 0:65535 $size:65536 4294901760:65536 65536:4294901760; do
    expect_equal "MEMERASE $range" 'erase32 = -1 EINVAL' "$(answer rw "erase32:$range")"
done
expect_equal 'MEMERASE64 on a handle for reading' 'erase = -1 EPERM' "$(answer r erase:0:65536)"
expect_equal 'an unknown MTD command' 'ioctl = -1 ENOTTY' "$(answer rw ioctl:0x4d7f)"
expect_equal 'a command of others' 'ioctl = -1 ENOTTY' "$(answer rw ioctl:0x5413)"
expect_equal 'MEMISLOCKED' 'ioctl = -1 EOPNOTSUPP' "$(answer rw ioctl:0x80084d17)"
expect_equal 'MEMLOCK' 'ioctl = -1 EOPNOTSUPP' "$(answer rw ioctl:0x40084d05)"
expect_equal 'MEMWRITE' 'ioctl = -1 EOPNOTSUPP' "$(answer rw ioctl:0xc0304d18)"
expect_match 'the log names mtdfuse-run' 'mtdfuse-run' "$(cat "$work/daemon.log")"
expect_same 'nothing changed' "$work/before" "$node"

expect_equal 'MEMERASE64 of one block' 'erase = 0' "$(answer rw erase:65536:65536)"
expect_equal 'MEMERASE of two' 'erase32 = 0' "$(answer w erase32:196608:131072)"
expect_bytes 'block 1' "$node" 65536 65536 ff
expect_bytes 'blocks 3 and 4' "$node" 196608 131072 ff
expect_equal 'block 2 is untouched' "$(dd if="$work/before" bs=64K skip=2 count=1 status=none | md5sum)" \
    "$(dd if="$node" bs=64K skip=2 count=1 status=none | md5sum)"
