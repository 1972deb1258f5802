#!/usr/bin/env bash
# mtdfuse-image create makes an erased image and never overwrites; info describes one.
source "$(dirname "$0")/lib.sh"

expect_status 0 mtdfuse-image create --size 1M "$work/flash"
expect_equal 'size' 1048576 "$(stat -c %s "$work/flash")"
expect_bytes 'erased' "$work/flash" 0 1048576 ff
printf x | dd of="$work/flash" conv=notrunc status=none
before=$(checksum "$work/flash")

expect_status 1 mtdfuse-image create --size 2M "$work/flash"
expect_match 'an image that exists' 'flash.*exist' "$output"
expect_equal 'it is untouched' "$before" "$(checksum "$work/flash")"
expect_status 0 mtdfuse-image info "$work/flash"
expect_match 'info' '1048576|1M' "$output"
expect_equal 'info changes nothing' "$before" "$(checksum "$work/flash")"

refused() { # STATUS REGEX ARGUMENTS...
    local status=$1 regex=$2
    shift 2
    expect_status "$status" mtdfuse-image "$@"
    expect_match "message of: mtdfuse-image $*" "$regex" "$output"
    [ ! -e "$work/new" ] || fail "made a file: mtdfuse-image $*"
}
refused 2 'create|info|--help'
refused 2 'nonsense' nonsense
refused 2 '--size' create "$work/new"
refused 2 '--size' create --size rubbish "$work/new"
refused 2 '--nonsense' create --size 1M --nonsense "$work/new"
refused 2 'multiple' create --size 1000 "$work/new"
refused 2 'IMAGE' create --size 1M
refused 1 'No such file|does not exist' create --size 1M "$work/absent/new"
refused 1 'No such file|does not exist|create' info "$work/new"
refused 1 'directory' info "$work"
