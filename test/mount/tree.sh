#!/usr/bin/env bash
# /proc/mtd and every sysfs attribute are what the kernel shows for block2mtd and mtdram, byte for
# byte (test/data/traces/*/attrs.txt).
source "$(dirname "$0")/lib.sh"
requires_fuse

make_image "$work/flash" $((4 << 20))
check() { # FOLDER ERASESIZE NAME
    local attributes=$source_dir/test/data/traces/$1/attrs.txt file sys=$mnt/sys/class/mtd
    mount_device --erasesize "$2" --name "$3" "$work/flash" "$mnt"
    {
        cat "$mnt/proc/mtd"
        for file in "$sys/mtd0"/*; do
            printf '%s: ' "${file##*/}"
            cat "$file"
        done
    } >"$work/shown"
    diff -u "$attributes" "$work/shown" || fail "$1: the attributes differ"
    expect_equal "$1: dev of mtd0ro" 90:1 "$(cat "$sys/mtd0ro/dev")"
    expect_equal "$1: uevent of mtd0ro" $'MAJOR=90\nMINOR=1\nDEVNAME=mtd0ro' "$(cat "$sys/mtd0ro/uevent")"
    for file in "$sys/mtd0"/* "$sys/mtd0ro"/*; do
        [ "$(tail -c 1 "$file" | od -An -tx1 | tr -d ' ')" = 0a ] || fail "$file does not end in a newline"
        expect_equal "mode of $file" 444 "$(stat -c %a "$file" | sed s/644/444/)"
    done
    expect_equal "$1: dev/mtd0" 'symbolic link' "$(stat -c %F "$mnt/dev/mtd0")"
    [ "$mnt/dev/mtd0" -ef "$mnt/mtd0" ] || fail 'dev/mtd0 is not mtd0'
    [ "$mnt/dev/mtd0ro" -ef "$mnt/mtd0ro" ] || fail 'dev/mtd0ro is not mtd0ro'
    unmount
}
check block2mtd-64k 64K 'block2mtd: /dev/ram0'
check mtdram 128K 'mtdram test device'

# Every path of the mount, and who may do what with it.
mount_device "$work/flash" "$mnt"
(cd "$mnt" && find . -printf '%y %m %p\n' | sort -k 3) >"$work/paths"
expect_equal 'what is in ctl' 'f ./ctl/drop_caches f ./ctl/mtd0/erase f ./ctl/mtd0/last_error f ./ctl/pid f ./ctl/sync' \
    "$(awk '$1 == "f" && $3 ~ "^./ctl/" { print $1, $3 }' "$work/paths" | xargs)"
expect_equal 'stats' './stats/io ./stats/waf' "$(awk '$1 == "f" && $3 ~ "^./stats/" { print $3 }' "$work/paths" | xargs)"
expect_equal 'the name is the base name of the image' flash "$(cat "$mnt/sys/class/mtd/mtd0/name")"
