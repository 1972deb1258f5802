#!/usr/bin/env bash
# Unmount and mount again at once, many times: never a refusal, never old bytes.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_image "$work/flash" $((1 << 20))
for round in $(seq 50); do
    byte=$(printf %02x "$round")
    mount_device "$work/flash" "$mnt"
    if [ "$round" -gt 1 ]; then expect_bytes "round $round: the last one's bytes" "$mnt/mtd0" 0 131072 "$last"; fi
    io "$mnt/mtd0" w "pfill:0:131072:$byte" >/dev/null
    umount_fuse "$mnt"
    last=$byte
done
