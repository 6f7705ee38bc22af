#!/bin/sh
# The C tests and examples on the library that was built for Macs:  sh tests/machorun/run.sh
#
# build.sh comes first. Each test is a line that starts with `ok` or `FAIL`; the last line counts them, and
# the status is 0 if none failed.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$root/build/machorun
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
log=$work/log
: >"$log"

say() { tee -a "$log"; }

# on HOW PROGRAM...: runs a program with one kind of mps device.
on() {
    how=$1
    shift
    case $how in
    host) set -- PADDLE_MPS_DEVICE=host "$@" ;;
    queue) set -- PADDLE_MPS_DEVICE=host PADDLE_MPS_INLINE=-1 "$@" ;;
    metal) set -- PADDLE_MPS_DEVICE=metal "$@" ;;
    graphs) set -- PADDLE_MPS_DEVICE=metal PADDLE_MPS_PREFER=mpsgraph "$@" ;;
    esac
    env "PADDLE_MPS_METAL_LIBRARY=$out/libfakemetal.dylib" "FAKEMETAL_CACHE=${MACHORUN_SHADERS:-$out/shadercache}" \
        "FAKEMETAL_CXX=${FAKEMETAL_CXX:-aarch64-linux-gnu-g++}" FAKEMETAL_STRICT=1 "$@"
}

start() { on "$1" sh "$root/tests/machorun/exec.sh" "$out/$2"; }

# run PROGRAM HOW...: a program that prints its tests itself; one that dies has failed once more.
run() {
    program=$1
    shift
    for how; do
        { start "$how" "$program" 2>&1 && echo >"$work/ended"; } >"$work/out"
        sed "s/^\(ok\|FAIL\) /&$program on $how: /" "$work/out" | say
        if [ ! -f "$work/ended" ] && ! grep -q '^FAIL' "$work/out"; then echo "FAIL $program on $how died" | say; fi
        rm -f "$work/ended"
    done
}

# try PROGRAM HOW...: a program that is one test; what it prints is shown if it fails.
try() {
    program=$1
    shift
    for how; do
        if start "$how" "$program" >"$work/out" 2>&1; then
            echo "ok $program on $how"
        else
            sed 's/^/  /' "$work/out"
            echo "FAIL $program on $how"
        fi | say
    done
}

run loader host
if [ -x "$out/loader-chains" ]; then run loader-chains host; else
    echo 'skip loader-chains: lld here is too old to make chains of fixups; want 16 or later' | say
fi
run suite host queue
echo 'skip suite on metal: the double needs minutes for its largest tensors under the emulator' | say
run threads host queue metal
run shaders host metal
run programs host queue metal graphs
run fork host
for example in "$out"/example-*; do try "$(basename "$example")" host metal; done
echo "skip examples in C++: they need Apple's library of C++" | say
run faults metal graphs

passed=$(grep -c '^ok ' "$log") failed=$(grep -c '^FAIL ' "$log")
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
