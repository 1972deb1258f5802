#!/usr/bin/env bash
# SIGTERM and SIGINT write everything back and end with status 0, also while a file is open.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_image "$work/flash" $((1 << 20))
for signal in TERM INT; do
    byte=$([ $signal = TERM ] && echo 61 || echo 62)
    # A background process of a script ignores SIGINT unless it says otherwise.
    perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' mtdfuse -f "$work/flash" "$mnt" 2>"$work/daemon.log" &
    pid=$!
    pids+=("$pid")
    for _ in $(seq 100); do is_mounted "$mnt" && break; sleep 0.1; done
    expect_equal "ctl/pid in foreground" "$pid" "$(cat "$mnt/ctl/pid")"
    exec 8<>"$mnt/mtd0"
    head -c 100000 /dev/zero | tr '\0' "\\$(printf %o "0x$byte")" >&8
    kill -$signal "$pid"
    status=0
    wait "$pid" || status=$?
    exec 8>&- || true
    expect_equal "exit status after SIG$signal" 0 "$status"
    expect_bytes "the image after SIG$signal with a file open" "$work/flash" 0 100000 "$byte"
    is_mounted "$mnt" && fail "still mounted after SIG$signal"
done

# The daemonised one, by its pid file.
mount_device "$work/flash" "$mnt"
pid=$(cat "$mnt/ctl/pid")
io "$mnt/mtd0" w pfill:0:4096:63 >/dev/null
kill -TERM "$pid"
wait_for_end "$pid"
expect_bytes 'the image after SIGTERM to a daemon' "$work/flash" 0 4096 63
is_mounted "$mnt" && fail 'still mounted'

# A start while the last daemon is ending waits for it, whatever it finds of its mount.
for _ in $(seq 10); do
    mount_device "$work/flash" "$mnt"
    pid=$(cat "$mnt/ctl/pid")
    kill -TERM "$pid"
    for _ in $(seq 300); do is_mounted "$mnt" || break; sleep 0.01; done
done
wait_for_end "$pid"

# A file size limit is an error of the call that meets it, not the daemon's death.
expect_status 1 bash -c "ulimit -f 512; exec mtdfuse -f '$work/flash' '$mnt'"
expect_match 'a file size limit at start' 'File too large' "$output"
exit 0
