#!/usr/bin/env bash
# Every command in README.md works: its sh blocks run in order in an empty directory. The two
# scripts are run by demo.sh and by whoever runs this test.
source "$(dirname "$0")/lib.sh"
requires mtd_debug flashcp mkfs.ext4 mount.fuse3
requires_fuse
with_programs_installed
requires_loop

readme=$source_dir/README.md
while read -r _ script _; do
    [ -x "$source_dir/$script" ] || fail "README.md names $script, which does not exist"
done < <(grep '^sudo ' "$readme")

awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside && !/^sudo / { print }' "$readme" >"$work/commands"
[ "$(wc -l <"$work/commands")" -gt 20 ] || fail 'README.md has hardly any commands'
mkdir "$work/sandbox"
cd "$work/sandbox"
expect_status 0 bash -exuo pipefail "$work/commands"
expect_match 'the failed erase was explained' '^block 999|999.*(end|block)' "$output"
