#!/usr/bin/env bash
# flashcp of a static busybox. Debian's busybox-static is built without it; scripts/build-busybox
# makes one from Debian's sources.
source "$(dirname "$0")/lib.sh"
requires_fuse

busybox=${MTDFUSE_BUSYBOX:-$source_dir/build/busybox/busybox}
[ -x "$busybox" ] || busybox=busybox
"$busybox" --list 2>/dev/null | grep -qx flashcp ||
    skip 'needs a busybox with flashcp: run scripts/build-busybox'

make_data "$work/flash" $((1 << 20)) 7
make_data "$work/firmware" 300001 1
mount_device --erasesize 64K "$work/flash" "$mnt"

expect_status 0 "$busybox" flashcp -v "$work/firmware" "$mnt/mtd0"
head -c 300001 "$mnt/mtd0" >"$work/front"
expect_same 'the firmware' "$work/firmware" "$work/front"
# It writes whole buffers of 4 KiB, with zeros behind the end of the file.
end=$(((300001 + 4095) / 4096 * 4096))
expect_bytes 'the rest of its last buffer' "$mnt/mtd0" 300001 $((end - 300001)) 00
expect_bytes 'the rest of its last block' "$mnt/mtd0" $end $((5 * 65536 - end)) ff
