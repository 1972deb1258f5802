#!/usr/bin/env bash
# What one process wrote or erased, another reads at once, however it reads: through the node, the
# read-only node, with dd, with a cached handle that was open before.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_image "$work/flash" $((1 << 20))
mount_device --erasesize 64K "$work/flash" "$mnt"

seen_everywhere() { # WHEN BYTE
    local file
    for file in mtd0 mtd0ro dev/mtd0 dev/mtd0ro; do
        expect_bytes "$1: cat $file" "$mnt/$file" 0 65536 "$2"
        expect_equal "$1: pread $file" "pread = 4096 all $2" "$(io "$mnt/$file" r pread:0:4096 | head -n 1)"
        expect_equal "$1: sendfile $file" "sendfile = 4096 all $2" "$(io "$mnt/$file" r sendfile:0:4096 | head -n 1)"
    done
    expect_equal "$1: a descriptor open since before" "$2" \
        "$(dd bs=1 count=1 status=none <&7 | od -An -tx1 | tr -d ' ')"
}

exec 7<"$mnt/mtd0ro"
for byte in aa 55 00; do
    io "$mnt/mtd0" w "pfill:0:65536:$byte" >/dev/null
    seen_everywhere "after a write of $byte" $byte
    echo 'block 0' >"$mnt/ctl/mtd0/erase"
    seen_everywhere 'after an erase through ctl' ff
    io "$mnt/mtd0" w "pfill:0:65536:$byte" erase:0:65536 >/dev/null
    seen_everywhere 'after an erase by ioctl' ff
done
exec 7<&-
