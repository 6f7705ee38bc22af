#!/bin/sh
# Runs each fuzz target of Go packages for a time:  sh tests/fuzz/go.sh TIME PACKAGE...
set -eu
cd "$(dirname "$0")/../.."
time=$1
shift
go test -list '^Fuzz' "$@" >build/fuzz.list || { cat build/fuzz.list && exit 1; }
awk '
    /^Fuzz/ { names = names " " $1 }
    /^ok/   { n = split(names, f, " "); for (i = 1; i <= n; i++) print f[i], $2; names = "" }
' build/fuzz.list | while read -r target package; do
    echo "fuzz $target $package"
    for attempt in 1 2 3; do
        status=0
        go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 1x "$package" </dev/null >build/fuzz.log 2>&1 || status=$?
        cat build/fuzz.log
        [ "$status" -ne 0 ] || break
        # Before 1.27, Go may take the end of the time for a failure: https://go.dev/issue/75804.
        [ "$attempt" -lt 3 ] && grep -q '^ *context deadline exceeded$' build/fuzz.log && ! grep -q 'Failing input' build/fuzz.log || exit 1
    done
done
grep -q '^Fuzz' build/fuzz.list || { echo 'go.sh: these packages have no fuzz target' && exit 1; }
