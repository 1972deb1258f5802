#!/usr/bin/env bash
# mount(8): -t fuse.mtdfuse with options as words, and a line of fstab.
source "$(dirname "$0")/lib.sh"
requires mount.fuse3
requires_fuse
with_programs_installed

make_image "$work/flash" $((1 << 20))
check() { # WHAT
    is_mounted "$mnt" || fail "$1: not mounted"
    daemon_pids+=("$(cat "$mnt/ctl/pid")")
    expect_equal "$1: /proc/mtd" 'mtd0: 00080000 00010000 "by mount"' "$(tail -n 1 "$mnt/proc/mtd")"
    expect_match "$1: nosuid, nodev" 'nosuid.*nodev|nodev.*nosuid' "$(findmnt -no OPTIONS "$mnt")"
    expect_match "$1: the source" "$work/flash" "$(findmnt -no SOURCE "$mnt")"
    expect_equal "$1: the type" fuse.mtdfuse "$(findmnt -no FSTYPE "$mnt")"
}

words='type=ram,erasesize=64K,size=512K,name=by mount,folio-size=16K,cache=writethrough,noatime'
expect_status 0 mount -t fuse.mtdfuse "$work/flash" "$mnt" -o "$words"
check 'mount -t fuse.mtdfuse'
io "$mnt/mtd0" w pfill:0:4096:aa >/dev/null
expect_status 0 umount "$mnt"

printf '%s %s fuse.mtdfuse %s 0 0\n' "$work/flash" "$mnt" "${words// /\\040},noauto,user" >"$work/fstab"
expect_status 0 mount -T "$work/fstab" "$mnt"
check 'a line of fstab'
expect_bytes 'what was written before' "$mnt/mtd0" 0 4096 aa
expect_status 0 umount "$mnt"

expect_status 0 mount -t fuse.mtdfuse "$work/flash" "$mnt" -o ro
expect_equal 'mount -o ro' 'open = -1 EACCES' "$(io "$mnt/mtd0" rw | sed s/EROFS/EACCES/ || true)"
expect_status 0 umount "$mnt"

expect_status 0 mount -t fuse.mtdfuse "$work/flash" "$mnt" -o 'erasesize=64K,parts=64K(a b)ro+-(c)'
daemon_pids+=("$(cat "$mnt/ctl/pid")")
expect_equal 'partitions as a mount word' 'mtd1: 000f0000 00010000 "c"' "$(tail -n 1 "$mnt/proc/mtd")"
expect_equal 'the first of them' 0x1800 "$(cat "$mnt/sys/class/mtd/mtd0/flags")"
expect_status 0 umount "$mnt"

expect_failure mount -t fuse.mtdfuse "$work/flash" "$mnt" -o erasesize=3K
expect_match 'the refusal reaches the terminal' 'multiple' "$output"
expect_failure mount -t fuse.mtdfuse "$work/flash" "$mnt" -o nonsense=7
expect_match 'an unknown word' 'nonsense' "$output"
is_mounted "$mnt" && fail 'mounted after a refusal'
exit 0
