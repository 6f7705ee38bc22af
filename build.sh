#!/bin/sh
# Builds, tests and runs paddle_mps. `./build.sh help` lists the commands.
#
# Output stays in the checkout and is git-ignored: build/ (link lists, logs), dist/ (wheels), .venv* (Python packages, pinned in
# pyproject.toml) and the library inside python/paddle_mps; what can be made again is cached in ~/.cache/paddle-mps. Tests, checks
# and benchmarks are rows of tests/parts.toml, which tests/runner runs.
set -eu
caller=$(pwd)
cd "$(dirname "$0")"
root=$(pwd)

usage() {
    cat <<'EOF'
usage: ./build.sh COMMAND

  demo            build, install into .venv and run examples/quickstart.py
  demo ocr        install rapidocr into .venv-ocr and read the text in a picture with examples/ocr/ocr.py
  demo serve      make the models of examples/triton, serve them and check the answers of paddle-mps serve, and of the real
                  tritonserver where test tritonserver has installed it
  demo triton [NAME | FILE.py]
                  install triton into .venv-triton and run examples/triton/NAME.py, add, softmax or attention, or a program
                  of your own, on the mock of Metal
  test            run the tests: Go (plain, race, portable), C, Python, conformance, packaging. In large
                  suites groups of cases take turns from commit to commit; the output counts the others
  test long       the same with PADDLE_MPS_LONG=1: run the cases of all turns and all packages, fuzz the C
                  interface for an hour and every other fuzz target for 30 s, soak each place with ten
                  million operators, not 1.5 million, plant the faults of tests/mutation one by one, each of which
                  has to fail its test, and run all of test onnx, serve and peers, and on Linux of test triton, also with
                  Triton 3.6 to 3.8, and test darwin; with TRITON_SOURCE bench triton-core
  test PART...    run some parts by name: `python3 tests/parts.py list` prints them
  test op NAME    run all tests of one operator: table, kernels, conformance on each device
  test peers      compare with PaddlePaddle, which is installed into .venv-peers
  test paddle-suite [--only REGEX] [--list]
                  run Paddle's own tests of tensor functions, in PADDLE_SOURCE, a checkout of PaddlePaddle/PaddleTest,
                  over this library and over PaddlePaddle, and compare
  test onnx       run the tests of the onnx package, and programs for onnxruntime, installed into .venv-onnx
  test exports    export networks with paddle2onnx, installed into .venv-exports, and compare with onnxruntime
  test tritonserver
                  serve models in the real Triton Inference Server, installed into .venv-tritonserver (Linux), and compare
                  its answers with those of paddle-mps serve
  test serve      run the server of models with tritonclient, installed into .venv-serve, and compare it with the recorded
                  answers of tritonserver
  test triton [NAME...]
                  run kernels written in Triton, which is installed into .venv-triton (Linux, Python 3.11), through the
                  plug-in on the mock of Metal, against NumPy: all of tests/triton/kernels, or those named; then a
                  fifth of them (with PADDLE_MPS_LONG=1 all) without Triton's compiled module; without names also
                  random programs for 30 s (with PADDLE_MPS_LONG=1 for 10 minutes)
  test triton-tutorials [NAME...]
                  run the tutorials of Triton's source, in TRITON_SOURCE, with PyTorch's tensors: 01 to 06 and 08, or those named
  test darwin     run the library for macOS and its Go tests on Linux, under an emulator: see
                  tests/machorun/main.c
  lib             build python/paddle_mps/libpaddlemps.so (.dylib on a Mac)
  tool            build build/paddle-mps, the command-line tool
  wheel           build dist/paddle_mps-*.whl, which contains the library
  install PREFIX  install library, C and C++ headers, CMake and pkg-config packages, tool, examples, and on
                  Linux the backend for Triton Inference Server, backends/metal_mps
  tarball         build dist/paddlemps-VERSION-PLATFORM.tar.gz with the same contents
  darwin          build library, tool, wheel and tarball for Apple silicon, also on Linux
  bench [NAME]    run the benchmark bench/NAME; without a name, list all
  bench triton    print what compiled kernels ask of a GPU, beside shaders by hand, and what compiling and launching them costs
  bench triton-core [--all | --tenth N] [--only REGEX] [--report FILE]
                  run a tenth of the test_core.py of Triton 3.6.0's source, in TRITON_SOURCE, and count what passes
  bench arm64     count the instructions of the CPU's loops on arm64 under an emulator, NEON beside portable (Linux)
  bench code [REV]
                  print sizes, comments and import cycles of REV and of the working tree
  bench code library
                  print what each package takes of the library for Linux: code, tables, types, data, relocations
  bench pair [-rounds N] [-only REGEX] [-script] REV NAME [ARGS]
                  run bench/NAME of REV and of the working tree alternately; print each ratio
  check [PART...] check formatting, linters, types, all shaders, generated files and that the tree is clean
  ci              check, test, and test peers, darwin, onnx, serve, tritonserver and triton, with one summary
  prepare NEED    build or install what a part of tests/parts.toml needs
  clean           remove all output of this script

environment:
  PYTHON             interpreter for the virtual environments
  CC, GOOS, GOARCH   compiler and target of lib, tool, wheel and tarball
  LLVM               version of clang and lld for darwin
  PADDLE_MPS_DEVICE  the device behind mps: see docs/environment.md
  PADDLE_MPS_SAMPLE  the turn of test and test darwin, a number, by default that of commits; empty: all turns
  PADDLE_MPS_BASE    the commit since which files count as changed: what a change touches runs whatever its turn
  PADDLE_MPS_CACHE   the folder for compiled shaders, exact answers and the list of parts that have passed, by default
                     ~/.cache/paddle-mps; empty: none outside the checkout
EOF
}

# mistake WHAT: ends with the usage and, last, what is wrong with the command line.
mistake() {
    usage >&2
    printf '\nbuild.sh: %s\n' "$1" >&2
    exit 2
}

say() { printf '\n== %s\n' "$*"; }

# missing WHAT DEBIAN_LINE MACOS_LINE: names what is missing and the line that installs it.
missing() {
    printf 'build.sh: %s is missing. Install it with:\n' "$1" >&2
    if [ "$(uname -s)" = Darwin ]; then printf '    %s\n' "$3" >&2; else printf '    %s\n' "$2" >&2; fi
    exit 1
}

# An older Go fetches the version that go.mod names by itself, if it is allowed to.
need_go() {
    export GOTOOLCHAIN="${GOTOOLCHAIN:-auto}"
    found=$(go env GOVERSION 2>/dev/null || true)
    minor=$(printf '%s' "$found" | sed -n 's/^go1\.\([0-9]*\).*/\1/p')
    [ "${minor:-0}" -ge 26 ] || missing "Go 1.26 or later (found: ${found:-none})" \
        'apt-get install golang-go    # Debian 13, Ubuntu 24.04 or later; it then fetches Go 1.26' \
        'brew install go'
    case $(go env GOARCH) in amd64) simd=simd ;; *) simd='' ;; esac
}

need_cc() {
    if [ "$(go env GOOS)" = darwin ] && [ "$(uname -s)" != Darwin ] && [ -z "${CC:-}" ]; then
        need_clang
        export CC="$root/capi/darwin/cc"
    fi
    cc=$(go env CC)
    command -v "${cc%% *}" >/dev/null || missing "a C compiler ($cc)" \
        'apt-get install gcc libc6-dev' 'xcode-select --install'
}

# need_clang: what capi/darwin/cc calls. On Debian as root it is installed.
need_clang() {
    if command -v "ld64.lld${LLVM:+-$LLVM}" >/dev/null || command -v ld64.lld-14 >/dev/null; then return; fi
    debian clang lld || missing 'clang or lld' 'apt-get install clang lld' ''
}

# need_emulator: what tests/machorun calls. On Debian as root it is installed.
need_emulator() {
    [ "$(uname -s)" = Linux ] || { echo 'build.sh: test darwin is for Linux; on a Mac the other tests run as they are' >&2 && exit 1; }
    if command -v aarch64-linux-gnu-g++ >/dev/null && command -v qemu-aarch64 >/dev/null; then return; fi
    debian gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user || missing 'a C++ compiler for arm64, or its emulator,' \
        'apt-get install gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user' ''
}

# debian PACKAGE...: installs packages, as root on Debian; fails elsewhere.
debian() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    say "installing $*"
    mkdir -p build
    { apt-get update && apt-get install -y "$@"; } >build/debian.log 2>&1
}

need_python() {
    python=${PYTHON:-python3}
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
        missing 'Python 3.9 or later' 'apt-get install python3 python3-venv' 'brew install python'
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        missing "Python's venv module" 'apt-get install python3-venv' 'brew install python'
}

# link_lists: derives the linker's two forms of the export list from capi/exports.txt.
# shellcheck disable=SC2086  # $symbols is a list of words
link_lists() {
    mkdir -p build
    symbols=$(sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' capi/exports.txt)
    {
        echo '{ global:'
        printf '    %s;\n' $symbols
        echo 'local: *; };'
    } >build/exports.map
    printf '_%s\n' $symbols >build/exports_darwin.txt
}

# The linker does not run in this directory, hence the absolute paths.
# -z nodelete: a Go runtime cannot be unloaded, so dlclose must not try.
link_flags() {
    case $1 in
    darwin) printf "'-Wl,-exported_symbols_list,%s' -Wl,-install_name,@rpath/libpaddlemps.dylib" \
        "$root/build/exports_darwin.txt" ;;
    *) printf "'-Wl,--version-script=%s' -Wl,-soname,libpaddlemps.so -Wl,-z,nodelete" "$root/build/exports.map" ;;
    esac
}

# stripped SHADER: its path without comments and indentation, which are 30 KB. The lines stay, so that messages of compilers have the
# same numbers. A line that begins with //! is the name of a function.
stripped() { sed -e 's|^ *||' -e '/^\/\/!/!s| *//.*||' "$1"; }

# sources: build/library, a copy of what the library is made of, as a module with a short name, with stripped shaders. The names of a
# function and a type in tables and traces begin with their package: 30 letters less of each make the library 330 KB smaller. A
# copy that is up to date stays, because another build may be reading it. With its overlay.json tests/msl has the stripped shaders too.
sources() {
    rooms='alloc capi core include internal/environment kernels objc onnx place serve tritonlang'
    if copied; then return; fi
    copy=build/library.$$
    rm -rf "$copy"
    mkdir -p "$copy/internal"
    : >"$copy/stamp"
    for room in $rooms go.mod go.sum; do cp -R "$room" "$copy/$room"; done
    find "$copy" -name '*_test.go' -exec rm {} +
    find "$copy" -type d -name testdata -prune -exec rm -rf {} +
    find "$copy" \( -name '*.go' -o -name go.mod \) -exec sed -i.old -e 's|github.com/paddle-mps/paddle-mps|pmps|g' {} +
    find "$copy" -name '*.old' -exec rm {} +
    separator='{"Replace": {'
    for file in kernels/metal/msl/*.metal tritonlang/emit/prelude.metal; do
        stripped "$file" >"$copy/$file"
        printf '%s\n"%s": "%s"' "$separator" "$root/$file" "$root/build/library/$file"
        separator=,
    done >"$copy/overlay.json"
    echo '}}' >>"$copy/overlay.json"
    if copied; then rm -rf "$copy" && return; fi # another build was faster
    rm -rf build/library
    mv "$copy" build/library
}

# copied: whether build/library is up to date.
copied() {
    # shellcheck disable=SC2086  # $rooms is a list
    [ -f build/library/stamp ] && [ -z "$(find $rooms go.mod go.sum build.sh -newer build/library/stamp)" ]
}

# platform: sets goos, the folder of what is built for it, and the library's name.
platform() {
    need_go
    goos=$(go env GOOS)
    folder=build/$goos-$(go env GOARCH)
    case $goos in darwin) name=libpaddlemps.dylib ;; *) name=libpaddlemps.so ;; esac
}

# native: whether what is built runs on this machine.
native() { [ "$folder" = "build/$(go env GOHOSTOS)-$(go env GOHOSTARCH)" ]; }

# link FILE STRIP EXTRA [TAG]: links the library for $goos to FILE; what is up to date is not linked again. STRIP are flags of Go's linker
# that leave symbols out, EXTRA flags of the system's, and TAG is a build constraint that leaves files out.
link() {
    need_cc
    link_lists
    sources
    # Packages that calls which are repeated do not reach are compiled for size: nothing is inlined, and in most of them slices of a
    # size that is not known are not kept on the stack, which takes code for both cases. Functions begin at multiples of 16 bytes, not of 32. What
    # each saves is in docs/design/build.md.
    to=$root/$1 strip=$2 extra=$3 tag=${4:-}
    set --
    for package in core/graph core/op/...; do set -- "$@" "-gcflags=pmps/$package=-l"; done
    for package in core/jsontext core/snapshot internal/environment kernels/metal/graphs kernels/metal/msl kernels/metal/shaders \
        kernels/metal/store objc/mpsgraph onnx/... serve/backend tritonlang/...; do
        set -- "$@" "-gcflags=pmps/$package=-l -d=variablemakethreshold=0"
    done
    for package in fmt os reflect strconv strings time; do set -- "$@" "-gcflags=$package=-l"; done
    # go build does not see the contents of the link lists.
    [ -z "$(find capi/exports.txt -newer "$to" 2>/dev/null)" ] || rm "$to"
    CGO_ENABLED=1 GOEXPERIMENT=$simd MACOSX_DEPLOYMENT_TARGET=13.0 go -C build/library build "$@" ${tag:+-tags "$tag"} -buildmode=c-shared -trimpath \
        -ldflags "$strip -funcalign=16 -extldflags \"$(link_flags "$goos") $extra\"" -o "$to" ./capi
}

# lib: the library is linked aside, then renamed into place, so that a process that has the old one mapped keeps it whole. That of
# another platform stays in its folder.
lib() {
    platform
    link "$folder/$name" '-s -w' ''
    native || return 0
    cp "$folder/$name" "$folder/$name.new"
    mv "$folder/$name.new" "python/paddle_mps/$name"
}

# lib_wheel: the library of a wheel for Linux on x86-64, with packed relocations, 1.1 MB less: glibc 2.36 and later can read them. It is
# without the backend for tritonserver, 0.1 MB, which `install` puts beside other libraries.
lib_wheel() {
    platform
    link "$folder/wheel/$name" '-s -w' '-Wl,-z,pack-relative-relocs' without_tritonserver
}

# lib_symbols: the library with its symbols, for `bench code library`, and prints its path.
lib_symbols() {
    platform
    link "$folder/symbols/$name" '' '' >&2
    echo "$folder/symbols/$name"
}

# venv DIR GROUPS: a virtual environment with the package, editable, and groups of pyproject.toml.
# It is left alone while it is newer than what defines it; the library is rebuilt by `lib`.
venv() {
    need_python
    stamp=$1/stamp-$2
    if [ -f "$stamp" ] && [ -z "$(find pyproject.toml hatch_build.py -newer "$stamp")" ]; then
        return
    fi
    say "installing [$2] into $1"
    make_venv "$1"
    # shellcheck disable=SC2046  # names of groups have no blanks
    pip "$1" install --editable . $(printf ' --group %s' $(printf %s "$2" | tr , ' '))
    : >"$stamp"
}

# make_venv DIR: pip before 25.1 knows no groups, and before 21.3 (in the Python 3.9 that comes with a Mac) no editable
# wheels. One in build/installer installs into all environments, for which Python would unpack its own first.
make_venv() {
    [ -x build/installer/bin/python ] || "$python" -m venv build/installer
    [ -f build/installer/stamp ] || {
        build/installer/bin/python -m pip --quiet --disable-pip-version-check install 'pip>=25.1'
        : >build/installer/stamp
    }
    [ -x "$1/bin/python" ] || "$python" -m venv --without-pip "$1"
    pip "$1" install 'pip>=25.1' # for what runs in it, such as tests/package
}

# pip DIR COMMAND...: modules are compiled when they are first imported, because few of those that are installed ever are.
pip() {
    interpreter=$1/bin/python
    shift
    [ "$1" != install ] || { shift && set -- install --no-compile "$@"; }
    build/installer/bin/python -m pip --quiet --disable-pip-version-check --python "$interpreter" "$@"
}

# tool: for a Mac the linker is that of the library, because Go's own knows another oldest macOS.
tool() {
    platform
    need_cc
    case $goos in darwin) linker=external ;; *) linker=auto ;; esac
    version=$(sed -n 's/^#define PMPS_VERSION "\(.*\)"/\1/p' include/paddlemps.h)
    CGO_ENABLED=1 GOEXPERIMENT=$simd MACOSX_DEPLOYMENT_TARGET=13.0 go build -trimpath \
        -ldflags "-s -w -linkmode=$linker -X main.version=$version" \
        -o "$folder/paddle-mps" ./cmd/paddle-mps
    # A server may be running from it, which keeps its file.
    if native; then cp -f "$folder/paddle-mps" build/paddle-mps; fi
}

# need_cmake: what C programs find libraries with.
need_cmake() {
    if command -v cmake >/dev/null && command -v pkg-config >/dev/null; then return; fi
    debian cmake pkg-config || missing 'CMake or pkg-config (for tests/package)' \
        'apt-get install cmake pkg-config' 'brew install cmake pkgconf'
}

# need_browser: Chromium and its driver. On Debian as root they are installed.
need_browser() {
    if command -v chromedriver >/dev/null && { command -v chromium || command -v google-chrome; } >/dev/null; then return; fi
    debian chromium chromium-driver || missing 'Chromium and its driver (for tests/browser)' 'apt-get install chromium chromium-driver' \
        'brew install --cask chromium chromedriver'
}

demo() {
    case ${1:-} in '' | ocr | serve | triton) ;; *) mistake "demo: got '$1'; want nothing, ocr, serve or triton" ;; esac
    if [ "${1:-}" = serve ]; then
        need_serve
        if [ -d .venv-tritonserver ]; then lib; fi # it is the backend there
        .venv-serve/bin/python examples/triton/demo.py
        return
    fi
    lib
    if [ "${1:-}" = ocr ]; then
        shift
        venv .venv-ocr ocr
        .venv-ocr/bin/python examples/ocr/ocr.py "$@"
        return
    fi
    if [ "${1:-}" = triton ]; then
        shift
        demo_triton "$@"
        return
    fi
    venv .venv demo
    .venv/bin/python examples/quickstart.py
}

wheel() {
    need_go
    need_python
    make_venv .venv
    pip .venv wheel --no-deps --wheel-dir dist .
    ls -l dist
}

# fill IN OUT: what capi/package has as a form, for the version and platform.
fill() {
    sed -e "s/@VERSION@/$version/" -e "s/@LIBRARY@/$name/" -e "s,@SONAME@,$soname," "capi/package/$1.in" >"$2/$1"
}

# install_to PREFIX: what a C or C++ program needs. All of it finds itself, so the folder can be moved.
install_to() {
    [ $# -eq 1 ] || mistake "install: got $# arguments; want one, the folder to install to (./build.sh install PREFIX)"
    case $1 in /*) ;; *) set -- "$caller/$1" ;; esac
    lib
    tool # which sets version
    case $goos in darwin) soname=@rpath/$name ;; *) soname=$name ;; esac
    doc=$1/share/doc/paddlemps
    mkdir -p "$1/bin" "$1/include" "$1/lib/pkgconfig" "$1/lib/cmake/paddlemps" "$doc/examples"
    cp "$folder/paddle-mps" "$1/bin/"
    cp include/paddlemps.h include/paddlemps_ops.h include/paddlemps.hpp include/paddlemps_ops.hpp "$1/include/"
    cp "$folder/$name" "$1/lib/$name.new"
    mv "$1/lib/$name.new" "$1/lib/$name"
    fill paddlemps.pc "$1/lib/pkgconfig"
    fill paddlemps-config.cmake "$1/lib/cmake/paddlemps"
    fill paddlemps-config-version.cmake "$1/lib/cmake/paddlemps"
    cp LICENSE THIRD_PARTY_LICENSES.md docs/install.md "$doc/"
    # Two copies of the library would be two Go runtimes in a server, hence a link. There is no server for macOS.
    case $goos in
    linux)
        mkdir -p "$1/backends/metal_mps"
        ln -sf "../../lib/$name" "$1/backends/metal_mps/libtriton_metal_mps.so"
        ;;
    esac
    cp -R examples/CMakeLists.txt examples/c examples/cpp "$doc/examples/"
}

tarball() {
    need_python
    platform
    rm -rf "$folder/prefix"
    install_to "$root/$folder/prefix"
    case $(go env GOARCH) in amd64) machine=x86_64 ;; *) machine=$(go env GOARCH) ;; esac
    case $goos in darwin) system=macos ;; *) system=$goos ;; esac
    mkdir -p dist
    "$python" capi/package/tarball.py "$folder/prefix" "dist/paddlemps-$version-$system-$machine.tar.gz"
}

# for_mac COMMAND...: runs it with what makes Go compile for a Mac, and nothing after it.
for_mac() (
    export GOOS=darwin GOARCH=arm64 CGO_ENABLED=1
    need_go
    need_cc
    "$@"
)

darwin() {
    for_mac tarball
    for_mac wheel
}

# on_mock MACOS PREFER COMMAND...: runs it with the Metal device on the mock of Apple's libraries, and nothing after it.
on_mock() (
    export FAKEMETAL_STRICT=1 FAKEMETAL_MACOS="$1" PADDLE_MPS_PREFER="$2" MPS_VERBOSE=0
    export PADDLE_MPS_DEVICE=metal PADDLE_MPS_METAL_LIBRARY="$root/build/libfakemetal.so"
    shift 2
    "$@"
)

# demo_triton [NAME | FILE.py]: examples written in Triton, or a program of the user; without arguments, all examples.
demo_triton() {
    [ $# -le 1 ] || mistake "demo triton: got $# arguments; want at most one"
    case ${1:-} in
    '') set -- examples/triton/add.py examples/triton/softmax.py examples/triton/attention.py ;;
    /*.py) ;;
    *.py) set -- "$caller/$1" ;;
    *) set -- "examples/triton/$1.py" ;;
    esac
    [ -f "$1" ] || mistake "demo triton: there is no $1; want add, softmax, attention or the path of a Python file"
    need_python
    lib
    sh tests/fakemetal/build.sh
    venv .venv-triton triton
    for program in "$@"; do
        PADDLE_MPS_TRITON=1 on_mock 15.0 '' .venv-triton/bin/python "$program" || return 1
    done
}

# need_tritonserver: the server in .venv-tritonserver. Its package names NumPy 1 and others, which the server itself needs not.
need_tritonserver() {
    [ "$(uname -s)" = Linux ] || { echo 'build.sh: there is a tritonserver for Linux only' >&2 && exit 1; }
    lib
    venv .venv-tritonserver tritonserver
    pip .venv-tritonserver install --no-deps nvidia-pytriton==0.7.0
}

# need_serve: the server of models, and its clients in .venv-serve.
need_serve() {
    need_python
    tool
    [ -f .venv-serve/stamp ] && [ -z "$(find pyproject.toml -newer .venv-serve/stamp)" ] || {
        say 'installing [serve] into .venv-serve'
        make_venv .venv-serve
        pip .venv-serve install --group serve # not the package: the server is a program in Go
        pip .venv-serve install --no-deps kserve==0.21.0 # what it needs is a web server and clouds; its types need none of them
        : >.venv-serve/stamp
    }
    GOEXPERIMENT=$simd go build -trimpath -o build/serve-load ./cmd/paddle-mps/internal/load
}

# bench_peers: .venv-bench, with PyTorch where it installs.
bench_peers() {
    venv .venv-bench bench
    .venv-bench/bin/python -c 'import torch' 2>/dev/null || [ -f .venv-bench/no-torch ] ||
        pip .venv-bench install --group torch || {
        echo 'build.sh: PyTorch does not install here; its column stays empty' >&2
        : >.venv-bench/no-torch
    }
}

clean() {
    rm -rf build dist .venv .venv-* examples/out .pytest_cache .mypy_cache .ruff_cache
    rm -f python/paddle_mps/libpaddlemps.*
    find . -name __pycache__ -type d -prune -exec rm -rf {} +
}

# need_python311: what the packages of some environments want.
need_python311() {
    need_python
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        missing 'Python 3.11 or later (for the NumPy of the recorded answers, and triton 3.9.0)' \
            'apt-get install python3.11 python3.11-venv    # then set PYTHON=python3.11' \
            'brew install python@3.13'
}

# bench_beside_paddle: PaddlePaddle, and the other peers, found after what is in .venv-peers.
bench_beside_paddle() {
    venv .venv-peers peers
    bench_peers
    .venv-bench/bin/python -c 'import site; print(*site.getsitepackages())' \
        >"$(.venv-peers/bin/python -c 'import site; print(*site.getsitepackages())')/bench.pth"
}

# prepare NEED: builds or installs what a part of tests/parts.toml needs.
prepare() {
    mkdir -p build
    case ${1:-} in
    lib | tool) "$1" ;;
    status) git status --porcelain >build/status.before ;; # for clean_tree of tests/check.sh
    lib-darwin) for_mac lib ;;
    lib-symbols) lib_symbols ;;
    lib-wheel) lib_wheel ;;
    mock) sh tests/fakemetal/build.sh ;;
    go | cc) need_go && need_cc ;;
    cmake | browser | emulator | serve | tritonserver | clang | python311) "need_$1" ;;
    clients) # without haproxy the test of examples/fleet is left out
        need_serve
        command -v haproxy >/dev/null || [ -x /usr/sbin/haproxy ] || debian haproxy || true
        sh tests/serve/clients.sh ;;
    venv) [ $# -eq 3 ] || mistake "prepare venv: got $(($# - 1)) arguments; want folder and groups" && venv "$2" "$3" ;;
    check)
        need_go
        need_cc
        git rev-parse --git-dir >/dev/null 2>&1 || missing 'git, or a git checkout,' \
            'apt-get install git' 'xcode-select --install'
        venv .venv test,demo,browser,check
        ;;
    wrk) command -v wrk >/dev/null || debian wrk || missing wrk 'apt-get install wrk' 'brew install wrk' ;;
    bench-peers) bench_peers ;;
    bench-beside-paddle) bench_beside_paddle ;;
    *) mistake "prepare: got '${1:-}'; want a need of tests/parts.toml" ;;
    esac
}

# parts COMMAND...: the runner of tests, checks and benchmarks; see tests/runner.
parts() {
    need_python
    "$python" -c 'import tomllib' 2>/dev/null || "$python" -c 'import pip._vendor.tomli' 2>/dev/null ||
        missing 'Python 3.11 or later, or pip for an older one,' 'apt-get install python3-pip' 'brew install python@3.13'
    exec "$python" tests/parts.py "$@"
}

command=${1:-help}
[ $# -eq 0 ] || shift
case $command in
demo | lib | tool | wheel | tarball | darwin | clean | prepare) "$command" "$@" ;;
install) install_to "$@" ;;
test | bench | check | ci) parts "$command" "$@" ;;
help | -h | --help) usage ;;
*) mistake "got command '$command'; want one of those above" ;;
esac
