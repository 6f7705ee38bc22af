#!/bin/sh
# Builds the loader:  sh tests/machorun/build.sh [OUTPUT]
#
# OUTPUT is build/machorun/machorun by default, a program for Linux on arm64. CC is its compiler, by default Debian's
# cross compiler.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
output=${1:-$root/build/machorun/machorun}
cd "$root/tests/machorun"
mkdir -p "$(dirname "$output")"
"${CC:-aarch64-linux-gnu-gcc}" -std=c11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -Wno-cast-function-type \
    ./*.c ./*.S -ldl -lm -lpthread -o "$output.$$"
mv "$output.$$" "$output"
