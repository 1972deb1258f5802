#!/usr/bin/env bash
# A block device that holds something is refused before a byte of it changes; --force takes one
# that holds a file system, never one that is mounted.
source "$(dirname "$0")/lib.sh"
requires mkfs.ext4 sfdisk
requires_fuse
requires_loop

size=$((8 << 20))
refused() { # WHAT REGEX ARGUMENTS...
    local what=$1 regex=$2 before after
    shift 2
    before=$(checksum "$work/disk")
    expect_status 1 mtdfuse "$@" "$loop" "$mnt"
    expect_match "$what" "$regex" "$output"
    expect_match "$what: names the device" "$loop" "$output"
    is_mounted "$mnt" && fail "$what: mounted"
    after=$(checksum "$work/disk")
    expect_equal "$what: unchanged" "$before" "$after"
}

truncate -s $size "$work/disk"
mkfs.ext4 -q "$work/disk"
attach_loop "$work/disk"
refused 'an ext4 file system' 'ext4' --log "$work/log"
expect_match 'names the way out' '--force' "$output"

mkdir "$work/fs"
mount "$loop" "$work/fs"
refused 'a mounted one' 'mounted|in use'
refused 'a mounted one, forced' 'mounted|in use' --force
umount "$work/fs"

mount_device --force "$loop" "$mnt"
expect_bytes 'the superblock shows through' "$mnt/mtd0" 1080 2 53ef
unmount
detach_loop "$loop"

truncate -s 0 "$work/disk"
truncate -s $size "$work/disk"
printf 'label: dos\n2048,,83\n' | sfdisk -q "$work/disk"
attach_loop "$work/disk"
refused 'a partition table' 'partition'
detach_loop "$loop"

# What belongs on flash is welcome: jffs2, squashfs and the like.
make_image "$work/disk" $size
printf '\x55\x42\x49\x23\x01' | dd of="$work/disk" conv=notrunc status=none # an UBI header
attach_loop "$work/disk"
mount_device "$loop" "$mnt"
unmount
