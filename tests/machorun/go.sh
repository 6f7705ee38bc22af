#!/bin/sh
# The tests in Go, built for Macs:  sh tests/machorun/go.sh test [REGEX PACKAGE...] | skipped
#
# `test` runs them, or those of some packages with such names, and prints test2json; build.sh comes first, and GOOS, GOARCH,
# CGO_ENABLED and CC say what the go command makes. `skipped` lists the packages and tests that are left out, and why, as lines that start
# with `skip`. PADDLE_MPS_LONG=1 leaves out only what cannot run here.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$root/build/machorun
cd "$root"

left_out='
kernels/metal/msl: compiles the shader engine of the double with cc and loads it, and cc is that of this machine
tests/msl: checks the sources with clang and with the shader engine of the double, both of this machine
cmd/paddle-mps/internal/grpcapi: its tests are clients over sockets, which the loader lacks
kernels/metal/store: its tests make pipes, change owners and limit and kill other processes, which the loader lacks
'
# Tests over sockets, in packages with others.
sockets='TestLongWaits TestUnreadMetrics TestPace TestReadersThatDoNotRead TestRoomOfClientsThatDoNotRead TestManyDimensions'

# What takes minutes under the emulator and has nothing of its own on a Mac: the first runs shaders, which are code of
# the double, and what drives them is run by darwin-shaders; the others are tools of this repository.
[ "${PADDLE_MPS_LONG:-}" = 1 ] || left_out="$left_out"'
kernels/metal/shaders: only with PADDLE_MPS_LONG=1, its shaders take minutes to compile
internal/lint: only with PADDLE_MPS_LONG=1, it reads the source, which is that of every platform
bench/alloc: only with PADDLE_MPS_LONG=1, it measures
'
slow='TestEveryFailureOfAProgram TestPlanDivided TestPlanDoesNotAllocate TestTails'
[ "${PADDLE_MPS_LONG:-}" != 1 ] || slow=

# left_out_packages: as a list of words, /package each.
left_out_packages() { printf '%s\n' "$left_out" | sed -n 's,^\([^:]*\):.*,/\1,p'; }

# packages PACKAGE...: those of them with tests that are not left out.
packages() {
    go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' "$@" | while read -r package; do
        for other in $(left_out_packages); do case $package in *"$other") continue 2 ;; esac; done
        echo "$package"
    done
}

# shellcheck disable=SC2086  # import paths have no blanks
case ${1:-} in
skipped)
    printf '%s\n' "$left_out" | sed -n 's,^[^:]*:,skip &,p'
    for name in $sockets; do echo "skip $name: it needs sockets, which the loader lacks"; done
    for name in $slow; do echo "skip $name: only with PADDLE_MPS_LONG=1, it runs thousands of calls"; done
    ;;
test)
    export "PADDLE_MPS_METAL_LIBRARY=$out/libfakemetal.dylib" "FAKEMETAL_CACHE=${MACHORUN_SHADERS:-$out/shadercache}"
    export "FAKEMETAL_CXX=${FAKEMETAL_CXX:-aarch64-linux-gnu-g++}"
    [ $# -ge 3 ] || set -- test . ./...
    names=$2
    shift 2
    list=$(packages "$@")
    go test -vet=off -json -short -timeout 40m -run "$names" -skip "^($(echo "$sockets $slow" | tr -s ' ' '|' | sed 's,|$,,'))\$" -exec "$root/tests/machorun/exec.sh" $list
    ;;
*) sed -n '2,7s/^# //p' "$0" >&2 && exit 2 ;;
esac
