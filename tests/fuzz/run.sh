#!/bin/sh
# Fuzzes the C interface:  sh tests/fuzz/run.sh SECONDS [SEED]
#
# It needs the built library and a C compiler (CC). Every exported function has to have a row in
# table.inc. Prints `ok` or `FAIL` lines; the status is 0 if nothing failed.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$root/python/paddle_mps
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root/tests/fuzz" || exit 2

sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^pmps_/!d' "$root/capi/exports.txt" | sort >"$work/exports"
sed -n 's/^ROW(\([a-z0-9_]*\),.*/\1/p' table.inc | sort >"$work/rows"
if ! diff "$work/exports" "$work/rows" >"$work/diff"; then
    echo 'FAIL fuzz: a row of table.inc for every exported function'
    sed 's/^/    /' "$work/diff"
    exit 1
fi
echo 'ok fuzz: a row of table.inc for every exported function'

"${CC:-cc}" -O1 -g -Wall -Wextra -Werror -I"$root/include" -o "$work/fuzz" fuzz.c \
    -L"$dir" -lpaddlemps "-Wl,-rpath,$dir" || { echo 'FAIL fuzz: compiles'; exit 1; }
for device in auto host; do
    echo "== PADDLE_MPS_DEVICE=$device"
    PADDLE_MPS_DEVICE=$device "$work/fuzz" $(($1 / 2)) ${2:+"$2"} 2>"$work/errors" || { tail -60 "$work/errors" | sed 's/^/    /'; exit 1; }
done
