#!/usr/bin/env bash
# Large writes from buffers that are not page aligned arrive whole: the kernel cuts them at pages
# of the user's buffer.
source "$(dirname "$0")/lib.sh"
requires mtd_debug
requires_fuse

size=$((9 << 20))
make_image "$work/flash" $size
make_data "$work/data" $((8 << 20))
mount_device "$work/flash" "$mnt"
node=$mnt/mtd0

for skew in 1 16 511 4095; do
    for length in $((1 << 20)) $((8 << 20)); do
        expect_equal "$length bytes from a buffer $skew bytes past a page" \
            "pfill = $length
pread = $length all 5a
pread = 512 all ff
close = 0" "$(io "$node" rw "pfill:512:$length:5a:$skew" "pread:512:$length" pread:0:512)"
        echo all >"$mnt/ctl/mtd0/erase"
    done
done

expect_status 0 mtd_debug write "$node" 12345 $((8 << 20)) "$work/data"
expect_status 0 mtd_debug read "$node" 12345 $((8 << 20)) "$work/back"
expect_same 'mtd_debug write of 8 MiB at an odd offset' "$work/data" "$work/back"
echo all >"$mnt/ctl/mtd0/erase"
expect_status 0 dd if="$work/data" of="$node" bs=8M status=none
head -c $((8 << 20)) "$node" >"$work/back"
expect_same 'dd bs=8M' "$work/data" "$work/back"
