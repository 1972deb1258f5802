#!/usr/bin/env bash
# After a SIGKILL the mount point is stale: the next start says so and names the command that
# clears it, and that command works.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_data "$work/flash" $((1 << 20)) 7
cp "$work/flash" "$work/before"
mount_device "$work/flash" "$mnt"
pid=$(cat "$mnt/ctl/pid")
kill -KILL "$pid"
wait_for_end "$pid"
expect_failure ls "$mnt"

expect_status 1 mtdfuse "$work/flash" "$mnt"
expect_match 'names the mount point' "$mnt" "$output"
command=$(grep -oE "fusermount3 -u '[^']*'" <<<"$output" | head -n 1)
[ -n "$command" ] || fail "no command in: $output"
expect_status 0 sh -c "$command"
mount_device "$work/flash" "$mnt"
expect_same 'mounts again' "$work/before" "$mnt/mtd0"
