#!/usr/bin/env bash
# Every recorded trace of block2mtd and mtdram, call by call on a real mount, and the attributes
# before and after it. The program says which answers were excepted, and why.
source "$(dirname "$0")/lib.sh"
requires_fuse

replay=$test_dir/replay/replay
check_attributes() { # FILE
    expect_status 0 "$replay" --attrs "$1" --sys "$mnt/sys/class/mtd/mtd0" --proc "$mnt/proc/mtd"
}

replay_folder() { # DEVICE ERASESIZE NAME
    local folder=$source_dir/test/data/traces/$1 trace
    for trace in "$folder"/directed.txt "$folder"/random-[0-9].txt; do
        make_image "$work/flash" $((4 << 20))
        mount_device --erasesize "$2" --name "$3" "$work/flash" "$mnt"
        check_attributes "$folder/attrs.txt"
        expect_status 0 "$replay" --device "$1" --node "$mnt/mtd0" "$trace"
        printf '%s\n' "$output"
        check_attributes "${trace%.txt}-attrs.txt"
        unmount
    done
}
replay_folder block2mtd-64k 64K 'block2mtd: /dev/ram0'
replay_folder mtdram 128K 'mtdram test device'
