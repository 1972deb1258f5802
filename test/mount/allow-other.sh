#!/usr/bin/env bash
# Without allow_other nobody else gets in; with it files follow their permissions: attributes can
# be read, the node and the control files cannot be opened.
source "$(dirname "$0")/lib.sh"
requires setpriv
requires_root
requires_fuse

chmod 755 "$work"
make_data "$work/flash" $((1 << 20))
cp "$work/flash" "$work/before"
as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
as_nobody test -x "$work" || skip "$work is not open to nobody"

mount_device "$work/flash" "$mnt"
expect_failure as_nobody cat "$mnt/proc/mtd"
expect_match 'without allow_other' 'Permission denied' "$output"
unmount

mount_device -o allow_other "$work/flash" "$mnt"
expect_equal 'an attribute' 1048576 "$(as_nobody cat "$mnt/sys/class/mtd/mtd0/size")"
for file in mtd0 mtd0ro; do
    expect_failure as_nobody cat "$mnt/$file"
    expect_match "reading $file" 'Permission denied' "$output"
done
expect_failure as_nobody sh -c "echo all >'$mnt/ctl/mtd0/erase'"
expect_match 'erasing' 'Permission denied' "$output"
expect_same 'nothing changed' "$work/before" "$mnt/mtd0"
