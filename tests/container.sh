#!/bin/sh
# Runs ./build.sh in a container that sees the checkout read-only, for a machine without Linux:
#
#     docker run --rm -it -v "$PWD":/source:ro golang:1.26 sh /source/tests/container.sh COMMAND
#
# It builds a clone of the last commit, so nothing is written into the checkout. Where a folder is mounted as /out, the
# contents of dist are copied there.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    apt-get update -qq
    apt-get install -qqy python3-venv
fi
# In the container, the owner of the checkout is somebody else, from whom git does not clone unless it is told to.
git config --file "$work/gitconfig" safe.directory '*'
GIT_CONFIG_GLOBAL=$work/gitconfig git clone -q "$source" "$work/checkout"
cd "$work/checkout"
./build.sh "$@"
if [ -d /out ] && [ -d dist ]; then cp -R dist/. /out/; fi
