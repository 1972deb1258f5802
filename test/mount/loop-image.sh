#!/usr/bin/env bash
# A block device as IMAGE: it works as a file does, and a read-only one gives a read-only device.
source "$(dirname "$0")/lib.sh"
requires_fuse
requires_loop

size=$((4 << 20))
make_image "$work/disk" $size
make_data "$work/data" 300000
attach_loop "$work/disk"
mount_device "$loop" "$mnt"
expect_equal 'size' $size "$(cat "$mnt/sys/class/mtd/mtd0/size")"
expect_match 'name' "\"${loop##*/}\"" "$(cat "$mnt/proc/mtd")"
expect_status 0 dd if="$work/data" of="$mnt/mtd0" bs=1000 seek=7 status=none
echo 'block 31' >"$mnt/ctl/mtd0/erase"
unmount
head -c 307000 "$loop" | tail -c 300000 >"$work/back"
expect_same 'the loop device holds what was written' "$work/data" "$work/back"
detach_loop "$loop"
head -c 307000 "$work/disk" | tail -c 300000 >"$work/back"
expect_same 'so does the file below it' "$work/data" "$work/back"

attach_loop "$work/disk" --read-only
mount_device "$loop" "$mnt"
expect_equal 'flags of a read-only device' 0x1800 "$(cat "$mnt/sys/class/mtd/mtd0/flags")"
expect_equal 'open for writing' 'open = -1 EACCES' "$(io "$mnt/mtd0" rw || true)"
expect_equal 'erase' 'write = -1 EROFS' "$(io "$mnt/ctl/mtd0/erase" w 'write:all' | head -n 1 || true)"
unmount
