#!/usr/bin/env bash
# Mount points that cannot be used: absent, a file, not empty, already mounted on.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_image "$work/flash" $((1 << 20))
cp "$work/flash" "$work/other"
refused() { # REGEX MOUNTPOINT [IMAGE]
    expect_status 1 mtdfuse "${3:-$work/flash}" "$2"
    expect_match "message for $2" "$1" "$output"
    expect_match "message for $2 names it" "${2##*/}" "$output"
}
refused 'No such file|does not exist|absent|mkdir' "$work/absent"
[ ! -e "$work/absent" ] || fail 'an absent mount point was created'
: >"$work/file"
refused 'Not a directory|no directory' "$work/file"
mkdir "$work/full"
: >"$work/full/kept"
refused 'not empty|empty' "$work/full"
[ -e "$work/full/kept" ] || fail 'what was in it is gone'

mount_device "$work/flash" "$mnt"
refused 'mounted|busy|in use|not empty' "$mnt" "$work/other"
expect_equal 'the first mount goes on' 1048576 "$(cat "$mnt/sys/class/mtd/mtd0/size")"
unmount

# relative paths and trailing slashes
cd "$work"
mount_device flash mnt/
cd /
expect_equal 'a relative path' 1048576 "$(cat "$mnt/sys/class/mtd/mtd0/size")"
