#!/usr/bin/env bash
# O_TRUNC and ftruncate succeed and change nothing; one that claims bytes nobody wrote fails at
# close; fallocate is refused.
source "$(dirname "$0")/lib.sh"
requires_fuse

size=$((1 << 20))
make_data "$work/flash" $size
cp "$work/flash" "$work/before"
mount_device "$work/flash" "$mnt"

: >"$mnt/mtd0"
expect_same 'after : > node' "$work/before" "$mnt/mtd0"
expect_equal 'open with O_TRUNC' 'close = 0' "$(io "$mnt/mtd0" rw+trunc)"
for bytes in 0 1 $size; do
    expect_status 0 truncate -s "$bytes" "$mnt/mtd0"
    expect_equal "size after truncate -s $bytes" $size "$(stat -c %s "$mnt/mtd0")"
    expect_same "bytes after truncate -s $bytes" "$work/before" "$mnt/mtd0"
done
expect_equal 'ftruncate past the end' $'ftruncate = 0\nclose = -1 EIO' "$(io "$mnt/mtd0" rw ftruncate:$((2 * size)) || true)"
expect_equal 'size after it' $size "$(stat -c %s "$mnt/mtd0")"
expect_match 'fallocate' '^fallocate = -1 ENODEV' "$(io "$mnt/mtd0" rw fallocate:0:4096 || true)"
expect_same 'after fallocate' "$work/before" "$mnt/mtd0"
expect_failure chmod 0777 "$mnt/mtd0"
expect_equal 'mode of the node' 600 "$(stat -c %a "$mnt/mtd0")"
expect_equal 'mode of the read-only node' 400 "$(stat -c %a "$mnt/mtd0ro")"
