#!/bin/sh
# Builds the server of models and the backend, on macOS and on Linux.
#
# There is no tritonserver for macOS: build/paddle-mps is the server there. On Linux the library is also a backend of the
# real one: examples/triton/build/backends is a value for its option --backend-directory.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
"$here/../../build.sh" install "$here/build"
echo
echo "The server:  $here/build/bin/paddle-mps serve \$TRITON_MODEL_REPO"
if [ -d "$here/build/backends" ]; then
    echo "or, where the real one is installed:"
    echo "             tritonserver --backend-directory=$here/build/backends --model-repository=\$TRITON_MODEL_REPO"
fi
