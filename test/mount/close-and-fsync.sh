#!/usr/bin/env bash
# Close of a writable node and of a control file leaves nothing dirty; fsync and ctl/sync reach the
# image while the file is open; what was only written is lost to a SIGKILL at worst.
source "$(dirname "$0")/lib.sh"
requires_fuse

size=$((1 << 20))
make_image "$work/flash" $size
mount_device "$work/flash" "$mnt"
node=$mnt/mtd0

io "$node" w pfill:0:4096:a1 >/dev/null
expect_bytes 'after close' "$work/flash" 0 4096 a1
exec 8<>"$node"
printf 'abcd' >&8
perl -e 'use IO::Handle; open my $f, ">&=8" or die; $f->sync or die "fsync: $!\n"'
expect_bytes 'after fsync, still open' "$work/flash" 0 4 61626364
printf 'efgh' >&8
echo 1 >"$mnt/ctl/sync"
expect_bytes 'after ctl/sync, still open' "$work/flash" 4 4 65666768
echo 'block 7' >"$mnt/ctl/mtd0/erase"
expect_bytes 'after an erase through ctl' "$work/flash" 917504 131072 ff
exec 8>&- || true

# SIGKILL: what was closed before is in the image, which mounts again.
io "$node" w pfill:131072:131072:b2 >/dev/null
exec 8<>"$node"
printf 'lost' >&8
pid=$(cat "$mnt/ctl/pid")
kill -KILL "$pid"
wait_for_end "$pid"
exec 8>&- || true
umount_fuse "$mnt"
expect_bytes 'closed before a SIGKILL' "$work/flash" 131072 131072 b2
mount_device "$work/flash" "$mnt"
expect_bytes 'and it mounts again' "$mnt/mtd0" 131072 131072 b2
