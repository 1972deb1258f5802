#!/usr/bin/env bash
# Bad command lines: exit status 2, one sentence that names the option and what would be right,
# nothing mounted, nothing changed.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_data "$work/flash" $((1 << 20)) 7
before=$(checksum "$work/flash")
image=$work/flash

usage() { # REGEX ARGUMENTS...
    local regex=$1
    shift
    expect_status 2 mtdfuse "$@"
    expect_match "message of: mtdfuse $*" "$regex" "$output"
    [ "$(wc -l <<<"$output")" -le 3 ] || fail "more than a short message: $output"
    is_mounted "$mnt" && fail "mounted: mtdfuse $*"
    return 0
}

# missing
usage 'IMAGE|MOUNTPOINT|--help'
usage 'MOUNTPOINT' "$image"
for option in --type --erasesize --size --name --folio-size --cache-size --cache --log -o; do
    usage "$option" "$image" "$mnt" "$option"
done
# too many
usage 'third|argument|unexpected|unknown|extra' "$image" "$mnt" third
# unknown, and named before what would follow from it
for option in --nonsense --chip --meta --badblocks --strict --regions --oobsize --erasesizes -x; do
    usage "$option" "$option" "$image" "$mnt"
    usage "$option" "$option" /nonexistent/image /nonexistent/mnt
done
usage 'nonsense' -o nonsense=1 "$image" "$mnt"
usage 'chip' -o chip=w25q128 "$image" "$mnt"
# doubled
usage '--erasesize.*(twice|once|more than|doubled|already)' --erasesize 64K --erasesize 64K "$image" "$mnt"
usage '--name.*(twice|once|more than|doubled|already)' --name a --name b "$image" "$mnt"
usage 'erasesize.*(twice|once|more than|doubled|already)' --erasesize 64K -o erasesize=64K "$image" "$mnt"
usage 'size.*(twice|once|more than|doubled|already)' -o size=1M,size=1M "$image" "$mnt"
# of no sense
for size in '' 0x 64X 64k! -1 1.5K 64KB ' 64K' 99999999999999999999 K; do
    usage "--erasesize" "--erasesize=$size" "$image" "$mnt"
    usage "--size" "--size=$size" "$image" "$mnt"
    usage "--cache-size" "--cache-size=$size" "$image" "$mnt"
    usage "--folio-size" "--folio-size=$size" "$image" "$mnt"
done
usage '--type.*nor.*ram' --type nor "$image" "$mnt"
usage 'type.*ram' -o type=rubbish "$image" "$mnt"
usage '--cache.*writeback.*writethrough' --cache sometimes "$image" "$mnt"
usage '--folio-size.*(4K|4096)' --folio-size 2K "$image" "$mnt"
usage '--folio-size.*2M' --folio-size 4M "$image" "$mnt"
usage '--folio-size' --folio-size 12K "$image" "$mnt"
usage '--cache-size' --cache-size 4K "$image" "$mnt"
usage '--cache-size' --cache-size 0 "$image" "$mnt"
usage '--name.*127' --name "$(head -c 128 /dev/zero | tr '\0' n)" "$image" "$mnt"
usage '--name' --name 'a"b' "$image" "$mnt"
usage '--name' --name $'a\nb' "$image" "$mnt"
expect_equal 'the image' "$before" "$(checksum "$image")"

# what is asked for and printed: exit status 0, on stdout
for option in --help --version -V; do
    expect_status 0 mtdfuse $option
    [ -n "$(mtdfuse $option 2>/dev/null)" ] || fail "$option prints nothing on stdout"
done
expect_match '--version' '^mtdfuse [0-9]+\.[0-9]+' "$(mtdfuse --version)"

# sizes in every spelling
for size in 131072 128K 128KiB 0x20000; do
    mount_device --erasesize $size "$image" "$mnt"
    expect_equal "--erasesize $size" 131072 "$(cat "$mnt/sys/class/mtd/mtd0/erasesize")"
    unmount
done
expect_equal 'the image at the end' "$before" "$(checksum "$image")"
