#!/bin/sh
# The tests of the fake itself:  sh tests/fakemetal/run.sh [LIBRARY]
#
# LIBRARY is build/libfakemetal.so, built first, by default. Each test is a line that starts with `ok`
# or `FAIL`; the last line counts them, and the status is 0 if none failed. With a cross compiler and
# qemu the runtime's tests also run as arm64.
# shellcheck disable=SC2012,SC2015,SC2231,SC2086  # names here have no blanks, and lists are lists
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root/tests/fakemetal" || exit 2
library=${1:-$root/build/libfakemetal.so}
[ $# -gt 0 ] || sh build.sh || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR="$work"
log=$work/log
: >"$log"
strict='-std=c11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -Wno-cast-function-type'

say() { tee -a "$log"; }

# run NAME COMMAND...: a program that prints its tests itself; one that dies has failed once more.
run() {
    name=$1
    shift
    { "$@" 2>&1 && echo >"$work/ended"; } >"$work/out"
    cat "$work/out" | say
    if [ ! -f "$work/ended" ] && ! grep -q '^FAIL' "$work/out"; then echo "FAIL $name died" | say; fi
    rm -f "$work/ended"
}

# compile CC LIBRARY FILE: the program of one file of tests, linked with the library.
# shellcheck disable=SC2086  # $strict is a list of flags
compile() {
    rm -f "$work/$3"
    "$1" $strict "test/$3.c" test/check.c "$2" "-Wl,-rpath,$(dirname "$2")" -lpthread -lm -o "$work/$3" 2>"$work/wrong" ||
        { cat "$work/wrong" && echo "FAIL compile $3"; } | say
}

# linked FILE: the same for tests of parts of the fake that it does not export.
# shellcheck disable=SC2086
linked() {
    ${CC:-cc} $strict "-DSHADER_FOLDER=\"$root/tests/fakemetal/shader\"" "test/$1.c" ./shader_*.c ./defect.c ./harsh.c ./shader_switch_*.S \
        -rdynamic -ldl -lm -lpthread -o "$work/$1" 2>"$work/wrong" || { cat "$work/wrong" && echo "FAIL compile $1"; } | say
}

for file in runtime metal $(cd test && ls graph*.c 2>/dev/null | sed 's/\.c$//'); do
    compile "${CC:-cc}" "$library" "$file"
    [ -x "$work/$file" ] && run "$file" "$work/$file"
done
run 'metal with delays' env FAKEMETAL_DELAY_US=2000 FAKEMETAL_SEED=7 "$work/metal"
run 'metal at its worst' env FAKEMETAL_WORST=1 "$work/metal"
run 'graph with delays' env FAKEMETAL_DELAY_US=2000 FAKEMETAL_SEED=7 "$work/graph"
linked shader
[ -x "$work/shader" ] && run shader "$work/shader"
linked count
if ! command -v clang++ >/dev/null; then
    echo 'skip counts of shaders: there is no clang++' | say
elif [ -x "$work/count" ]; then
    run 'counts of shaders' env FAKEMETAL_COUNT=1 "$work/count"
fi

cross=aarch64-linux-gnu-gcc
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
if command -v $cross >/dev/null && [ -n "$qemu" ]; then
    if CC=$cross sh build.sh "$work/arm64/libfakemetal.so"; then
        compile $cross "$work/arm64/libfakemetal.so" runtime
        [ -x "$work/runtime" ] && run 'runtime on arm64' env QEMU_LD_PREFIX=/usr/aarch64-linux-gnu "CHECK_RUNNER=$qemu" "$qemu" "$work/runtime"
    else
        echo 'FAIL build for arm64' | say
    fi
else
    echo 'skip the runtime on arm64: there is no aarch64-linux-gnu-gcc or no qemu-aarch64' | say
fi

passed=$(grep -c '^ok ' "$log") failed=$(grep -c '^FAIL ' "$log")
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
