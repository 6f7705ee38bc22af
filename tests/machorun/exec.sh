#!/bin/sh
# Runs a program made for arm64 Macs:  sh tests/machorun/exec.sh PROGRAM [ARGUMENT...]
#
# Made for `go test -exec`. MACHORUN is the loader, by default build/machorun/machorun. Beside it lies the mock of
# Accelerate, which programs find as macOS has it; MACHORUN_ACCELERATE names another library, or none if it is empty.
MACHORUN_LAUNCHER=$(cd "$(dirname "$0")" && pwd)/exec.sh
export MACHORUN_LAUNCHER
machorun=${MACHORUN:-${MACHORUN_LAUNCHER%/tests/*}/build/machorun/machorun}
export "MACHORUN_ACCELERATE=${MACHORUN_ACCELERATE-${machorun%/*}/libfakeaccelerate.dylib}"
[ -x "$machorun" ] || {
    echo "$machorun is not there: ./build.sh test darwin-build makes it" >&2
    exit 1
}
case $(uname -m) in
aarch64) exec "$machorun" "$@" ;;
*) exec qemu-aarch64 -L /usr/aarch64-linux-gnu "$machorun" "$@" ;;
esac
