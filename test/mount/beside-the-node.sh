#!/usr/bin/env bash
# Nothing can be made, renamed or removed in the mount: fw_setenv, for one, would replace the node
# by a regular file through rename.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_data "$work/flash" $((1 << 20))
cp "$work/flash" "$work/before"
mount_device "$work/flash" "$mnt"

refuses() { # WHAT COMMAND...
    local what=$1
    shift
    expect_failure "$@"
    expect_match "$what" 'Operation not permitted|Read-only file system|Permission denied|Function not implemented|Operation not supported' "$output"
}

for where in "$mnt" "$mnt/dev" "$mnt/ctl" "$mnt/sys/class/mtd/mtd0"; do
    refuses "create in $where" sh -c ": >'$where/new'"
    refuses "mkdir in $where" mkdir "$where/new"
    refuses "symlink in $where" ln -s mtd0 "$where/new"
    refuses "rename into $where" perl -e 'rename $ARGV[0], $ARGV[1] or die "$!\n"' "$mnt/mtd0" "$where/new"
done
refuses 'rename over the node' perl -e 'rename $ARGV[0], $ARGV[1] or die "$!\n"' "$mnt/mtd0ro" "$mnt/mtd0"
refuses 'unlink of the node' perl -e 'unlink $ARGV[0] or die "$!\n"' "$mnt/mtd0"
refuses 'hard link' perl -e 'link $ARGV[0], $ARGV[1] or die "$!\n"' "$mnt/mtd0" "$mnt/new"
refuses 'rmdir' rmdir "$mnt/ctl"
refuses 'mknod' perl -e 'use POSIX; POSIX::mkfifo($ARGV[0], 0600) or die "$!\n"' "$mnt/new"

expect_same 'the node is still there' "$work/before" "$mnt/mtd0"
expect_equal 'what is in the mount' 'ctl dev metrics mtd0 mtd0ro proc stats sys' "$(cd "$mnt" && echo *)"
