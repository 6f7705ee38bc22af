#!/bin/sh
# Builds the loader and what it runs:  sh tests/machorun/build.sh [LIBRARY]
#
# LIBRARY was built for Macs, by default build/darwin-arm64/libpaddlemps.dylib. Everything goes to
# build/machorun: the loader itself, for Linux on arm64; and for Darwin, beside a copy of the library, the
# doubles of Apple's libraries, the C tests and examples, the program of failures and the server. CROSS_CC is the
# compiler for Linux on arm64, DARWIN_CC that for Darwin.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
library=${1:-$root/build/darwin-arm64/libpaddlemps.dylib}
out=$root/build/machorun
darwin_cc=${DARWIN_CC:-$root/capi/darwin/cc}
mkdir -p "$out"

cd "$root/tests/machorun"
"${CROSS_CC:-aarch64-linux-gnu-gcc}" -std=c11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -Wno-cast-function-type \
    ./*.c ./*.S -ldl -lm -lpthread -o "$out/machorun"
cp "$library" "$out/libpaddlemps.dylib"
CC=$darwin_cc sh ../fakemetal/build.sh "$out/libfakemetal.dylib"
CC=$darwin_cc sh ../fakeaccelerate/build.sh "$out/libfakeaccelerate.dylib"

# program NAME FILE...: a program of Darwin's that finds the library beside itself.
program() {
    name=$1
    shift
    "$darwin_cc" -std=c11 -O1 -Wall -Wextra -pedantic -Werror "-I$root/include" "$@" "-L$out" -lpaddlemps \
        -Wl,-rpath,@executable_path -o "$out/$name"
}

c=$root/tests/c
program loader test/loader.c
program server test/server.c
program faults test/faults.c "$c/check.c"
program suite "$c/suite.c" "$c/check.c" "$c/errors.c" "$c/devices.c" "$c/streams.c" "$c/tensors.c" "$c/dlpack.c" "$c/gradients.c" "$c/traces.c" \
    "$c/models.c" "$c/triton.c" "$c/operators.c" "$c/fast.c" "$c/profile.c" "$c/handles.c"
for name in fork threads start shaders programs; do program $name "$c/$name.c" "$c/check.c"; done
for example in "$root"/examples/c/*.c; do program "example-$(basename "$example" .c)" "$example"; done

# The other form of fixups, which the linker of a Mac makes and lld from 16 on can.
newer=$(for version in 22 21 20 19 18 17 16; do command -v ld64.lld-$version && break; done || true)
rm -f "$out/loader-chains"
[ -z "$newer" ] || program loader-chains test/loader.c "--ld-path=$newer" -Wl,-fixup_chains
