#!/bin/sh
# Installs promtool, and the perf_analyzer that runs on Debian 12, into build/clients:  sh tests/serve/clients.sh
#
# Debian's packages are unpacked there and not installed, because the one of promtool would start a server. A test whose program is
# missing is skipped and says so. .venv-serve has to be there.
set -eu
cd "$(dirname "$0")/../.."
[ "$(go env GOOS)-$(go env GOARCH)" = linux-amd64 ] && command -v apt-get >/dev/null || exit 0
clients=$(pwd)/build/clients
[ ! -f "$clients/stamp" ] || exit 0
echo 'installing promtool and perf_analyzer into build/clients'
rm -rf "$clients" && mkdir -p "$clients/debian"
# perf_analyzer is linked with libb64 and CUDA's runtime; it asks a server that has no GPU.
.venv-serve/bin/python -m pip --quiet --disable-pip-version-check install --no-compile --no-deps --target "$clients/python" \
    tritonclient==2.51.0 nvidia-cuda-runtime-cu12==12.6.77
(
    [ "$(id -u)" != 0 ] || apt-get update
    cd "$clients/debian"
    apt-get download prometheus libb64-0d
    for package in *.deb; do dpkg -x "$package" .; done
    rm ./*.deb
) >build/clients.log 2>&1 || exit 0
printf '#!/bin/sh\nLD_LIBRARY_PATH="%s:%s" exec "%s" "$@"\n' "$clients/debian/usr/lib/x86_64-linux-gnu" \
    "$clients/python/nvidia/cuda_runtime/lib" "$clients/python/bin/perf_analyzer" >"$clients/perf_analyzer"
chmod +x "$clients/perf_analyzer"
: >"$clients/stamp"
