# shellcheck shell=bash
# Helpers of the mount tests: each test sources this file, works in a private directory and leaves
# nothing behind, however it ends.
#
#   $work  the private directory        $mnt  an empty directory inside it, to mount on
#   exit status 0 passed, 77 skipped (one line says why), anything else failed
#
#   MTDFUSE_BIN_DIR   where the programs are        (default: build/src)
#   MTDFUSE_TEST_DIR  where the test programs are   (default: build/test)
#   MTDFUSE_FULL=1    full sizes instead of quick ones

set -euo pipefail
export LC_ALL=C

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin_dir=${MTDFUSE_BIN_DIR:-$source_dir/build/src}
test_dir=${MTDFUSE_TEST_DIR:-$source_dir/build/test}
PATH=$bin_dir:$PATH:/usr/sbin:/sbin
export PATH

work=$(mktemp -d "${TMPDIR:-/tmp}/mtdfuse-test.XXXXXX")
work=$(realpath "$work")
mnt=$work/mnt
mkdir "$mnt"
loops=()        # loop devices this test attached
pids=()         # processes this test started in the background
daemon_pids=()  # daemons whose ctl/pid was read
output=         # what the command of the last expect_status printed

# ---- ends -------------------------------------------------------------------------------------

mounts_below_work() {
    awk -v prefix="$work/" 'index($5, prefix) == 1 { print $5 }' /proc/self/mountinfo | tac
}

# A process that has ended but is not yet reaped by whoever must is not alive.
alive() {
    grep -qE '^State:[[:space:]]+[^ZX[:space:]]' "/proc/$1/status" 2>/dev/null
}

# ended_within TENTHS PID
ended_within() {
    local _
    for _ in $(seq "$1"); do
        alive "$2" || return 0
        sleep 0.1
    done
    return 1
}

end_process() {
    alive "$1" || return 0
    kill -TERM "$1" 2>/dev/null || return 0
    ended_within 50 "$1" || kill -KILL "$1" 2>/dev/null || true
}

# An address or thread sanitizer writes its report to the file that lib.sh named: a test whose
# daemon reported has failed, whatever it saw otherwise.
sanitizer_reports() {
    local found=1 report
    for report in "$work"/sanitizer.*; do
        [ -e "$report" ] || continue
        printf 'FAIL: a sanitizer reported:\n'
        head -n 60 "$report"
        found=0
    done
    return $found
}

finish() {
    local status=$? where pid device
    trap - EXIT
    set +e
    cd /
    for where in $(mounts_below_work); do
        umount "$where" 2>/dev/null || fusermount3 -u "$where" 2>/dev/null || umount -l "$where"
    done
    for device in "${loops[@]}"; do losetup -d "$device" 2>/dev/null; done
    for where in $(mounts_below_work); do umount -l "$where"; done
    for pid in "${pids[@]}"; do end_process "$pid"; done
    for pid in "${daemon_pids[@]}"; do
        ended_within 100 "$pid" || end_process "$pid"
    done
    if sanitizer_reports; then status=1; fi
    if [ "$status" -ne 0 ] && [ "$status" -ne 77 ] && [ -s "$work/daemon.log" ]; then
        printf -- '-- the daemon'\''s log\n'
        tail -n 20 "$work/daemon.log"
    fi
    rm -rf --one-file-system "$work"
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

export ASAN_OPTIONS="log_path=$work/sanitizer.asan:exitcode=99:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="log_path=$work/sanitizer.ubsan:print_stacktrace=1:${UBSAN_OPTIONS:-}"
export LSAN_OPTIONS="report_objects=0:${LSAN_OPTIONS:-}"

fail() {
    printf 'FAIL: %s\n' "$*"
    exit 1
}

# The machine cannot run this test, whatever is installed.
skip() {
    printf 'SKIP: %s\n' "$*"
    exit 77
}

# Something that scripts/test installs or builds is missing: a skip by hand, a failure in CI.
requires() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null && continue
        [ "${CI:-}" = true ] && fail "needs $program, which scripts/test should have installed"
        skip "needs $program"
    done
}

requires_root() {
    [ "$(id -u)" = 0 ] || skip 'needs root'
}

requires_fuse() {
    [ -c /dev/fuse ] || skip 'needs /dev/fuse'
    { : <>/dev/fuse; } 2>/dev/null || skip "/dev/fuse is not open to $(id -un)"
}

requires_loop() {
    requires_root
    requires losetup
    losetup -f >/dev/null 2>&1 || skip 'no free loop device'
}

# mount(8) hands no PATH to its helper, which then finds only installed programs: starts the test
# again in a mount namespace of its own, where the programs under test lie over /usr/local/sbin.
with_programs_installed() {
    requires_root
    if [ "${MTDFUSE_TEST_NAMESPACE:-}" = own ]; then
        mount --bind "$bin_dir" /usr/local/sbin
        return
    fi
    unshare -m true 2>/dev/null || skip 'cannot make a mount namespace'
    trap - EXIT
    rm -rf "$work"
    MTDFUSE_TEST_NAMESPACE=own exec unshare -m --propagation private "$0"
}

requires_free_bytes() {
    local free
    free=$(df --output=avail -B1 "$work" | tail -n 1)
    [ "$free" -ge "$1" ] || skip "needs $1 bytes free under $work, there are $free"
}

full() {
    [ "${MTDFUSE_FULL:-0}" = 1 ]
}

# ---- devices ----------------------------------------------------------------------------------

# make_image FILE BYTES: an erased image, made without the project's own tools.
make_image() {
    head -c "$2" /dev/zero | tr '\0' '\377' >"$1"
}

# make_data FILE BYTES [SEED]: bytes that look random and are the same on every machine.
make_data() {
    perl -e '
        my ($left, $x) = @ARGV;
        my ($chunk, $round) = ("", 0);
        binmode STDOUT;
        for (1 .. 16384) {
            $x = ($x * 1664525 + 1013904223) & 0xffffffff;
            $chunk .= pack("N", $x ^ ($x >> 13));
        }
        while ($left > 0) {
            my $bytes = $chunk ^ (pack("N", $round++ * 2654435761 & 0xffffffff) x 16384);
            my $part = $left < length $bytes ? $left : length $bytes;
            print substr($bytes, 0, $part);
            $left -= $part;
        }' "$2" "${3:-1}" >"$1"
}

# mount_device ARGUMENTS...: runs mtdfuse with a log file. The mount answers when it returns.
mount_device() {
    mtdfuse --log "$work/daemon.log" "$@"
    daemon_pids+=("$(cat "${*: -1}/ctl/pid")")
}

# unmount [MNT]: unmounts and returns when the daemon has ended.
unmount() {
    local where=${1:-$mnt} pid
    pid=$(cat "$where/ctl/pid")
    umount_fuse "$where"
    wait_for_end "$pid"
}

umount_fuse() {
    if [ "$(id -u)" = 0 ]; then umount "$1"; else fusermount3 -u "$1"; fi
}

wait_for_end() {
    ended_within 300 "$1" || fail "process $1 did not end within 30 s"
}

# attach_loop FILE [losetup options]: sets $loop.
attach_loop() {
    local file=$1
    shift
    loop=$(losetup -f --show "$@" "$file") || skip "cannot attach a loop device to $file"
    loops+=("$loop")
}

detach_loop() {
    local device rest=()
    losetup -d "$1"
    for device in "${loops[@]}"; do [ "$device" = "$1" ] || rest+=("$device"); done
    loops=("${rest[@]}")
}

is_mounted() {
    mountpoint -q "$1"
}

last_error() {
    cat "$mnt/ctl/mtd0/last_error"
}

# ---- checks -----------------------------------------------------------------------------------

# expect_equal WHAT EXPECTED GOT
expect_equal() {
    [ "$2" = "$3" ] && return 0
    printf 'expected: %s\n' "$2"
    printf 'got:      %s\n' "$3"
    fail "$1"
}

# expect_match WHAT REGEX TEXT: an extended regular expression, case ignored, in any line.
expect_match() {
    grep -qiE -- "$2" <<<"$3" && return 0
    printf 'expected a match of: %s\n' "$2"
    printf 'got:                 %s\n' "$3"
    fail "$1"
}

# expect_status STATUS COMMAND...: the command's exit status; what it printed is in $output.
expect_status() {
    local wanted=$1 status=0
    shift
    output=$("$@" 2>&1) || status=$?
    expect_equal "exit status of: $*
$output" "$wanted" "$status"
}

# expect_failure COMMAND...: any exit status but 0.
expect_failure() {
    local status=0
    output=$("$@" 2>&1) || status=$?
    [ "$status" -ne 0 ] || fail "succeeded, but should have failed: $*
$output"
}

# expect_same WHAT FILE FILE
expect_same() {
    local difference
    difference=$(cmp "$2" "$3" 2>&1) && return 0
    fail "$1: $difference"
}

# expect_bytes WHAT FILE OFFSET LENGTH HEX: HEX is one byte that fills the range, or all of it.
expect_bytes() {
    local others
    if [ ${#5} -eq 2 ]; then
        expect_equal "$1: bytes at $3" "$4" "$(cut_out "$2" "$3" "$4" | wc -c)"
        others=$(cut_out "$2" "$3" "$4" | tr -d "\\$(printf %03o "0x$5")" | head -c 16 | od -An -tx1)
        [ -z "$others" ] || fail "$1: the $4 bytes at $3 are not all $5, there is$others"
    else
        expect_equal "$1" "$5" "$(cut_out "$2" "$3" "$4" | od -An -v -tx1 | tr -d ' \n')"
    fi
}

cut_out() { # FILE OFFSET LENGTH
    dd if="$1" bs=64K iflag=skip_bytes,count_bytes skip="$2" count="$3" status=none
}

checksum() {
    md5sum <"$1" | cut -d ' ' -f 1
}

# io FILE FLAGS STEP...: runs system calls on one open file and prints what each answered, as
# `write = 5` or `write = -1 ENOSPC` (test/tools/io.cpp lists the steps).
io() {
    "$test_dir/tools/io" "$@"
}
