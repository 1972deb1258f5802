#!/usr/bin/env bash
# Geometry that does not fit is refused with the rule in the message; --size smaller than the image
# uses its front; `none` needs --size and is gone at unmount.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_data "$work/flash" $((1 << 20)) 7
before=$(checksum "$work/flash")
head -c 1000000 "$work/flash" >"$work/odd"

refused() { # REGEX ARGUMENTS...
    local regex=$1
    shift
    expect_failure mtdfuse "$@"
    expect_match "message of: mtdfuse $*" "$regex" "$output"
    is_mounted "$mnt" && fail "mounted: mtdfuse $*"
    return 0
}
refused 'multiple.*(erase ?size|128K|131072)|(erase ?size|128K|131072).*multiple' "$work/odd" "$mnt"
refused '917504|896K' "$work/odd" "$mnt" # the nearest size that would be right
refused 'multiple' --size 1000000 "$work/flash" "$mnt"
refused 'multiple' --erasesize 3K "$work/flash" "$mnt"
refused 'larger|2M|2097152' --size 2M "$work/flash" "$mnt"
refused 'erase ?size' --erasesize 0 "$work/flash" "$mnt"
refused 'erase ?size.*(256|smaller|least)' --erasesize 128 "$work/flash" "$mnt"
refused 'erase ?size' --erasesize 2G "$work/flash" "$mnt"
refused 'size' --size 0 "$work/flash" "$mnt"
refused '--size' none "$mnt"
refused 'multiple' --size 1000 none "$mnt"
expect_equal 'the image' "$before" "$(checksum "$work/flash")"

mount_device --size 512K --name 'front part' "$work/flash" "$mnt"
expect_equal 'the front of the image' "$(head -c 524288 "$work/flash" | md5sum)" "$(md5sum <"$mnt/mtd0")"
expect_match 'the name' '^mtd0: 00080000 00020000 "front part"$' "$(cat "$mnt/proc/mtd")"
echo all >"$mnt/ctl/mtd0/erase"
unmount
expect_equal 'the rest of the image' "$before" "$(
    cp "$work/flash" "$work/now"
    make_data "$work/again" $((1 << 20)) 7
    dd if="$work/again" of="$work/now" bs=512K count=1 conv=notrunc status=none
    checksum "$work/now"
)"

mount_device --size 0x3c00000 none "$mnt"
expect_equal 'a size that is no power of two' 62914560 "$(cat "$mnt/sys/class/mtd/mtd0/size")"
expect_bytes 'memory starts erased' "$mnt/mtd0" 0 131072 ff
io "$mnt/mtd0" w pfill:62914559:1:00 >/dev/null
unmount
mount_device --size 0x3c00000 none "$mnt"
expect_bytes 'and is gone at unmount' "$mnt/mtd0" 62783488 131072 ff
