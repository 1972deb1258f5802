#!/usr/bin/env bash
# One image, one daemon: a second is refused at once while the first serves, by whatever name the
# image comes, and the first goes on.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_image "$work/flash" $((1 << 20))
ln -s flash "$work/link"
mkdir "$work/second"
mount_device "$work/flash" "$mnt"

for name in "$work/flash" "$work/link" "$work/../${work##*/}/flash"; do
    started=$(date +%s)
    expect_status 1 mtdfuse "$name" "$work/second"
    expect_match "$name: says who holds it" "flash.*(in use|locked|mtdfuse)" "$output"
    is_mounted "$work/second" && fail 'mounted a second time'
    # Not a timing: a start that waits for the lock takes 10 s by design, one that need not, none.
    [ $(($(date +%s) - started)) -lt 8 ] || fail "$name: the refusal waited for the lock"
done
expect_status 1 mtdfuse --ro "$work/flash" "$work/second"
io "$mnt/mtd0" w pfill:0:4096:aa >/dev/null
expect_bytes 'the first goes on' "$mnt/mtd0" 0 4096 aa
unmount

mount_device "$work/flash" "$work/second"
expect_bytes 'after its unmount the image is free' "$work/second/mtd0" 0 4096 aa
unmount "$work/second"
