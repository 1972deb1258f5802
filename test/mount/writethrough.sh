#!/usr/bin/env bash
# --cache writethrough: a write is in the image before it is answered; the file is still open.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_image "$work/flash" $((1 << 20))
mount_device --cache writethrough "$work/flash" "$mnt"
exec 8<>"$mnt/mtd0"
printf 'abcd' >&8
expect_bytes 'at once' "$work/flash" 0 4 61626364
printf 'efgh' >&8
expect_bytes 'and again' "$work/flash" 4 4 65666768
exec 8>&-
unmount

# With writeback the same write may wait: nothing here may depend on when.
mount_device --cache writeback "$work/flash" "$mnt"
io "$mnt/mtd0" w write:xyz >/dev/null
expect_bytes 'writeback, after close' "$work/flash" 0 3 78797a
