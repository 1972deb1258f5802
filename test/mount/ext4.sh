#!/usr/bin/env bash
# A file system over the device: ext4 on a loop device on the node, checked, remounted, compared,
# then random operations of fsx and fio's verification on it.
source "$(dirname "$0")/lib.sh"
requires mkfs.ext4 fsck.ext4 losetup fio
requires_fuse
requires_loop
grep -qw ext4 /proc/filesystems || skip 'this kernel has no ext4'

size=$((64 << 20)) operations=10000 fio_bytes=8M
if full; then size=$((256 << 20)) operations=100000 fio_bytes=64M; fi
requires_free_bytes $((2 * size))
seed=${MTDFUSE_SEED:-$(date +%s)}
echo "seed $seed (MTDFUSE_SEED=$seed repeats it)"

make_image "$work/flash" $size
mkdir "$work/fs"
mount_device "$work/flash" "$mnt"

fill_tree() {
    local i
    for i in $(seq 40); do
        mkdir -p "$work/fs/dir$((i % 5))"
        make_data "$work/fs/dir$((i % 5))/file$i" $((i * 7919)) "$i"
    done
    (cd "$work/fs" && find . -type f -exec md5sum {} + | sort -k 2)
}

attach_loop "$mnt/mtd0"
expect_status 0 mkfs.ext4 -q -F "$loop"
expect_status 0 mount -t ext4 "$loop" "$work/fs"
written=$(fill_tree)
expect_status 0 umount "$work/fs"
expect_status 0 fsck.ext4 -f -n "$loop"
detach_loop "$loop"

# A new daemon, a new loop device: all comes from the image.
unmount
mount_device "$work/flash" "$mnt"
attach_loop "$mnt/mtd0"
expect_status 0 fsck.ext4 -f -n "$loop"
expect_status 0 mount -t ext4 "$loop" "$work/fs"
expect_equal 'the files after a new mount' "$written" \
    "$(cd "$work/fs" && find . -type f -exec md5sum {} + | sort -k 2)"

expect_status 0 "$test_dir/tools/fsx" --ops $operations --seed "$seed" "$work/fs/fsx"
expect_status 0 fio --name=verify --filename="$work/fs/fio" --size=$fio_bytes --rw=randwrite \
    --bsrange=512-64k --bs_unaligned --verify=crc32c --randseed="$seed" --ioengine=psync --verify_state_save=0 --output="$work/fio.out"
expect_match 'fio found no error' 'err= 0' "$(cat "$work/fio.out")"
expect_status 0 umount "$work/fs"
expect_status 0 fsck.ext4 -f -n "$loop"
detach_loop "$loop"
unmount
expect_status 0 fsck.ext4 -f -n "$work/flash"

# The same two on the node itself: a fixed size, no file system between.
mount_device "$work/flash" "$mnt"
expect_status 0 fio --name=node --filename="$mnt/mtd0" --size=$fio_bytes --rw=randwrite --bsrange=512-64k \
    --bs_unaligned --verify=crc32c --randseed="$seed" --ioengine=psync --verify_state_save=0 --output="$work/fio.out"
expect_match 'fio on the node found no error' 'err= 0' "$(cat "$work/fio.out")"
