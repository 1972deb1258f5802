#!/usr/bin/env bash
# dd to and from the node: plain, conv=notrunc, seek=, large blocks; the size stays, bytes beside
# the written range stay, the first byte that does not fit is ENOSPC.
source "$(dirname "$0")/lib.sh"
requires_fuse

size=$((4 << 20))
make_data "$work/flash" $size 7
cp "$work/flash" "$work/expected"
make_data "$work/data" 100000
mount_device "$work/flash" "$mnt"
node=$mnt/mtd0

# what dd does to a file of fixed size
overlay() { # OFFSET
    dd if="$work/data" of="$work/expected" conv=notrunc bs=4K seek="$1" oflag=seek_bytes status=none
}

expect_status 0 dd if="$work/data" of="$node" status=none
overlay 0
expect_same 'plain dd replaces the front only' "$work/expected" "$node"

expect_status 0 dd if="$work/data" of="$node" conv=notrunc bs=1000 status=none
expect_same 'dd conv=notrunc' "$work/expected" "$node"

expect_status 0 dd if="$work/data" of="$node" bs=1000 seek=777 status=none
overlay 777000
expect_same 'dd seek=' "$work/expected" "$node"

expect_status 0 dd if="$work/data" of="$node" bs=1000 seek=1234 conv=notrunc status=none
overlay 1234000
expect_same 'dd seek= conv=notrunc' "$work/expected" "$node"

expect_status 0 dd if="$work/data" of="$node" bs=64K oflag=seek_bytes seek=2000001 conv=fsync status=none
overlay 2000001
expect_same 'dd conv=fsync' "$work/expected" "$node"

expect_status 0 dd if="$node" of="$work/back" bs=1M skip=1 count=2 status=none
expect_equal 'dd as reader' "$(tail -c +$(((1 << 20) + 1)) "$work/expected" | head -c $((2 << 20)) | md5sum)" \
    "$(md5sum <"$work/back")"

expect_status 1 dd if="$work/data" of="$node" bs=1000 seek=$((size - 50000)) oflag=seek_bytes status=none
expect_match 'dd over the end' 'No space left on device' "$output"
head -c 50000 "$work/data" | dd of="$work/expected" conv=notrunc bs=4K seek=$((size - 50000)) oflag=seek_bytes status=none
expect_same 'what fitted has arrived' "$work/expected" "$node"
expect_equal 'the size stays' $size "$(stat -c %s "$node")"

unmount
expect_same 'the image after unmount' "$work/expected" "$work/flash"
