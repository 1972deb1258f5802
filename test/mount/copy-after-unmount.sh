#!/usr/bin/env bash
# Unmount and copy the image at once, many times: the copy always holds the new bytes, written or
# erased, because close leaves nothing dirty. The daemon may still be ending meanwhile.
source "$(dirname "$0")/lib.sh"
requires_fuse

size=$((1 << 20))
make_image "$work/flash" $size
for round in $(seq 50); do
    mount_device "$work/flash" "$mnt"
    if [ $((round % 2)) = 1 ]; then
        byte=$(printf %02x "$round")
        io "$mnt/mtd0" w "pfill:0:$size:$byte" >/dev/null
    else
        byte=ff
        echo all >"$mnt/ctl/mtd0/erase"
    fi
    umount_fuse "$mnt"
    cp "$work/flash" "$work/copy"
    expect_bytes "round $round" "$work/copy" 0 $size "$byte"
done
