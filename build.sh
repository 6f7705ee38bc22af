#!/bin/sh
# Builds, tests and runs paddle_mps. `./build.sh help` lists the commands.
#
# All output stays in the checkout and is git-ignored: build/ (link lists, logs), dist/ (wheels),
# .venv* (Python packages, pinned in pyproject.toml) and the library inside python/paddle_mps. The
# system's Python is used only to create virtual environments.
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
                  million operators, not 1.5 million, and, on Linux, run all of test darwin; where test triton has
                  been run, its kernels with Triton 3.6 to 3.8 too, and with TRITON_SOURCE bench triton-core
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
  bench pair [-rounds N] [-only REGEX] REV NAME [ARGS]
                  run bench/NAME of REV and of the working tree alternately; print each ratio
  check           check formatting, linters, types, all shaders, generated files and that the tree is clean
  clean           remove all output of this script

environment:
  PYTHON             interpreter for the virtual environments
  CC, GOOS, GOARCH   compiler and target of lib, tool, wheel and tarball
  LLVM               version of clang and lld for darwin
  PADDLE_MPS_DEVICE  the device behind mps: see docs/environment.md
  PADDLE_MPS_SAMPLE  the turn of test and test darwin, a number, by default that of commits; empty: all turns
EOF
}

# Pinned tools that are Go programs; the Python ones are pinned in pyproject.toml.
gofumpt=mvdan.cc/gofumpt@v0.12.0
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2 # 2026.2.2
actionlint=github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

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

# shaders_stripped: copies of the shaders without comments and indentation, which are 30 KB, and build/overlay.json, with which Go
# embeds them instead of the files. The lines stay, so that messages of compilers have the same numbers.
shaders_stripped() {
    mkdir -p build/shaders
    separator='{"Replace": {'
    for file in kernels/metal/msl/*.metal; do
        to=build/shaders/${file##*/}
        sed -e 's|^ *||' -e 's| *//.*||' "$file" >"$to.$$"
        mv "$to.$$" "$to" # whole at any time: another build may read it
        printf '%s\n"%s": "%s"' "$separator" "$root/$file" "$root/$to"
        separator=,
    done >"build/overlay.json.$$"
    echo '}}' >>"build/overlay.json.$$"
    mv "build/overlay.json.$$" build/overlay.json
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

# lib: the library is linked aside (and not relinked while it is up to date), then renamed into
# place, so that a process that has the old one mapped keeps it whole. That of another platform stays
# in its folder.
lib() {
    platform
    need_cc
    link_lists
    shaders_stripped
    # Nothing is inlined in packages that calls which are repeated do not reach, 700 KB: onnx, which runs once for each model
    # and shape, tritonlang, graphs and operators, where Metal's shaders and graphs are written and stored, the backend of
    # tritonserver, and what writes messages and reads JSON. Functions begin at multiples of 16 bytes, not of 32: another 110 KB.
    module=github.com/paddle-mps/paddle-mps small=
    for package in onnx serve/backend tritonlang/... kernels/metal/shaders kernels/metal/graphs kernels/metal/msl kernels/metal/store core/graph core/op; do
        small="$small -gcflags=$module/$package=-l"
    done
    for package in encoding/json fmt os reflect strconv strings time; do small="$small -gcflags=$package=-l"; done
    # go build does not see the contents of the link lists.
    [ -z "$(find capi/exports.txt -newer "$folder/$name" 2>/dev/null)" ] || rm "$folder/$name"
    # shellcheck disable=SC2086  # $small is a list
    CGO_ENABLED=1 GOEXPERIMENT=$simd MACOSX_DEPLOYMENT_TARGET=13.0 go build $small -overlay build/overlay.json \
        -buildmode=c-shared -trimpath -ldflags "-s -w -funcalign=16 -extldflags \"$(link_flags "$goos")\"" \
        -o "$folder/$name" ./capi
    native || return 0
    cp "$folder/$name" "$folder/$name.new"
    mv "$folder/$name.new" "python/paddle_mps/$name"
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
# wheels.
make_venv() {
    [ -x "$1/bin/python" ] || "$python" -m venv "$1"
    pip "$1" install 'pip>=25.1'
}

pip() {
    interpreter=$1/bin/python
    shift
    "$interpreter" -m pip --quiet --disable-pip-version-check "$@"
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

# part NAME FORMAT COMMAND...: runs one part of `test` or `check` and counts it; never fails.
# FORMAT tells tests/count.py how to read the output: go (test2json), junit, lines or status.
part() {
    name=$1 format=$2 log=build/parts/$1.log
    shift 2
    say "$name"
    status=0 since=$(date +%s)
    "$@" >"$log" 2>&1 || status=$?
    .venv/bin/python tests/count.py add build/parts "$name" "$format" "$status" $(($(date +%s) - since))
}

# aside FUNCTION ARGUMENT...: the parts that a function runs, each of which keeps one processor busy, beside the parts up
# to `join`, which prints what they said.
aside() {
    beside=$1
    "$@" >"build/parts/$1.said" 2>&1 &
    trap 'end $!; exit 130' INT # what is in the background ignores it
}
# end PROCESS: ends it and what it has started.
end() {
    started_by=$(pgrep -P "$1")
    kill "$1"
    for child in $started_by; do end "$child"; done
}
join() {
    wait
    trap - INT
    cat "build/parts/$beside.said"
}

# parts_begin and parts_end enclose parts; parts_end prints the sum and fails if a part has failed.
parts_begin() { rm -rf build/parts && mkdir -p build/parts; }
parts_end() { .venv/bin/python tests/count.py total build/parts; }

go_test() {
    experiment=$1
    shift
    GOEXPERIMENT=$experiment go test -timeout 30m -json "$@" # with an empty shader cache 10 minutes can be too few
}

# long: whether everything is to run, and not what has its turn at this commit.
long() { [ "${PADDLE_MPS_LONG:-}" = 1 ]; }

# take_turns: the number of the turn of what tests/sampling.py leaves out, that of commits. A shallow clone does not know
# it, and takes the time of its commit.
take_turns() {
    if long; then
        unset PADDLE_MPS_SAMPLE
    elif [ -z "${PADDLE_MPS_SAMPLE+given}" ]; then
        if [ "$(git rev-parse --is-shallow-repository 2>/dev/null)" = true ]; then set -- log -1 --format=%ct; else set -- rev-list --count HEAD; fi
        PADDLE_MPS_SAMPLE=$(git "$@" 2>/dev/null || echo 0)
        export PADDLE_MPS_SAMPLE
    fi
}

# go_race: the packages that share memory between threads, in three turns; with `test long` all but those that run
# compilers and read source. -short takes less of what only one goroutine does, such as more shapes of one kernel; the part
# go has all of it.
go_race() {
    race=$(go list ./... | grep -v '/tests/msl$\|/internal/lint$')
    if ! long; then
        case ${PADDLE_MPS_SAMPLE:+$((PADDLE_MPS_SAMPLE % 3))} in
        0) share='alloc\|capi\|objc\|core/\(device\|profile\|program\|runtime\|slot\)' ;;
        1) share='kernels/host' ;;
        2) share='kernels/metal\(/gpu\)\{0,1\}' ;;
        *) share='alloc\|capi\|objc\|core/\(device\|profile\|program\|runtime\|slot\)\|kernels/\(host\|metal\|metal/gpu\)' ;;
        esac
        all=$(echo "$race" | wc -l)
        race=$(echo "$race" | grep "paddle-mps/\\($share\\)\$")
        echo "left out $((all - $(echo "$race" | wc -l))): packages that have their turn at another commit, or run here with test long"
    fi
    # shellcheck disable=SC2086  # import paths have no blanks
    go_test "$simd" -race -short $race
}

# Exact answers that take mpmath long are kept in build/oracles for the parts and runs after this one.
export PADDLE_MPS_ORACLES="$root/build/oracles"

# go_portable: the kernels without SIMD. Shaders and graphs have no other form without it, and only what they are compared
# with has: they run with `test long`, for some shapes. With -short the modes of the host device take turns.
go_portable() {
    short=0
    if long; then
        go_test '' -short ./kernels/metal/shaders ./kernels/metal/graphs || short=$?
        # shellcheck disable=SC2046  # import paths have no blanks
        set -- $(go list ./kernels/... | grep -v '/metal/\(shaders\|graphs\)$')
    else
        echo "left out $(go list ./kernels/metal/... | wc -l): packages that run here with test long only"
        go_test '' -short ./kernels/host || short=$?
        set -- ./kernels ./kernels/host/vec/...
    fi
    go_test '' "$@" && return $short
}

# go_invariants: with -short the largest tensors, whose freed memory takes long to overwrite, take turns.
go_invariants() {
    if long; then set --; else set -- -short; fi
    go_test "$simd" -tags invariants "$@" ./alloc ./core/runtime ./core/slot
}

py_test() {
    report=build/parts/$1.xml
    shift
    .venv/bin/python -m pytest --quiet --junitxml="$report" "$@"
}

# conformance NAME OPTION...: the suite. For its many small cases pytest catches what Python prints and no more: what C
# prints is in the log of the part.
conformance() {
    report_as=$1
    shift
    py_test "$report_as" --capture=sys -p no:logging tests/conformance "$@"
}

# conformance_mps NAME LIMIT OPTION...: the suite on the emulated mps device; -1 runs nothing on the caller.
# The options are pytest's: which cases.
conformance_mps() {
    report_as=$1 limit=$2
    shift 2
    PADDLE_MPS_DEVICE=host PADDLE_MPS_INLINE=$limit conformance "$report_as" "$@"
}

# on_mock MACOS PREFER COMMAND...: runs it with the Metal device on the mock of Apple's libraries, and nothing after it.
on_mock() (
    export FAKEMETAL_STRICT=1 FAKEMETAL_MACOS="$1" PADDLE_MPS_PREFER="$2" MPS_VERBOSE=0
    export PADDLE_MPS_DEVICE=metal PADDLE_MPS_METAL_LIBRARY="$root/build/libfakemetal.so"
    shift 2
    "$@"
)

# conformance_metal NAME PREFER MACOS OPTION...: the suite on the mock, with worst-case arithmetic and without CPU
# fallback. Sources of shaders are kept for shaders_listed.
conformance_metal() {
    report_as=$1 prefer=$2 macos=$3
    shift 3
    mkdir -p build/sources
    FAKEMETAL_SOURCES=$root/build/sources FAKEMETAL_WORST=1 PADDLE_MPS_FALLBACK=0 on_mock "$macos" "$prefer" \
        conformance "$report_as" "$@"
}

# shaders_listed: whether `check` compiles all shaders that the conformance suite has compiled.
shaders_listed() { GOEXPERIMENT=$simd go run -overlay build/overlay.json ./tests/msl -lists build/sources; }

# replay PLACE [--traced | --every N]: Paddle's recorded answers, on the device behind PLACE, or by traced functions. On the mock, what
# has no kernel there runs on the CPU.
replay() { .venv/bin/python tests/peers/compare.py --place "$@" --replay tests/peers/paddle_3_3_1.json; }
# gradients PLACE [--traced]: Paddle's recorded gradients, likewise.
gradients() { .venv/bin/python tests/peers/gradients.py --place "$@" --replay tests/peers/gradients_3_3_1.json; }
gradients_host() { PADDLE_MPS_DEVICE=host gradients mps; }
replay_host() { PADDLE_MPS_DEVICE=host replay mps; }

# differential: random programs on cpu and mps against NumPy, the same for a few seconds; with `test long`, 100,000 others.
differential() {
    if [ "${PADDLE_MPS_LONG:-}" = 1 ]; then set -- "$@" --programs 100000; else set -- "$@" --seconds 5 --seed 1; fi
    .venv/bin/python tests/differential/run.py "$@"
}
differential_traced() { PADDLE_MPS_DEVICE=host differential --traced; }
differential_host() { PADDLE_MPS_DEVICE=host differential; }
differential_queue() { PADDLE_MPS_DEVICE=host PADDLE_MPS_INLINE=-1 differential; }

# refusals NAME: what Apple's compilers refuse, one after the other, is computed in another way. With `test long` this
# takes hours, and goes on where it was ended with the same build.
refusals() { FAKEMETAL_WORST=1 py_test "$1" tests/refusals --resume "build/$1.finished"; }

# conformance_refused NAME OPTION...: the suite with all shaders and graphs refused, which the CPU then computes.
conformance_refused() { FAKEMETAL_REFUSE='*' conformance "$@"; }

# fuzz TIME PACKAGE...: each fuzz target of these packages for that time.
fuzz() {
    time=$1
    shift
    GOEXPERIMENT=$simd go test -list '^Fuzz' "$@" | awk '
        /^Fuzz/ { names = names " " $1 }
        /^ok/   { n = split(names, f, " "); for (i = 1; i <= n; i++) print f[i], $2; names = "" }
    ' | while read -r target package; do
        echo "fuzz $target $package"
        for attempt in 1 2 3; do
            status=0
            GOEXPERIMENT=$simd go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 1x "$package" </dev/null >build/fuzz.log 2>&1 || status=$?
            cat build/fuzz.log
            [ "$status" -ne 0 ] || break
            # Before 1.27, Go may take the end of the time for a failure: https://go.dev/issue/75804.
            [ "$attempt" -lt 3 ] && grep -q '^ *context deadline exceeded$' build/fuzz.log && ! grep -q 'Failing input' build/fuzz.log || exit 1
        done
    done
}

# conformance_parts: the suite on every device, but for those that run_tests has beside them. An operator in a dtype runs
# in one of the turns that --every counts, with `test long` always.
conformance_parts() {
    part conformance-mps junit conformance_mps conformance-mps '' --every 3
    part conformance-msl junit conformance_metal conformance-msl msl 13.0 --every 11
    part conformance-mpsgraph junit conformance_metal conformance-mpsgraph mpsgraph 13.0 --every 7
    part conformance-refused junit on_mock 13.0 '' conformance_refused conformance-refused --every 5
    # What is done otherwise from macOS 14 on: bfloat16, int64 and nonzero; from 15: math modes, strides.
    part conformance-macos-14 junit conformance_metal conformance-macos-14 mpsgraph 14.0 --every 5 -k 'bfloat16 or int64 or nonzero'
    part conformance-macos-15 junit conformance_metal conformance-macos-15 mpsgraph 15.0 --every 7 -k 'bfloat16 or strided or transposed or reversed or misaligned'
    part conformance-msl-15 junit conformance_metal conformance-msl-15 msl 15.0 --every 3 -k 'float32 and (same or broadcast)'
}

# replay_parts: Paddle's recorded answers and gradients on every device, and what the compilers of the mock refuse.
replay_parts() {
    part paddle-replay lines replay cpu
    part paddle-traced lines replay cpu --traced
    part gradients-traced lines gradients cpu --traced
    part replay-mps lines replay_host
    part replay-msl lines on_mock 13.0 msl replay mps --every 5
    part replay-mpsgraph lines on_mock 13.0 mpsgraph replay mps
    part gradients lines gradients cpu
    part gradients-mps lines gradients_host
    part gradients-msl lines on_mock 13.0 msl gradients mps
    part gradients-mpsgraph lines on_mock 13.0 mpsgraph gradients mps
    part refusals-msl junit on_mock 13.0 msl refusals refusals-msl
    part refusals-mpsgraph junit on_mock 13.0 mpsgraph refusals refusals-mpsgraph
}

# parts_on_mock: what runs beside the parts of one process.
parts_on_mock() {
    conformance_parts
    replay_parts
}

run_tests() {
    lib
    tool
    mkdir -p build
    need_browser
    need_cmake
    venv .venv test,demo,browser
    if long; then fuzz_seconds=3600; else fuzz_seconds=10; fi
    take_turns
    parts_begin
    rm -rf build/sources
    sh tests/fakemetal/build.sh # before two parts do it at one time
    aside parts_on_mock
    part python junit py_test python tests --ignore=tests/machorun --ignore=tests/triton --ignore=tests/serve --ignore=tests/tritonserver --ignore=tests/readme --ignore=tests/package --ignore=tests/conformance --ignore=tests/refusals --ignore=tests/browser --ignore=tests/processes --ignore=tests/selftest
    part processes junit py_test processes tests/processes
    part readme junit py_test readme tests/readme
    part browser junit py_test browser tests/browser
    part conformance-cpu junit conformance conformance-cpu --every 3
    part conformance-queue junit conformance_mps conformance-queue -1 --every 3
    part c lines sh tests/c/run.sh
    part fakemetal lines sh tests/fakemetal/run.sh
    part package junit py_test package tests/package
    part c-fuzz lines sh tests/fuzz/run.sh "$fuzz_seconds"
    part differential lines differential_host
    part differential-queue lines differential_queue
    part differential-msl lines on_mock 13.0 msl differential
    part differential-mpsgraph lines on_mock 13.0 mpsgraph differential
    part differential-traced lines differential_traced
    join
    # Each of these keeps two processors busy by itself.
    part go go go_test "$simd" ./...
    part go-race go go_race
    [ -z "$simd" ] || part go-portable go go_portable
    part go-invariants go go_invariants
    part shaders-listed lines shaders_listed
    part selftest junit py_test selftest tests/selftest
    if [ "${PADDLE_MPS_LONG:-}" != 1 ]; then
        part onnx-fuzz status fuzz 30s ./onnx # files of models come from anywhere
    else
        part fuzz status fuzz 30s ./...
        [ ! -d .venv-triton ] || part triton-frontend status triton_frontend
        [ ! -d .venv-triton ] || part triton-versions status triton_versions
        [ -z "${TRITON_SOURCE:-}" ] || part triton-core status triton_source core --least 0.95
        [ "$(uname -s)" != Linux ] || { need_emulator && darwin_parts; }
    fi
    parts_end
}

# test_op NAME: what concerns one operator, of each part that has something about it. tests/operator says
# which tests in Go those are; nothing here knows an operator.
test_op() {
    [ $# -eq 1 ] || mistake "test op: got $# arguments; want one, the name of an operator (./build.sh test op NAME)"
    grep -q " $1\$" core/op/testdata/ids.golden || {
        printf 'build.sh: there is no operator %s; for a new row, run go generate ./core/op first\n' "$1" >&2
        exit 2
    }
    started=$(date +%s)
    lib
    venv .venv test,demo,browser
    sh tests/fakemetal/build.sh
    parts_begin
    aside op_conformance "$1"
    part op-table go go_test "$simd" ./core/op/...
    part op-kernels go kernels_op "$1"
    elsewhere=$(.venv/bin/python -c 'import sys; from paddle_mps.selftest import suite
print(suite.BY_NAME[sys.argv[1]].get("elsewhere", ""))' "$1")
    case $elsewhere in
    '') ;;
    *.py) part op-python junit py_test op-python "$elsewhere" ;;
    *) part op-python junit py_test op-python tests/python/test_paddle_answers.py ;;
    esac
    part op-paddle lines replay_op "$1"
    join
    say "$1: $(($(date +%s) - started)) s"
    parts_end
}

# op_conformance NAME: the cases of one operator on every device.
op_conformance() {
    part op-cpu junit conformance op-cpu --operator "$1"
    part op-mps junit conformance_mps op-mps '' --operator "$1"
    part op-queue junit conformance_mps op-queue -1 --operator "$1"
    part op-msl junit conformance_metal op-msl msl 13.0 --operator "$1"
    part op-mpsgraph junit conformance_metal op-mpsgraph mpsgraph 13.0 --operator "$1"
    part op-macos-15 junit conformance_metal op-macos-15 mpsgraph 15.0 --operator "$1"
}

# kernels_op NAME: the tests in Go that go over operators, for this one.
kernels_op() {
    go run ./tests/operator "$1" >build/parts/operator.txt || return 1
    # shellcheck disable=SC2046  # names of packages have no blanks
    go_test "$simd" -run "$(head -n 1 build/parts/operator.txt)" $(tail -n +2 build/parts/operator.txt)
}

# replay_op NAME: Paddle's recorded answers to expressions of that operator, or with its name as a word.
replay_op() {
    .venv/bin/python tests/peers/compare.py --replay tests/peers/paddle_3_3_1.json --operator "$1" >build/parts/replay.txt
    replayed=$?
    cat build/parts/replay.txt
    grep -q '^ok \|^FAIL ' build/parts/replay.txt || echo "skip $1: no expression of tests/peers has it"
    return $replayed
}

# conformance_darwin NAME CASES EVERY VARIABLE...: the suite, or the cases that an expression picks, or one in EVERY of
# them, on the library for macOS, with these in the environment of its process.
conformance_darwin() {
    name=$1 cases=$2 machorun=$root/build/machorun
    export MACHORUN_EVERY="$3"
    shift 3
    MACHORUN_SERVER="env PADDLE_MPS_METAL_LIBRARY=$machorun/libfakemetal.dylib FAKEMETAL_CACHE=$machorun/shadercache \
        FAKEMETAL_CXX=aarch64-linux-gnu-g++ FAKEMETAL_STRICT=1 FAKEMETAL_WORST=1 PADDLE_MPS_FALLBACK=0 $* \
        sh $root/tests/machorun/exec.sh $machorun/server" py_test "$name" tests/machorun ${cases:+-k "$cases"}
}

# Shaders of all dtypes would take g++ as long as everything else here together; they run as code for this
# machine in conformance-metal.
test_darwin() {
    need_emulator
    lib
    venv .venv test,demo,browser
    take_turns
    parts_begin
    darwin_parts
    parts_end
}

# arm64_go: the innermost loops as code for Linux on arm64, where GCC compiles what Clang compiles for a Mac.
arm64_go() {
    GOOS=linux GOARCH=arm64 CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc go_test '' -short \
        -exec 'qemu-aarch64 -L /usr/aarch64-linux-gnu' ./kernels/host/vec
}

# darwin_parts: of shaders and graphs one case in a few, which PADDLE_MPS_LONG=1 lifts.
darwin_parts() {
    for_mac lib
    part darwin-build status sh tests/machorun/build.sh
    part darwin-c lines sh tests/machorun/run.sh
    part darwin-go go for_mac sh tests/machorun/go.sh test
    part arm64-go go arm64_go
    part darwin-go-rest lines sh tests/machorun/go.sh skipped
    part darwin-host junit conformance_darwin darwin-host '' 1 PADDLE_MPS_DEVICE=host
    part darwin-shaders junit conformance_darwin darwin-shaders 'float32 or int64 or bool or failures or all_cases' 5 PADDLE_MPS_DEVICE=metal
    part darwin-graphs junit conformance_darwin darwin-graphs '' 10 PADDLE_MPS_DEVICE=metal PADDLE_MPS_PREFER=mpsgraph
}

# need_peers GROUPS: PaddlePaddle in .venv-peers.
need_peers() {
    need_python
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        missing 'Python 3.11 or later (for the NumPy of the recorded answers)' \
            'apt-get install python3.11 python3.11-venv    # then set PYTHON=python3.11' \
            'brew install python@3.13'
    lib
    venv .venv-peers "$1"
}

# paddle_suite: Paddle's own tests, from its source, over this library and over PaddlePaddle.
paddle_suite() {
    need_peers peers,paddle-suite
    .venv-peers/bin/python tests/paddle_suite/run.py "$@"
}

peers() {
    need_peers peers
    peers_status=0
    .venv-peers/bin/python tests/peers/exchange.py || peers_status=1
    .venv-peers/bin/python tests/peers/surface.py || peers_status=1
    .venv-peers/bin/python tests/peers/compare.py || peers_status=1
    .venv-peers/bin/python tests/peers/gradients.py || peers_status=1
    .venv-peers/bin/python tests/peers/coverage.py || peers_status=1
    return $peers_status
}

# triton: kernels written in Triton through the plug-in, on the mock, against NumPy; see tests/triton/run.py.
triton() {
    need_python
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        missing 'Python 3.11 or later (for triton 3.9.0)' \
            'apt-get install python3.11 python3.11-venv    # then PYTHON=python3.11 ./build.sh test triton' \
            'triton has no wheels for a Mac'
    lib
    sh tests/fakemetal/build.sh
    venv .venv-triton triton
    triton_status=0
    with_triton triton .venv-triton/bin/python tests/triton/run.py "$@" || triton_status=1
    triton_frontend "$@" || triton_status=1
    [ $# -gt 0 ] || triton_random || triton_status=1
    with_triton triton .venv-triton/bin/python -m pytest --quiet tests/triton || triton_status=1
    return $triton_status
}

# with_triton CACHE COMMAND...: runs it on the mock with the plug-in and the detector of races, and keeps compiled kernels in
# build/CACHE.
with_triton() (
    export TRITON_CACHE_DIR="$root/build/$1" PADDLE_MPS_TRITON=1 FAKEMETAL_RACES=1 FAKEMETAL_ADDRESSES=1
    shift
    on_mock 15.0 '' "$@"
)

# triton_frontend [NAME...]: the same kernels without Triton's compiled module, a fifth of them at each commit, or all with
# PADDLE_MPS_LONG=1.
triton_frontend() (
    take_turns
    with_triton triton .venv-triton/bin/python tests/triton/run.py --frontend --every 5 "$@"
)

# triton_versions: the same kernels with the wheels of the other versions that the plug-in supports.
triton_versions() (
    versions_status=0
    for version in 3-6 3-7 3-8; do
        venv ".venv-triton-$version" "triton-$version"
        with_triton "triton-$version" ".venv-triton-$version/bin/python" tests/triton/run.py || versions_status=1
    done
    return $versions_status
)

# triton_random: random programs, other ones at each commit, with Triton's compiled module and without it.
triton_random() (
    take_turns
    if long; then seconds=300; else seconds=15; fi
    random_status=0
    for how in '' --frontend; do
        # shellcheck disable=SC2086  # an option or none
        with_triton triton-random .venv-triton/bin/python tests/triton/fuzz.py $how --seconds $seconds --first "${PADDLE_MPS_SAMPLE:-0}0000" || random_status=1
    done
    rm -rf "$root/build/triton-random"
    return $random_status
)

# triton_source PROGRAM ARGUMENT...: a program of tests/triton that runs files of Triton's source, with PyTorch beside it.
# Its wheel for CUDA takes 5 GB; with PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu it is one for the CPU.
triton_source() {
    need_python
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        missing 'Python 3.10 or later (for triton 3.6.0)' \
            'apt-get install python3.11 python3.11-venv    # then set PYTHON=python3.11' \
            'triton has no wheels for a Mac'
    lib
    sh tests/fakemetal/build.sh
    venv .venv-triton-source triton-source
    program=$1
    shift
    with_triton triton .venv-triton-source/bin/python "tests/triton/$program.py" "$@"
}

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

onnx() {
    need_python
    lib
    venv .venv-onnx onnx
    onnx_status=0
    .venv-onnx/bin/python tests/onnx/run.py || onnx_status=1
    # What the tests of the replacement expect is what onnxruntime itself does.
    for module in onnxruntime paddle_mps.onnxruntime; do
        ONNXRUNTIME_MODULE=$module .venv-onnx/bin/python -m pytest --quiet tests/python/test_onnxruntime.py || onnx_status=1
    done
    .venv-onnx/bin/python -m pytest --quiet tests/onnx/microsoft.py tests/onnx/quantized.py tests/onnx/elements.py tests/onnx/strings.py tests/onnx/training.py || onnx_status=1
    .venv-onnx/bin/python tests/onnx/programs.py || onnx_status=1
    return $onnx_status
}

exports() {
    lib
    venv .venv-exports exports
    .venv-exports/bin/python tests/onnx/exports.py "$@"
}

# need_tritonserver: the server in .venv-tritonserver. Its package names NumPy 1 and others, which the server itself needs not.
need_tritonserver() {
    [ "$(uname -s)" = Linux ] || { echo 'build.sh: there is a tritonserver for Linux only' >&2 && exit 1; }
    lib
    venv .venv-tritonserver tritonserver
    pip .venv-tritonserver install --no-deps nvidia-pytriton==0.7.0
}

tritonserver() {
    need_tritonserver
    .venv-tritonserver/bin/python -m pytest --quiet tests/tritonserver "$@" || return 1
    need_serve
    .venv-serve/bin/python -m pytest --quiet tests/serve/test_comparison.py --live
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
    GOEXPERIMENT=$simd go build -o build/serve-load ./cmd/paddle-mps/internal/load
    # The test of examples/fleet is left out where there is none.
    command -v haproxy >/dev/null || [ -x /usr/sbin/haproxy ] || debian haproxy || true
}

# need_clients: promtool, and the perf_analyzer that runs on Debian 12, in build/clients. Debian's packages are unpacked there and
# not installed, because the one of promtool would start a server. A test whose program is missing is skipped and says so.
need_clients() {
    [ "$(go env GOOS)-$(go env GOARCH)" = linux-amd64 ] && command -v apt-get >/dev/null || return 0
    clients=$root/build/clients
    if [ ! -f "$clients/stamp" ]; then
        say 'installing promtool and perf_analyzer into build/clients'
        rm -rf "$clients" && mkdir -p "$clients/debian"
        # perf_analyzer is linked with libb64 and CUDA's runtime; it asks a server that has no GPU.
        pip .venv-serve install --no-deps --target "$clients/python" tritonclient==2.51.0 nvidia-cuda-runtime-cu12==12.6.77
        (
            [ "$(id -u)" != 0 ] || apt-get update
            cd "$clients/debian"
            apt-get download prometheus libb64-0d
            for package in *.deb; do dpkg -x "$package" .; done
            rm ./*.deb
        ) >build/clients.log 2>&1 || return 0
        printf '#!/bin/sh\nLD_LIBRARY_PATH="%s:%s" exec "%s" "$@"\n' "$clients/debian/usr/lib/x86_64-linux-gnu" \
            "$clients/python/nvidia/cuda_runtime/lib" "$clients/python/bin/perf_analyzer" >"$clients/perf_analyzer"
        chmod +x "$clients/perf_analyzer"
        : >"$clients/stamp"
    fi
    export PATH="$clients/debian/usr/bin:$PATH" PERF_ANALYZER="$clients/perf_analyzer"
}

# serve: the server of models, asked by the clients that people have.
serve() {
    need_serve
    need_clients
    (cd tests/manifests && go test ./...) || return 1
    serve_status=0
    .venv-serve/bin/python -m pytest --quiet tests/serve || serve_status=1
    # Requests, configurations and regions, each for a few seconds; with test long for longer, as all others.
    fuzz 4s ./serve/... ./cmd/... >build/serve-fuzz.log 2>&1 || { cat build/serve-fuzz.log && serve_status=1; }
    return $serve_status
}

bench() {
    if [ $# -eq 0 ]; then
        for file in bench/*.py bench/*/main.go; do basename "${file%/main.go}" .py; done
        printf '%s\n' triton triton-core
        return
    fi
    if [ "$1" = triton ]; then # what compiled kernels contain and ask of a GPU, and what compiling and launching costs
        lib
        GOEXPERIMENT=$simd go test -v -run 'Counts$' -bench Compile ./tritonlang || return 1
        (bench triton_counts) || return 1
        set -- triton_launch
    fi
    if [ "$1" = arm64 ]; then
        [ "$(uname -s)" = Linux ] || { echo 'build.sh: bench arm64 is for Linux, whose emulator counts instructions' >&2 && exit 1; }
        need_emulator
        need_go
        need_python
        shift
        "$python" bench/arm64.py "$@"
        return
    fi
    if [ "$1" = pair ]; then venv .venv-bench bench; fi
    if [ "$1" = triton-core ]; then
        shift
        triton_source core "$@"
        return
    fi
    if [ -f "bench/$1/main.go" ]; then
        lib
        program=./bench/$1
        shift
        GOEXPERIMENT=$simd go run "$program" "$@"
        return
    fi
    benchmark=bench/$(printf '%s' "$1" | tr - _).py # triton-cuda is a name too
    [ -f "$benchmark" ] || mistake "bench: got '$1'; want a name that ./build.sh bench lists"
    shift
    lib
    case $benchmark in bench/onnx.py)
        venv .venv-exports exports
        .venv-exports/bin/python "$benchmark" "$@"
        return
        ;;
    esac
    case $benchmark in bench/onnx_metal.py)
        sh tests/fakemetal/build.sh
        venv .venv-exports exports
        PADDLE_MPS_FALLBACK=0 on_mock 15.0 '' .venv-exports/bin/python "$benchmark" "$@"
        return
        ;;
    esac
    case $benchmark in bench/tritonserver.py | bench/serve.py)
        need_tritonserver
        command -v wrk >/dev/null || debian wrk || missing wrk 'apt-get install wrk' 'brew install wrk'
        need_serve
        need_clients
        .venv-tritonserver/bin/python "$benchmark" "$@"
        return
        ;;
    esac
    case $benchmark in bench/cpu.py | bench/functions.py | bench/programs.py) # PaddlePaddle is one of their columns
        venv .venv-peers peers
        case $benchmark in
        bench/functions.py) ;;
        *) # the other peers, found after what is in .venv-peers
            bench_peers
            .venv-bench/bin/python -c 'import site; print(*site.getsitepackages())' \
                >"$(.venv-peers/bin/python -c 'import site; print(*site.getsitepackages())')/bench.pth"
            ;;
        esac
        .venv-peers/bin/python "$benchmark" "$@"
        return
        ;;
    esac
    if [ "$benchmark" = bench/triton_cuda.py ]; then # PyTorch and Triton are those of the machine with the GPU
        PYTHONPATH=python "$python" "$benchmark" "$@"
        return
    fi
    case $benchmark in bench/triton_launch.py | bench/triton_counts.py)
        sh tests/fakemetal/build.sh
        venv .venv-triton triton
        case $benchmark in *counts.py) export FAKEMETAL_COUNT=1 ;; esac
        PADDLE_MPS_TRITON=1 on_mock 15.0 '' .venv-triton/bin/python "$benchmark" "$@"
        return
        ;;
    esac
    bench_peers
    .venv-bench/bin/python "$benchmark" "$@"
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

# go_files and tree: what git would commit, so that environments and caches are left out.
go_files() { git ls-files --cached --others --exclude-standard '*.go'; }
sh_files() { git ls-files --cached --others --exclude-standard '*.sh' .ci/run capi/darwin/cc; }
tree() { git ls-files --cached --others --exclude-standard | sort | xargs cksum; }

formatted() {
    # shellcheck disable=SC2046  # names of Go files have no blanks
    unformatted=$(go run "$gofumpt" -l $(go_files)) || return 1
    [ -z "$unformatted" ] || { printf 'not formatted by gofumpt:\n%s\n' "$unformatted"; return 1; }
}

with_simd() { GOEXPERIMENT=$simd "$@"; }
without_simd() { GOEXPERIMENT='' "$@"; }
py() { .venv/bin/python -m "$@"; }

shell_lint() {
    # shellcheck disable=SC2046  # names of scripts have no blanks
    .venv/bin/shellcheck $(sh_files)
}

# workflow_lint: the shell in workflows is looked at as well.
workflow_lint() { go run "$actionlint" -color=false -shellcheck .venv/bin/shellcheck -pyflakes=; }

# generated: go generate must change nothing, whether or not the tree has uncommitted work.
generated() {
    tree >build/tree.before
    go generate ./... || return 1
    tree >build/tree.after
    diff build/tree.before build/tree.after
}

# clean_tree: a check writes nothing; on a CI machine nothing may be uncommitted or untracked.
clean_tree() {
    git status --porcelain | diff "$1" - || return 1
    if [ -n "${CI:-}" ] && [ -s "$1" ]; then
        cat "$1"
        return 1
    fi
}

# shaders: every shader that the library can generate goes through a strict front end; see tests/msl.
shaders() {
    [ "$(uname -s)" = Linux ] || { echo 'skip shaders: on a Mac, .github/workflows/macos.yml has what Apple'"'"'s compiler checks' && return; }
    need_clang
    go run ./tests/msl
}

check() {
    need_go
    need_cc
    git rev-parse --git-dir >/dev/null 2>&1 || missing 'git, or a git checkout,' \
        'apt-get install git' 'xcode-select --install'
    venv .venv test,demo,browser,check
    parts_begin
    git status --porcelain >build/status.before
    part gofumpt status formatted
    part vet status without_simd go vet ./...
    part vet-simd status with_simd go vet ./...
    part vet-darwin status for_mac go vet ./...
    part staticcheck status without_simd go run "$staticcheck" ./...
    part staticcheck-simd status with_simd go run "$staticcheck" ./...
    part ruff status py ruff check
    part ruff-format status py ruff format --check
    part mypy status py mypy
    part shellcheck status shell_lint
    part actionlint status workflow_lint
    part shaders lines shaders
    grep '^ok' build/parts/shaders.log || true
    part generated status generated
    part clean-tree status clean_tree build/status.before
    parts_end
}

clean() {
    rm -rf build dist .venv .venv-* examples/out .pytest_cache .mypy_cache .ruff_cache
    rm -f python/paddle_mps/libpaddlemps.*
    find . -name __pycache__ -type d -prune -exec rm -rf {} +
}

command=${1:-help}
[ $# -eq 0 ] || shift
case $command in
demo | lib | tool | wheel | tarball | darwin | bench | check | clean) "$command" "$@" ;;
install) install_to "$@" ;;
test)
    case ${1:-} in
    '') run_tests ;;
    long) PADDLE_MPS_LONG=1 && export PADDLE_MPS_LONG && run_tests ;;
    op) shift && test_op "$@" ;;
    peers) peers ;;
    paddle-suite) shift && paddle_suite "$@" ;;
    onnx) onnx ;;
    exports) shift && exports "$@" ;;
    tritonserver) shift && tritonserver "$@" ;;
    serve) serve ;;
    triton) shift && triton "$@" ;;
    triton-tutorials) shift && triton_source tutorials "$@" ;;
    darwin) test_darwin ;;
    *) mistake "test: got '$1'; want nothing, long, op NAME, peers, paddle-suite, onnx, exports, tritonserver, serve, triton, triton-tutorials or darwin" ;;
    esac
    ;;
help | -h | --help) usage ;;
*) mistake "got command '$command'; want one of those above" ;;
esac
