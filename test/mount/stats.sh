#!/usr/bin/env bash
# stats/io counts the backing's I/O by order of size and alignment; the size-rounding formula
# applied to it gives stats/waf.
source "$(dirname "$0")/lib.sh"
requires_fuse

make_image "$work/flash" $((4 << 20))
mount_device --cache writethrough --folio-size 4K "$work/flash" "$mnt"
for step in pfill:0:4096:aa pfill:8192:512:bb pfill:65536:65536:cc pfill:999:3:dd pfill:200000:70000:ee; do
    io "$mnt/mtd0" w "$step" >/dev/null
done
echo 1 >"$mnt/ctl/sync"

io_text=$(cat "$mnt/stats/io")
waf_text=$(cat "$mnt/stats/waf")
computed=$(IO=$io_text WAF=$waf_text perl -e '
    my ($write) = $ENV{IO} =~ /"write": \{(.*)\}/s or die "no write in stats/io\n";
    my ($sizes) = $write =~ /"Block size": \{([^}]*)\}/ or die "no Block size\n";
    my ($aligns) = $write =~ /"Algn size": \{([^}]*)\}/ or die "no Algn size\n";
    my %count = $sizes =~ /"(\d+)": (\d+)/g;
    my %align = $aligns =~ /"(\d+)": (\d+)/g;
    my ($n, $m) = (0, 0);
    $n += $_ for values %count;
    $m += $_ for values %align;
    die "no write was counted\n" unless $n;
    die "sizes count $n, alignments $m\n" unless $n == $m;
    my %shown = $ENV{WAF} =~ /"(\d+)": ([0-9.]+)/g;
    for my $unit (4096, 8192, 16384, 32768, 65536) {
        my ($plain, $rounded) = (0, 0);
        for my $order (keys %count) {
            my $bytes = 2 ** $order;
            $plain += $count{$order} * $bytes;
            $rounded += $count{$order} * $unit * int(($bytes + $unit - 1) / $unit);
        }
        printf "%d %.3f %s\n", $unit, $rounded / $plain, $shown{$unit} // "absent"
            if abs($rounded / $plain - ($shown{$unit} // 0)) > 0.0011;
    }')
expect_equal "units where the formula over stats/io and stats/waf differ
$io_text
$waf_text" '' "$computed"
