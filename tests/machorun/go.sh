#!/bin/sh
# The tests in Go, built for Macs:  sh tests/machorun/go.sh test | skipped
#
# `test` runs them and prints test2json; build.sh comes first, and GOOS, GOARCH, CGO_ENABLED and CC say what
# the go command makes. `skipped` lists the packages that are left out, and why, as lines that start with
# `skip`.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$root/build/machorun
cd "$root"

left_out='
kernels/metal/msl: compiles the shader engine of the double with cc and loads it, and cc is that of this machine
'

# left_out_packages: as a list of words, /package each.
left_out_packages() { printf '%s\n' "$left_out" | sed -n 's,^\([^:]*\):.*,/\1,p'; }

packages() {
    go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | while read -r package; do
        for other in $(left_out_packages); do case $package in *"$other") continue 2 ;; esac; done
        echo "$package"
    done
}

# shellcheck disable=SC2046  # import paths have no blanks
case ${1:-} in
skipped) printf '%s\n' "$left_out" | sed -n 's,^[^:]*:,skip &,p' ;;
test)
    export "PADDLE_MPS_METAL_LIBRARY=$out/libfakemetal.dylib" "FAKEMETAL_CACHE=$out/shadercache"
    export "FAKEMETAL_CXX=${FAKEMETAL_CXX:-aarch64-linux-gnu-g++}"
    go test -json -short -timeout 20m -exec "$root/tests/machorun/exec.sh" $(packages)
    ;;
*) sed -n '2,6s/^# //p' "$0" >&2 && exit 2 ;;
esac
