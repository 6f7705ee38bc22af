#!/bin/sh
# Builds the fake Metal:  sh tests/fakemetal/build.sh [OUTPUT]
#
# OUTPUT is build/libfakemetal.so by default; what it is made of is compiled beside it, and only where
# it has changed. Two of these may run at once. CC and CFLAGS are honoured. The C++ compiler that
# shaders need is looked for when a shader is compiled (FAKEMETAL_CXX).
# shellcheck disable=SC2012,SC2015,SC2231,SC2086  # names here have no blanks, and lists are lists
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
output=${1:-$root/build/libfakemetal.so}
parts=$output.parts
mkdir -p "$parts"
cd "$root/tests/fakemetal"
cc=${CC:-cc}
flags="-std=c11 -D_GNU_SOURCE -O1 -g -fPIC -fvisibility=hidden -ffp-contract=off -Wall -Wextra -Werror ${CFLAGS:-}"

# keep FILE: replaces FILE by what comes in, unless that is the same.
keep() {
    cat >"$1.$$"
    if cmp -s "$1.$$" "$1"; then rm "$1.$$"; else mv "$1.$$" "$1"; fi
}

awk -f table.awk "$root/objc/testdata/selectors.tsv" | keep "$parts/selectors.inc"
echo "$cc $flags $root" | keep "$parts/flags"

case $($cc -dumpmachine) in aarch64* | arm64*) machine=arm64 ;; *) machine=amd64 ;; esac
case $($cc -dumpmachine) in
*-apple-*) link='-dynamiclib -Wl,-install_name,@rpath/libfakemetal.dylib' ;;
*) link='-shared -Wl,-soname,libfakemetal.so -Wl,-z,defs -ldl -lm -lpthread' ;;
esac
newest=$(ls -t ./*.h "$parts/selectors.inc" "$parts/flags" | head -1)
objects=
for source in *.c *_$machine.S; do
    object=$parts/$source.o
    objects="$objects $object"
    if [ ! -f "$object" ] || [ "$source" -nt "$object" ] || [ "$newest" -nt "$object" ]; then
        # shellcheck disable=SC2086  # $flags is a list
        { $cc $flags "-I$parts" "-DSHADER_FOLDER=\"$root/tests/fakemetal/shader\"" -c "$source" -o "$object.$$" &&
            mv "$object.$$" "$object" || touch "$parts/failed.$$"; } &
    fi
done
wait
[ ! -f "$parts/failed.$$" ] || { rm "$parts/failed.$$" && exit 1; }
# shellcheck disable=SC2086
$cc $objects $link -o "$output.$$"
mv "$output.$$" "$output"
