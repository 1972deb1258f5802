#!/usr/bin/env bash
# A shell script erases through ctl/mtd0/erase: the exit status of echo tells, last_error says why.
# In bash, dash and busybox sh.
source "$(dirname "$0")/lib.sh"
requires dash busybox
requires_fuse

cat >"$work/erase-script" <<'SCRIPT'
set -e
ctl=$1/ctl/mtd0
echo 'block 1' >"$ctl/erase"
echo 'block 3 2' >"$ctl/erase"
echo '0x60000 64KiB' >"$ctl/erase"
printf '458752 65536' >"$ctl/erase" # without a newline
exec 3>"$ctl/erase"                 # one open file, many commands
echo 'block 8' >&3
echo 'block 9' >&3
exec 3>&-
if echo '1 65536' >"$ctl/erase"; then
    echo 'an unaligned erase was not refused'
    exit 1
fi
cat "$ctl/last_error"
SCRIPT

make_data "$work/before" $((1 << 20)) 7
for shell in bash dash 'busybox sh'; do
    cp "$work/before" "$work/flash"
    cp "$work/before" "$work/expected"
    mount_device --erasesize 64K "$work/flash" "$mnt"
    # shellcheck disable=SC2086 # "busybox sh" is two words
    expect_status 0 $shell "$work/erase-script" "$mnt"
    expect_match "$shell: last_error names the rule" '65536|64K|erase ?block|aligned|multiple' "$output"
    for block in 1 3 4 6 7 8 9; do
        make_image "$work/erased" 65536
        dd if="$work/erased" of="$work/expected" bs=64K seek=$block conv=notrunc status=none
    done
    expect_same "$shell: the erased blocks and no others" "$work/expected" "$mnt/mtd0"
    echo all >"$mnt/ctl/mtd0/erase"
    expect_bytes "$shell: all" "$mnt/mtd0" 0 $((1 << 20)) ff
    unmount
    expect_bytes "$shell: all, in the image" "$work/flash" 0 $((1 << 20)) ff
done
