#!/bin/sh
# Builds the mock of Accelerate:  sh tests/fakeaccelerate/build.sh OUTPUT [FLAG...]
#
# The flags are those of accelerate.c, such as -DFAKEACCELERATE_LACKS_DGEMM. Two of these may run at once. CC is honoured.
set -eu
output=$1
shift
cc=${CC:-cc}
case $($cc -dumpmachine) in
*-apple-*) link="-dynamiclib -Wl,-install_name,@rpath/${output##*/}" ;;
*) link='-shared -Wl,-z,defs' ;;
esac
# shellcheck disable=SC2086  # $link is a list
$cc -std=c11 -O1 -fPIC -fvisibility=hidden -ffp-contract=off -Wall -Wextra -Werror "$@" \
    "$(dirname "$0")/accelerate.c" $link -o "$output.$$"
mv "$output.$$" "$output"
