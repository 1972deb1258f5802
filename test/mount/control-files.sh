#!/usr/bin/env bash
# Every control file refuses what it does not understand, with the errno of the matching ioctl and
# the cause in last_error, and changes nothing.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_data "$work/flash" $((1 << 20)) 7
cp "$work/flash" "$work/before"
mount_device --erasesize 64K "$work/flash" "$mnt"
erase=$mnt/ctl/mtd0/erase

refused() { # TEXT ERRNO [REGEX that last_error must match]
    local answer
    answer=$(io "$erase" w "write:$1" | head -n 1 || true)
    expect_equal "write of '$1'" "write = -1 $2" "$answer"
    expect_match "last_error after '$1'" "${3:-.}" "$(last_error)"
}

refused garbage EINVAL garbage
refused $'\n' EINVAL
refused ' ' EINVAL
refused 'block' EINVAL block
refused 'block x' EINVAL x
refused 'block -1' EINVAL '-1'
refused 'block 1 2 3' EINVAL
refused 'block 1 0x' EINVAL
refused 'block 16' EINVAL 16
refused 'block 15 2' EINVAL
refused 'block 99999999999999999999' EINVAL
refused 'block 0 18446744073709551615' EINVAL
refused 'block 1 18446744073709551615' EINVAL
refused 'block 281474976710656' EINVAL # times 64 KiB is 2^64
refused '0' EINVAL
refused '0 -65536' EINVAL
refused '-65536 65536' EINVAL
refused '0 65536 1' EINVAL
refused '1 65536' EINVAL '1'
refused '0 65535' EINVAL '65535'
refused '0 99999999999999999999999999' EINVAL
refused '1048576 65536' EINVAL
refused '983040 131072' EINVAL
refused '65536 18446744073709486080' EINVAL # the sum wraps to 0
refused '0,65536' EINVAL
refused 'all again' EINVAL
refused 'ALL' EINVAL
refused $'block 0\nblock 1' EINVAL
refused $'block 0\nblock 1\n' EINVAL
refused $'0 65536\ngarbage\n' EINVAL
refused "$(head -c 4095 /dev/zero | tr '\0' 1)" EINVAL
refused "$(head -c 65536 /dev/zero | tr '\0' ' ')all" EINVAL
expect_same 'nothing changed' "$work/before" "$mnt/mtd0"

# A zero length inside the device does nothing, as the ioctl.
expect_equal 'a zero length' "$(io "$mnt/mtd0" w erase:0:0 | sed -n 's/^erase/write/;1s/= 0/= 4/p')" \
    "$(io "$erase" w 'write:0 0'$'\n' | head -n 1)"
expect_same 'a zero length erases nothing' "$work/before" "$mnt/mtd0"

# The empty string never reaches a program behind FUSE: write(2) of 0 bytes is answered by the kernel.
expect_status 0 io "$erase" w write:
expect_same 'an empty write erases nothing' "$work/before" "$mnt/mtd0"

# Commands count at any offset, and each write is one.
expect_status 0 io "$erase" w 'write:block 2' 'pwrite:777:block 4'
expect_bytes 'the first command' "$mnt/mtd0" 131072 65536 ff
expect_bytes 'the second, at offset 777' "$mnt/mtd0" 262144 65536 ff

# Files of the chip: any write is a command. Files that cannot be written or read say so.
for name in sync drop_caches; do
    expect_status 0 sh -c "echo 1 >'$mnt/ctl/$name'"
    expect_status 0 sh -c "echo garbage >'$mnt/ctl/$name'"
done
for name in metrics stats/io stats/waf ctl/pid ctl/mtd0/last_error proc/mtd sys/class/mtd/mtd0/size; do
    expect_failure sh -c "echo 1 >'$mnt/$name'"
    expect_match "writing $name" 'Permission denied|Operation not permitted|Input/output' "$output"
    [ -s "$mnt/$name" ] || [ -n "$(cat "$mnt/$name")" ] || fail "$name is empty"
done
