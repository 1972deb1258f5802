#!/usr/bin/env bash
# One write(2) of a whole large image arrives whole, and is short only at the device's end.
source "$(dirname "$0")/lib.sh"
requires_fuse

size=$((64 << 20))
requires_free_bytes $((3 * size))
make_image "$work/flash" $size
mount_device "$work/flash" "$mnt"

expect_equal 'one write of 64 MiB' "pfill = $size
pread = $size all 3c
close = 0" "$(io "$mnt/mtd0" rw "pfill:0:$size:3c" "pread:0:$size")"
expect_equal 'one write over the end is cut there' "pfill = $((size - 4096))
pfill = -1 ENOSPC
pread = $size mixed
pread = $((size - 4096)) all c3
pread = 0
close = 0" "$(io "$mnt/mtd0" rw "pfill:4096:$size:c3:16" "pfill:$size:1:00" "pread:0:$size" "pread:4096:$size" "pread:$size:1" || true)"
unmount
expect_bytes 'the front in the image file' "$work/flash" 0 4096 3c
expect_bytes 'the rest in the image file' "$work/flash" 4096 $((size - 4096)) c3
