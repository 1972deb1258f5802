#!/usr/bin/env bash
# scripts/speed puts the tables of all works between README's marks and leaves the rest as it is.
source "$(dirname "$0")/lib.sh"

export MTDFUSE_BIN_DIR=$bin_dir MTDFUSE_SPEED_DIR=$work
cp "$source_dir/README.md" "$work/readme"
sed -i '/^<!-- speed: begin -->$/,/^<!-- speed: end -->$/{/^<!--/!d}' "$work/readme"
lines=$(wc -l <"$work/readme")
expect_status 0 "$source_dir/scripts/speed" --update "$work/readme" --size 2M --rounds 1
expect_match 'the table is printed, too' '^read_128k +copy' "$output"
[ "$(wc -l <"$work/readme")" -gt $((lines + 30)) ] || fail 'the table is not in README'
for work_name in write_128k read_512 random_read_4k_x2 erase_erased; do
    expect_equal "$work_name in memory and over a file" 2 "$(grep -c "^$work_name " "$work/readme")"
done
expect_match 'writeback beside one pwrite for each folio' \
    '^writeback_random +pwrite +[0-9.]+ / [0-9.]+ \([0-9.]+\)' "$(cat "$work/readme")"
sed -i '/^<!-- speed: begin -->$/,/^<!-- speed: end -->$/{/^<!--/!d}' "$work/readme"
sed '/^<!-- speed: begin -->$/,/^<!-- speed: end -->$/{/^<!--/!d}' "$source_dir/README.md" |
    cmp - "$work/readme" || fail 'more than the table was changed'

echo 'no marks' >"$work/other"
expect_status 1 "$source_dir/scripts/speed" --update "$work/other" --size 2M --rounds 1 --folio-size 64K
expect_match 'what is missing is said' 'no line <!-- speed: begin -->' "$output"
expect_equal 'and nothing changed' 'no marks' "$(cat "$work/other")"
