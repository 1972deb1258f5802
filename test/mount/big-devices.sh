#!/usr/bin/env bash
# Devices of 4 GiB, of one block less and of 6 GiB (sparse images): MEMGETINFO shows the size
# modulo 2^32 as its field is 32 bits wide, sysfs the whole; erase and I/O reach the far end and
# never wrap into the front.
source "$(dirname "$0")/lib.sh"
requires_fuse

block=131072
for size in $((4 << 30)) $(((4 << 30) - block)) $((6 << 30)); do
    truncate -s $size "$work/flash"
    mount_device "$work/flash" "$mnt"
    node=$mnt/mtd0
    last=$((size - block))

    expect_match "MEMGETINFO of $size" "^getinfo = 0 size=$((size % (1 << 32))) erasesize=131072" "$(io "$node" r getinfo)"
    expect_equal "sysfs size of $size" "$size" "$(cat "$mnt/sys/class/mtd/mtd0/size")"
    expect_equal "node of $size" "$size" "$(stat -c %s "$node")"
    expect_match "/proc/mtd of $size" "^mtd0: $(printf %08x $size) 00020000 " "$(cat "$mnt/proc/mtd")"

    expect_equal "I/O and MEMERASE64 at the end of $size" \
        "pfill = 4096
pread = 4096 all aa
erase = 0
pread = $block all ff
pread = $block all 00
pread = $block all 00
pfill = 4096
pfill = -1 ENOSPC
close = 0" \
        "$(io "$node" rw "pfill:$((size - 4096)):4096:aa:3" "pread:$((size - 4096)):8192" "erase:$last:$block" \
            "pread:$last:$block" "pread:0:$block" "pread:$((last - block)):$block" \
            "pfill:$((size - 4096)):4096:bb" "pfill:$size:1:cc" || true)"

    # MEMERASE has 32-bit fields: an offset there is an offset in the first 4 GiB, and nothing else.
    if [ $size -gt $((4 << 30)) ]; then
        io "$node" w "pfill:0:$block:11" "pfill:$((4 << 30)):$block:22" >/dev/null
        expect_equal 'MEMERASE of block 0' 'erase32 = 0' "$(io "$node" w "erase32:0:$block" | head -n 1)"
        expect_bytes 'block 0' "$node" 0 $block ff
        expect_bytes 'the block 4 GiB behind it' "$node" $((4 << 30)) $block 22
        echo "$((4 << 30)) $block" >"$mnt/ctl/mtd0/erase"
        expect_bytes 'erased through ctl' "$node" $((4 << 30)) $block ff
    else
        expect_equal "MEMERASE past the end of $size" 'erase32 = -1 EINVAL' \
            "$(io "$node" w "erase32:$(((size - block) % (1 << 32))):$((2 * block))" | head -n 1 || true)"
    fi
    unmount
    expect_bytes "the last bytes of the image of $size" "$work/flash" $((size - 4096)) 4096 bb
    blocks=$(stat -c %b "$work/flash")
    [ "$blocks" -lt 8192 ] || fail "the image of $size does not stay sparse: $blocks blocks of 512 bytes"
    rm "$work/flash"
done
