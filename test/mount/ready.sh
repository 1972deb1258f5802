#!/usr/bin/env bash
# The parent returns only when the mount answers, and the daemon it leaves holds no terminal, no
# pipe and no directory of its starter.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_image "$work/flash" $((1 << 20))
for _ in $(seq 20); do
    mtdfuse --log "$work/daemon.log" "$work/flash" "$mnt"
    [ "$(cat "$mnt/sys/class/mtd/mtd0/size")" = 1048576 ] || fail 'returned before the mount answered'
    unmount
done

# A daemon that kept the pipe would hang this substitution.
output=$(cd "$work" && mtdfuse --log "$work/daemon.log" flash mnt 2>&1)
pid=$(cat "$mnt/ctl/pid")
daemon_pids+=("$pid")
expect_equal 'its directory' / "$(readlink "/proc/$pid/cwd")"
for fd in 0 1 2; do
    expect_equal "its descriptor $fd" /dev/null "$(readlink "/proc/$pid/fd/$fd")"
done
expect_equal 'its session is its own' "$pid" "$(awk '{ print $6 }' "/proc/$pid/stat")"
unmount

# An error after the fork, before the mount answers, still reaches the terminal and the status.
expect_status 1 mtdfuse "$work/flash" /proc/1
[ -n "$output" ] || fail 'no message'
