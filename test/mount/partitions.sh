#!/usr/bin/env bash
# --parts: each partition is a device of its own, in sysfs, /proc/mtd, ctl and at its node, and
# nothing done through one reaches another. What cannot be is refused, and changes nothing.
source "$(dirname "$0")/lib.sh"
requires mtd_debug flashcp
requires_fuse

make_data "$work/flash" $((1 << 20)) 7
cp "$work/flash" "$work/expected"

refused() { # STATUS REGEX ARGUMENTS...
    local status=$1 regex=$2
    shift 2
    expect_status "$status" mtdfuse "$@" "$work/flash" "$mnt"
    expect_match "message of: mtdfuse $*" "$regex" "$output"
    is_mounted "$mnt" && fail "mounted: mtdfuse $*"
    return 0
}
refused 2 '--parts.*closing parenthesis' --parts '64K(a'
refused 2 '--parts needs a value' --parts ''
refused 2 'nothing can follow "a"' --parts '-(a),64K'
refused 2 'parts: .*0' --parts '0(a)'
refused 2 'in --parts' --parts '-(a)' --name x
refused 2 'smaller than one erase block.*64K' --erasesize 64K --size 1M --parts '32K(a),-(b)'
refused 2 'does not continue partition "a"' --parts '64K(a)rw'
refused 2 'does not begin with the size' --parts '64K(a),'
refused 1 'smaller than one erase block' --erasesize 64K --parts '64K(a),940K(b),-(c)'
refused 1 '--parts.*"b".*overlap' --erasesize 64K --parts '128K(a),64K@64K(b)'
refused 1 '--parts.*"b".*room for 960K' --erasesize 64K --parts '64K(a),1M(b)'
expect_same 'the image after refusals' "$work/expected" "$work/flash"

# A gap after boot, an odd piece at the end.
parts='128K(boot)ro,64K@192K(env),512K(root fs),-(odd)'
mount_device --erasesize 64K --size 1M --parts "$parts" "$work/flash" "$mnt"
expect_equal 'proc/mtd' 'dev:    size   erasesize  name
mtd0: 00020000 00010000 "boot"
mtd1: 00010000 00010000 "env"
mtd2: 00080000 00010000 "root fs"
mtd3: 00040000 00010000 "odd"' "$(cat "$mnt/proc/mtd")"
expect_equal 'the nodes' 'mtd0 mtd0ro mtd1 mtd1ro mtd2 mtd2ro mtd3 mtd3ro' "$(cd "$mnt" && echo mtd*)"
expect_equal 'offsets' '0 196608 262144 786432' "$(cat "$mnt"/sys/class/mtd/mtd[0-3]/offset | xargs)"
expect_equal 'sizes' '131072 65536 524288 262144' "$(cat "$mnt"/sys/class/mtd/mtd[0-3]/size | xargs)"
expect_equal 'devs' '90:0 90:2 90:4 90:6' "$(cat "$mnt"/sys/class/mtd/mtd[0-3]/dev | xargs)"
expect_equal 'flags' '0x1800 0x1c00 0x1c00 0x1c00' "$(cat "$mnt"/sys/class/mtd/mtd[0-3]/flags | xargs)"
expect_match 'mtd_debug info' '^mtd.size = 65536 ' "$(mtd_debug info "$mnt/mtd1")"
expect_match 'its regions' 'regions = 0' "$(mtd_debug info "$mnt/mtd1")"
dd if="$work/flash" of="$work/part" bs=64K skip=4 count=8 status=none
expect_same 'the bytes of mtd2' "$work/part" "$mnt/mtd2"

# By control file, ioctl and write; past the end of each, nothing.
echo all >"$mnt/ctl/mtd1/erase"
expect_status 0 mtd_debug erase "$mnt/mtd2" 65536 65536
expect_failure mtd_debug erase "$mnt/mtd2" 458752 131072
expect_failure bash -c "echo 'block 1' >'$mnt/ctl/mtd1/erase'"
expect_match 'last_error of mtd1' 'ends after block 0' "$(cat "$mnt/ctl/mtd1/last_error")"
expect_equal 'last_error of mtd3' '' "$(cat "$mnt/ctl/mtd3/last_error")"
make_data "$work/new" 100000 9
expect_failure dd if="$work/new" of="$mnt/mtd1" bs=100000 conv=notrunc status=none
expect_status 0 flashcp -v "$work/new" "$mnt/mtd3"
expect_failure bash -c "echo all >'$mnt/ctl/mtd0/erase'"
expect_match 'last_error of mtd0' 'read-only' "$(cat "$mnt/ctl/mtd0/last_error")"
# A file opened for reading erases nothing, and no node of it opens for writing.
expect_equal 'MEMERASE64 on a read-only partition' 'erase = -1 EPERM' \
    "$(io "$mnt/mtd0" r erase:0:65536 | head -n 1 || true)"
for node in mtd0 mtd0ro mtd1ro dev/mtd0 dev/mtd2ro; do
    expect_match "open $node" '^open = -1 (EACCES|EROFS)$' "$(io "$mnt/$node" rw || true)"
done
expect_same 'dev/mtd2 is mtd2' "$mnt/dev/mtd2" "$mnt/mtd2"
expect_equal 'attributes of a partition' "$(ls "$mnt/sys/class/mtd/mtd1")" "$(ls "$mnt/sys/class/mtd/mtd3")"
expect_equal 'uevent' 'MAJOR=90 MINOR=6 DEVNAME=mtd3 DEVTYPE=mtd' "$(xargs <"$mnt/sys/class/mtd/mtd3/uevent")"
expect_equal 'control files' 'mtd0 mtd1 mtd2 mtd3' "$(cd "$mnt/ctl" && echo mtd*)"
expect_equal 'each counter once' '' "$(grep -v '^#' "$mnt/metrics" | cut -d ' ' -f 1 | sort | uniq -d)"
expect_status 0 sh -c "echo 1 >'$mnt/ctl/sync'"
# Root passes the mode, not the device.
expect_failure dd if="$work/new" of="$mnt/mtd0" bs=512 count=1 conv=notrunc status=none
unmount

erase_block() {
    make_image "$work/erased" 65536
    dd if="$work/erased" of="$work/expected" bs=64K seek="$1" conv=notrunc status=none
}
erase_block 5
erase_block 12
erase_block 13
head -c 65536 "$work/new" | dd of="$work/expected" bs=64K seek=3 conv=notrunc status=none
dd if="$work/new" of="$work/expected" bs=64K seek=12 conv=notrunc status=none
expect_same 'the image' "$work/expected" "$work/flash"

# Where one ends the next begins: at the last byte and the one behind it.
mount_device --erasesize 64K --parts '512K(a),512K(b)lk' "$work/flash" "$mnt"
expect_match 'a write over the end is cut' '^pwrite = 1$|^pfill = 1$' "$(io "$mnt/mtd0" w pfill:524287:2:a5 || true)"
expect_match 'a write behind it' 'ENOSPC' "$(io "$mnt/mtd0" w pfill:524288:1:a5 || true)"
expect_match 'an erase behind it' 'EINVAL' "$(io "$mnt/mtd0" w erase:524288:65536 || true)"
expect_match 'an erase over it' 'EINVAL' "$(io "$mnt/mtd0" w erase:458752:131072 || true)"
expect_equal 'a read behind it' 0 "$(dd if="$mnt/mtd0" bs=64K skip=8 status=none | wc -c)"
unmount
printf '\245' | dd of="$work/expected" bs=1 seek=524287 conv=notrunc status=none
expect_same 'the image: one byte' "$work/expected" "$work/flash"

# Off the grid: read-only, and told.
mount_device -o 'erasesize=64K,parts=96K(a)+-(b)' "$work/flash" "$mnt"
expect_equal 'flags off the grid' '0x1800 0x1800' "$(cat "$mnt"/sys/class/mtd/mtd[01]/flags | xargs)"
expect_match 'the log' 'partition "a" is read-only' "$(cat "$work/daemon.log")"
tail -c +98305 "$work/flash" >"$work/part"
expect_same 'the bytes of b' "$work/part" "$mnt/mtd1"
unmount
