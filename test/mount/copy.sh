#!/usr/bin/env bash
# echo, cat, cp and cmp on the node: O_TRUNC does nothing, the first byte that does not fit is
# ENOSPC, and what fitted is there.
source "$(dirname "$0")/lib.sh"
requires_fuse

size=$((1 << 20))
make_data "$work/flash" $size 7
make_data "$work/new" $size 8
make_data "$work/large" $((size + 1)) 9
cp "$work/flash" "$work/before"
mount_device "$work/flash" "$mnt"
node=$mnt/mtd0

echo x >"$node"
expect_bytes 'echo x > node' "$node" 0 2 780a
expect_equal 'the size stays' $size "$(stat -c %s "$node")"
expect_equal 'the rest stays' "$(tail -c +3 "$work/before" | md5sum)" "$(tail -c +3 "$node" | md5sum)"

expect_status 0 cp "$work/new" "$node"
expect_status 0 cmp "$work/new" "$node"
expect_status 0 sh -c "cat '$work/before' >'$node'"
expect_status 0 cmp "$work/before" "$node"
expect_status 0 cp "$node" "$work/copy"
expect_same 'cp from the node' "$work/before" "$work/copy"
expect_same 'cat of the link in dev' "$work/before" <(cat "$mnt/dev/mtd0")
expect_same 'mtd0ro' "$work/before" "$mnt/mtd0ro"

expect_status 1 sh -c "cat '$work/large' >'$node'"
expect_match 'cat of an image one byte too large' 'No space left on device' "$output"
head -c $size "$work/large" >"$work/fits"
expect_same 'what fitted has arrived' "$work/fits" "$node"
expect_status 1 cp "$work/large" "$node"
expect_match 'cp of it' 'No space left on device' "$output"
expect_equal 'the size still stays' $size "$(stat -c %s "$node")"
