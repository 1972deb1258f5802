#!/usr/bin/env bash
# Everything works for an ordinary user; other users, root too, are kept out.
source "$(dirname "$0")/lib.sh"
requires_fuse
requires setpriv fusermount3 unshare

# Where /dev/fuse is open to root alone, one that is open to all is bound over it, seen by this
# test only.
if [ "$(id -u)" = 0 ] && [ "${1:-}" != private ]; then
    unshare --mount --propagation private true 2>/dev/null || skip 'cannot make a mount namespace'
    unshare --mount --propagation private bash "$0" private
    exit
fi
if [ "$(id -u)" = 0 ]; then
    mknod -m 666 "$work/fuse" c 10 229 # Documentation/admin-guide/devices.txt
    mount --bind "$work/fuse" /dev/fuse
    as_user=(setpriv --reuid nobody --regid nogroup --clear-groups)
    "${as_user[@]}" sh -c ': <>/dev/fuse' 2>/dev/null || skip '/dev/fuse is not open to nobody'
    "${as_user[@]}" test -x "$bin_dir/mtdfuse" || skip "$bin_dir is not open to nobody"
else
    as_user=(env)
fi
make_image "$work/flash" $((1 << 20))
[ "$(id -u)" != 0 ] || chown -R nobody "$work"
chmod 755 "$work"

"${as_user[@]}" mtdfuse --log "$work/daemon.log" --erasesize 64K "$work/flash" "$mnt"
run() { "${as_user[@]}" "$@"; }
daemon_pids+=("$(run cat "$mnt/ctl/pid")")
run sh -c "echo 'block 0' >'$mnt/ctl/mtd0/erase'"
run sh -c "printf hello >'$mnt/mtd0'"
expect_equal 'read back' hello "$(run head -c 5 "$mnt/mtd0")"
if [ "$(id -u)" = 0 ]; then
    expect_failure cat "$mnt/mtd0"
    expect_match 'root is kept out' 'Permission denied' "$output"
fi
expect_status 0 run fusermount3 -u "$mnt"
expect_bytes 'in the image' "$work/flash" 0 5 68656c6c6f
