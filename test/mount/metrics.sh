#!/usr/bin/env bash
# MNT/metrics is Prometheus text: every metric has HELP and TYPE, counters end in _total, no name
# twice; and counters count.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_image "$work/flash" $((1 << 20))
mount_device "$work/flash" "$mnt"

lint() {
    awk '
        /^# HELP / { if (help[$3]++) print "HELP twice: " $3; if (NF < 4) print "no help text: " $0; next }
        /^# TYPE / { if (!($3 in help)) print "TYPE before HELP: " $3
                     if ($4 != "counter" && $4 != "gauge") print "type: " $0
                     type[$3] = $4; next }
        /^#/ { print "a comment: " $0; next }
        { name = $1; sub(/\{.*/, "", name)
          if (name !~ /^mtdfuse_[a-z][a-z0-9_]*$/) print "name: " $0
          if (!(name in type)) print "no TYPE: " $0
          if (type[name] == "counter" && name !~ /_total$/) print "a counter without _total: " $0
          if (type[name] == "gauge" && name ~ /_total$/) print "a gauge with _total: " $0
          if (seen[$1]++) print "twice: " $1
          if ($NF !~ /^[0-9]+(\.[0-9]+)?$/) print "value: " $0; n++ }
        END { if (n < 10) print "only " n + 0 " metrics" }' "$mnt/metrics"
}
expect_equal 'lint' '' "$(lint)"
expect_equal 'ends with a newline' 1 "$(tail -c 1 "$mnt/metrics" | wc -l)"

value_of() {
    awk -v pattern="$1" '$1 ~ pattern && !/^#/ { sum += $2 } END { print sum + 0 }' "$mnt/metrics"
}
before=$(value_of 'erase.*_total$')
echo 'block 0 4' >"$mnt/ctl/mtd0/erase"
[ "$(value_of 'erase.*_total$')" -gt "$before" ] || fail 'an erase was not counted'
before=$(value_of 'refus|error')
io "$mnt/ctl/mtd0/erase" w write:garbage >/dev/null || true
io "$mnt/mtd0" rw erase:1:1 >/dev/null || true
[ "$(value_of 'refus|error')" -gt "$before" ] || fail 'a refusal was not counted'
expect_equal 'lint after use' '' "$(lint)"
