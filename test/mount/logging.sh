#!/usr/bin/env bash
# Where messages go: --log FILE after the fork; without /dev/log the daemon works and says once
# where messages are to be found; in foreground stderr.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_image "$work/flash" $((1 << 20))
refuse() {
    io "$mnt/ctl/mtd0/erase" w 'write:garbage 1' >/dev/null || true
}

mtdfuse --log "$work/log" "$work/flash" "$mnt"
refuse
expect_match '--log' 'garbage' "$(cat "$work/log")"
expect_equal 'one refusal, one line' 1 "$(grep -c garbage "$work/log")"
unmount

expect_status 1 mtdfuse --log "$work/absent/log" "$work/flash" "$mnt"
expect_match 'a log that cannot be written' 'absent/log' "$output"
is_mounted "$mnt" && fail 'mounted without its log'

# A log that would destroy the image, hold up the start, or hide in the mount point.
before=$(checksum "$work/flash")
ln "$work/flash" "$work/other-name"
for log in "$work/flash" "$work/other-name"; do
    expect_status 1 mtdfuse --log "$log" "$work/flash" "$mnt"
    expect_match 'a log in the image' 'is the image itself' "$output"
done
expect_equal 'the image is as it was' "$before" "$(checksum "$work/flash")"
mkfifo "$work/fifo"
expect_status 1 timeout 20 mtdfuse --log "$work/fifo" "$work/flash" "$mnt"
expect_match 'a FIFO as log' "log file '$work/fifo'" "$output"
expect_status 1 mtdfuse --log "$mnt/log" "$work/flash" "$mnt"
expect_match 'a log in the mount point' 'lies in the mount point' "$output"
expect_equal 'nothing is left in the mount point' '' "$(ls -A "$mnt")"

mtdfuse -f "$work/flash" "$mnt" 2>"$work/stderr" &
pids+=($!)
for _ in $(seq 100); do is_mounted "$mnt" && break; sleep 0.1; done
refuse
expect_match 'foreground: stderr' 'garbage' "$(cat "$work/stderr")"
unmount

if [ ! -e /dev/log ]; then
    output=$(mtdfuse "$work/flash" "$mnt" 2>&1)
    expect_match 'one notice at start' 'last_error|--log' "$output"
    refuse
    expect_match 'last_error has it' 'garbage' "$(last_error)"
    unmount
fi
