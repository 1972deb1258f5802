#!/usr/bin/env bash
# sendfile and splice read through the kernel's page cache even on a direct handle: after an erase
# and after a write they show the new bytes, on the same open file and through another.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_image "$work/flash" $((1 << 20))
mount_device --erasesize 64K "$work/flash" "$mnt"
node=$mnt/mtd0

expect_equal 'erase between two sendfiles on one open file' \
    'pfill = 65536
sendfile = 4096 all aa
erase = 0
sendfile = 4096 all ff
pfill = 65536
sendfile = 4096 all 55
close = 0' \
    "$(io "$node" rw pfill:0:65536:aa sendfile:0:4096 erase:0:65536 sendfile:0:4096 pfill:0:65536:55 sendfile:0:4096)"

# A reader that keeps its file open while another process erases, by ioctl and by ctl/mtd0/erase.
mkfifo "$work/go"
reader() {
    io "$1" r sendfile:0:4096 wait sendfile:0:4096 wait sendfile:0:4096 <"$work/go" >"$work/seen" &
    reader_pid=$!
    pids+=("$reader_pid")
    exec 9>"$work/go"
    for _ in $(seq 100); do grep -q sendfile "$work/seen" && break; sleep 0.05; done
}
for reads_from in "$node" "$mnt/mtd0ro"; do
    io "$node" w pfill:0:65536:77 >/dev/null
    reader "$reads_from"
    io "$node" w erase:0:65536 >/dev/null
    echo >&9
    for _ in $(seq 100); do [ "$(grep -c sendfile "$work/seen")" -ge 2 ] && break; sleep 0.05; done
    io "$node" w pfill:0:65536:66 >/dev/null
    echo 'block 0' >"$mnt/ctl/mtd0/erase"
    echo >&9
    exec 9>&-
    wait "$reader_pid"
    expect_equal "sendfile from ${reads_from##*/} while others erase" \
        'sendfile = 4096 all 77
wait = 0
sendfile = 4096 all ff
wait = 0
sendfile = 4096 all ff
close = 0' "$(cat "$work/seen")"
done

if command -v busybox >/dev/null; then # its cat uses sendfile
    io "$node" w pfill:0:65536:44 >/dev/null
    expect_equal 'busybox cat before' "$(md5sum <"$node")" "$(busybox cat "$node" | md5sum)"
    echo 'block 0' >"$mnt/ctl/mtd0/erase"
    expect_equal 'busybox cat after an erase' "$(md5sum <"$work/flash")" "$(busybox cat "$node" | md5sum)"
fi
