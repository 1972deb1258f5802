#!/usr/bin/env bash
# mtd_debug info, read, write and erase on the plain node.
source "$(dirname "$0")/lib.sh"
requires mtd_debug
requires_fuse

make_image "$work/flash" $((4 << 20))
make_data "$work/data" 300032
mount_device --erasesize 64K "$work/flash" "$mnt"

expect_status 0 mtd_debug info "$mnt/mtd0"
expect_match 'type' '^mtd.type = MTD_RAM$' "$output"
expect_match 'size' '^mtd.size = 4194304 \(4M\)$' "$output"
expect_match 'erase size' '^mtd.erasesize = 65536 \(64K\)$' "$output"
expect_match 'write size' '^mtd.writesize = 1 ' "$output"
expect_match 'regions' '^regions = 0$' "$output"

expect_status 0 mtd_debug write "$mnt/mtd0" 100 300032 "$work/data"
expect_status 0 mtd_debug read "$mnt/mtd0" 100 300032 "$work/back"
expect_same 'read back' "$work/data" "$work/back"
expect_bytes 'the byte before' "$mnt/mtd0" 99 1 ff
expect_bytes 'the byte after' "$mnt/mtd0" 300132 1 ff

expect_status 0 mtd_debug erase "$mnt/mtd0" 65536 131072
expect_bytes 'the erased blocks' "$mnt/mtd0" 65536 131072 ff
expect_equal 'the block before the erased ones' \
    "$(head -c $((65536 - 100)) "$work/data" | md5sum)" \
    "$(head -c 65536 "$mnt/mtd0" | tail -c +101 | md5sum)"

# mtd_debug exits 0 or 1 after a failed erase, by version: the message and the bytes count.
output=$(mtd_debug erase "$mnt/mtd0" 1 65536 2>&1) || true
expect_match 'an unaligned erase' 'MEMERASE: Invalid argument' "$output"
output=$(mtd_debug erase "$mnt/mtd0" 4194304 65536 2>&1) || true
expect_match 'an erase past the end' 'MEMERASE: Invalid argument' "$output"
expect_bytes 'nothing erased by the refused calls' "$mnt/mtd0" 0 100 ff
expect_equal 'the block before the erased ones, again' \
    "$(head -c $((65536 - 100)) "$work/data" | md5sum)" \
    "$(head -c 65536 "$mnt/mtd0" | tail -c +101 | md5sum)"

# More than the device holds: what there is.
output=$(mtd_debug read "$mnt/mtd0" 0 5000000 "$work/all" 2>&1) || true
head -c 4194304 "$work/all" >"$work/front"
expect_same 'a read past the end gets what there is' "$work/front" "$mnt/mtd0"
