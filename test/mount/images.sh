#!/usr/bin/env bash
# Images that cannot be used: exit status 1, a message that names the path and what would be right,
# nothing created.
source "$(dirname "$0")/lib.sh"
requires_fuse

refused() { # REGEX IMAGE
    expect_status 1 mtdfuse "$2" "$mnt"
    expect_match "message for $2" "$1" "$output"
    expect_match "message for $2 names it" "${2##*/}" "$output"
    is_mounted "$mnt" && fail "mounted: $2"
    return 0
}

refused 'mtdfuse-image create' "$work/absent"
[ ! -e "$work/absent" ] || fail 'an absent image was created'
refused 'No such file|absent|does not exist' "$work/absent/deeper"
mkdir "$work/directory"
refused 'directory' "$work/directory"
: >"$work/empty"
refused 'empty' "$work/empty"
refused 'neither|device' /dev/null
mkfifo "$work/fifo"
refused 'neither|file' "$work/fifo"
ln -s nowhere "$work/dangling"
refused 'No such file|absent|does not exist|mtdfuse-image create' "$work/dangling"
ln -s self "$work/self"
refused 'symbolic links' "$work/self"

if [ "$(id -u)" != 0 ]; then
    make_image "$work/closed" 1048576
    chmod 0 "$work/closed"
    refused 'Permission denied' "$work/closed"
    chmod 0400 "$work/closed"
    refused '--ro' "$work/closed"
fi
