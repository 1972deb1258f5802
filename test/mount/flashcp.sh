#!/usr/bin/env bash
# flashcp, plain and -v, over a device that holds other data: the image arrives, the rest of the
# last block is erased, the blocks behind it keep their bytes.
source "$(dirname "$0")/lib.sh"
requires flashcp
requires_fuse

make_data "$work/flash" $((4 << 20)) 7
cp "$work/flash" "$work/before"
mount_device --erasesize 64K "$work/flash" "$mnt"

check_flashed() {
    local length=$1 end=$((($1 + 65535) / 65536 * 65536))
    head -c "$length" "$mnt/mtd0" >"$work/front"
    expect_same 'the image' "$work/firmware" "$work/front"
    expect_bytes 'the rest of its last block' "$mnt/mtd0" "$length" $((end - length)) ff
    expect_equal 'the blocks behind' "$(tail -c +$((end + 1)) "$work/before" | md5sum)" \
        "$(tail -c +$((end + 1)) "$mnt/mtd0" | md5sum)"
}

make_data "$work/firmware" 1000001 1
expect_status 0 flashcp "$work/firmware" "$mnt/mtd0"
check_flashed 1000001

make_data "$work/firmware" 2000003 2
expect_status 0 flashcp -v "$work/firmware" "$mnt/mtd0"
expect_match 'flashcp -v verifies' 'Verifying data:.*100%' "$output"
check_flashed 2000003

make_data "$work/firmware" $(((4 << 20) + 1)) 3
cp "$mnt/mtd0" "$work/kept"
expect_failure flashcp "$work/firmware" "$mnt/mtd0"
expect_match 'an image larger than the device' "won.t fit" "$output"
expect_same 'nothing written by it' "$work/kept" "$mnt/mtd0"

unmount
expect_same 'the image file after unmount' "$work/kept" "$work/flash"
