#!/usr/bin/env bash
# However a daemon ends while four programs write, erase and sync: the image holds what was promised,
# block by block, and opens again. Unmount and SIGTERM keep all that was acknowledged; SIGKILL all
# that was synced.
source "$(dirname "$0")/lib.sh"
requires_fuse

rounds=3
if full; then rounds=20; fi
make_image "$work/flash" $((4 << 20))
mkfifo "$work/go"
seed=0

# round ENDING NUMBER: with folios and caches smaller and larger than what is written.
round() {
    local ending=$1 number=$2 folio cache promise=acknowledged operations=1000000000 status=0 load pid
    seed=$((seed + 1)) # no stamp comes twice
    local folios=(4K 64K 256K) caches=(256K 1M 4M)
    folio=${folios[number % 3]}
    cache=${caches[number / 3 % 3]}
    [ "$ending" = unmount ] && operations=$((100 + 40 * number))
    [ "$ending" = KILL ] && promise=synced
    mount_device --erasesize 64K --folio-size "$folio" --cache-size "$cache" "$work/flash" "$mnt"
    pid=$(cat "$mnt/ctl/pid")
    "$test_dir/tools/endings" "$mnt/mtd0" "$work/flash" "$promise" "$seed" $operations \
        <"$work/go" >"$work/load" 2>&1 &
    load=$!
    pids+=("$load")
    exec 8>"$work/go"
    case $ending in
    unmount)
        until grep -q ended "$work/load"; do
            alive "$load" || break
            sleep 0.05
        done
        umount_fuse "$mnt"
        ;;
    *)
        sleep "0.$((1 + number % 4))"
        kill -"$ending" "$pid"
        ;;
    esac
    wait_for_end "$pid"
    exec 8>&-
    wait "$load" || status=$?
    if [ "$ending" = KILL ]; then
        umount_fuse "$mnt" # a dead mount, which mountpoint(1) cannot see
    elif is_mounted "$mnt"; then
        fail "round $number of $ending: still mounted"
    fi
    cat "$work/load"
    expect_equal "round $number of $ending, folios of $folio, a cache of $cache" 0 $status
    expect_match 'all kinds of calls were made' '[1-9][0-9]* writes, [1-9][0-9]* erases' \
        "$(cat "$work/load")"
    if [ "$ending" = unmount ]; then
        expect_match 'no call failed' ' 0 failed' "$(cat "$work/load")"
    else
        expect_match 'the daemon ended under all four' ' 4 failed' "$(cat "$work/load")"
    fi
}

for ending in unmount TERM KILL; do
    for number in $(seq 0 $((rounds - 1))); do round $ending "$number"; done
done
exit 0
