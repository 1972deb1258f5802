#!/usr/bin/env bash
# mtdfuse-speedtest: the table has the eight works, the JSON the fields its man page names, and bad
# words are exit status 2.
source "$(dirname "$0")/lib.sh"

expect_status 0 mtdfuse-speedtest --size 4M --folio-size 64K --rounds 1 --json
expect_match 'version and bytes' '^\{"v":1,"bytes":4194304,"rows":\[' "$output"
rows=$(grep -oE '\{"work":"[a-z0-9_]+","folio":65536,"ms":[0-9.]+,"limit_ms":[0-9.]+,"ratio":[0-9.]+\}' <<<"$output")
[ "$(wc -l <<<"$rows")" -ge 8 ] || fail "fewer than eight rows: $output"
expect_status 0 mtdfuse-speedtest --size 4M --folio-size 4K,64K --rounds 1
expect_match 'the table' '^work +limit +4K +64K' "$output"
expect_status 2 mtdfuse-speedtest --nonsense
expect_match 'an unknown option' '--nonsense' "$output"
expect_status 2 mtdfuse-speedtest --size 100
expect_match 'a wrong size' '--size' "$output"
