#!/usr/bin/env bash
# scripts/demo can be run twice, installs what it says and leaves a mounted device.
source "$(dirname "$0")/lib.sh"
requires_root
requires_fuse
requires meson ninja
[ -e "$source_dir/build/build.ninja" ] || skip 'needs the build folder of scripts/test'

restore_prefix() { meson configure "$source_dir/build" --prefix=/usr/local >/dev/null; }
for run in first second; do
    expect_status 0 "$source_dir/scripts/demo" --prefix "$work/local" --dir "$work/demo"
    restore_prefix
    mtdfuse_pid=$(cat "$work/demo/mnt/ctl/pid")
    daemon_pids+=("$mtdfuse_pid")
    expect_match "$run run: says how to unmount" "umount $work/demo/mnt" "$output"
    expect_match "$run run: says what needs mtdfuse-run" 'flash_erase.*mtdfuse-run|mtdfuse-run' "$output"
    expect_match "$run run: read back" '^equal$' "$output"
done
expect_match 'the second run unmounts the first' 'unmounted first' "$output"
for file in bin/mtdfuse bin/mtdfuse-image bin/mtdfuse-speedtest share/man/man8/mtdfuse.8 share/man/man7/mtdfuse.7 \
    share/man/man1/mtdfuse-image.1 share/man/man1/mtdfuse-speedtest.1; do
    [ -s "$work/local/$file" ] || [ -s "$work/local/$file.gz" ] || fail "$file was not installed"
done
expect_equal 'the demo left a device' 16777216 "$(cat "$work/demo/mnt/sys/class/mtd/mtd0/size")"
