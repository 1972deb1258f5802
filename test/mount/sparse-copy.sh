#!/usr/bin/env bash
# Tools that skip holes would leave old bytes in them: such a copy fails at close with EIO and the
# reason names --sparse=never, with which it works.
source "$(dirname "$0")/lib.sh"
requires_fuse

size=$((1 << 20))
make_data "$work/flash" $size 7
truncate -s $size "$work/sparse"
printf head | dd of="$work/sparse" conv=notrunc status=none
printf tail | dd of="$work/sparse" conv=notrunc bs=1 seek=$((size - 4)) status=none
truncate -s $size "$work/hole-at-end"
printf head | dd of="$work/hole-at-end" conv=notrunc status=none
mount_device "$work/flash" "$mnt"

refused() { # WHAT COMMAND...
    local what=$1
    shift
    expect_failure "$@"
    expect_match "$what: the message" 'Input/output error' "$output"
    expect_match "$what: last_error" '--sparse=never' "$(last_error)"
}

refused 'cp of a sparse file' cp "$work/sparse" "$mnt/mtd0"
refused 'cp --sparse=always' cp --sparse=always "$work/hole-at-end" "$mnt/mtd0"
refused 'dd conv=sparse' dd if="$work/sparse" of="$mnt/mtd0" bs=4K conv=sparse status=none

expect_status 0 cp --sparse=never "$work/sparse" "$mnt/mtd0"
expect_same 'cp --sparse=never' "$work/sparse" "$mnt/mtd0"
make_data "$work/dense" $size 9
expect_status 0 cp "$work/dense" "$mnt/mtd0"
expect_same 'cp of a file without holes' "$work/dense" "$mnt/mtd0"
