#!/usr/bin/env bash
# Every recorded trace of block2mtd and mtdram, call by call on a real mount, by test/replay.
source "$(dirname "$0")/lib.sh"
requires_fuse

replay=$test_dir/replay/replay
for folder in block2mtd-64k mtdram; do
    erasesize=$([ $folder = mtdram ] && echo 128K || echo 64K)
    for trace in "$source_dir/test/data/traces/$folder"/{directed,random-*[0-9]}.txt; do
        # block2mtd lay over a zeroed disk, mtdram starts erased.
        if [ $folder = mtdram ]; then make_image "$work/flash" $((4 << 20)); else
            rm -f "$work/flash"
            truncate -s 4M "$work/flash"
        fi
        mount_device --erasesize "$erasesize" "$work/flash" "$mnt"
        expect_status 0 "$replay" "$trace" --node "$mnt/mtd0"
        printf '%s\n' "$output"
        unmount
    done
done
