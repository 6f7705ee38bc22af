#!/bin/sh
# The tests of the C interface:  sh tests/c/run.sh [LIBRARY_DIR]
#
# They need the built library, a C and a C++ compiler (CC, CXX) and nm. Each test is a line that
# starts with `ok` or `FAIL`; the last line counts them, and the status is 0 if none failed.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(cd "${1:-$root/python/paddle_mps}" && pwd) || exit 2
case $(uname -s) in Darwin) library=$dir/libpaddlemps.dylib ;; *) library=$dir/libpaddlemps.so ;; esac
[ -f "$library" ] || { echo "run.sh: $library is missing; build it with ./build.sh lib" >&2; exit 2; }
cc=${CC:-cc} cxx=${CXX:-c++}
work=$(mktemp -d)
export TMPDIR="$work"
trap 'rm -rf "$work"' EXIT
cd "$root/tests/c" || exit 2
log=$work/log
: >"$log"

strict="-Wall -Wextra -pedantic -Werror -I$root/include"

say() { tee -a "$log"; }

# try NAME COMMAND...: one test, which passes if the command does; what it prints is shown if not.
try() {
    name=$1
    shift
    if "$@" >"$work/out" 2>&1; then echo "ok $name"; else sed 's/^/  /' "$work/out"; echo "FAIL $name"; fi | say
}

# run NAME COMMAND...: a program that prints its tests itself; one that dies has failed once more.
run() {
    name=$1
    shift
    { "$@" 2>&1 && echo >"$work/ended"; } >"$work/out"
    cat "$work/out" | say
    if [ ! -f "$work/ended" ] && ! grep -q '^FAIL' "$work/out"; then echo "FAIL $name died" | say; fi
    rm -f "$work/ended"
}

# compile NAME FILE...: a C program of these tests, linked with the library.
# shellcheck disable=SC2086  # $strict and $flags are lists of flags
compile() {
    out=$work/$1
    shift
    try "compile $(basename "$out")" $cc -std=c11 -O1 -g $strict $flags "$@" \
        "-L$dir" -lpaddlemps "-Wl,-rpath,$dir" -lpthread -o "$out"
}

# ---- The header, alone, in both languages.
echo '#include "paddlemps.h"' | tee "$work/alone.c" >"$work/alone.cc"
# shellcheck disable=SC2086
{
    try 'header is C99' $cc -std=c99 $strict -fsyntax-only "$work/alone.c"
    try 'header is C11' $cc -std=c11 $strict -fsyntax-only "$work/alone.c"
    try 'header is C++11' $cxx -std=c++11 $strict -fsyntax-only "$work/alone.cc"
    try 'header is C++17' $cxx -std=c++17 $strict -fsyntax-only "$work/alone.cc"
}

# ---- Declared = listed = exported, and every function is called in a forked child. The entry points that Triton Inference
# Server looks up are a class of their own: the API of the server declares them, and no header of ours.
names() { sort -u >"$work/$1"; }
sed 's,/\*.*\*/,,' "$root/include/paddlemps.h" |
    awk '/\/\*/ { comment = 1 } !comment { print } /\*\// { comment = 0 }' |
    sed -n 's/^[a-z].*[ *]\(pmps_[a-z0-9_]*\)(.*/\1/p' | names declared
names all <"$root/capi/exports.txt"
grep '^pmps_' "$work/all" | names listed
grep '^TRITONBACKEND_' "$work/all" | names entries
case $library in
*.dylib) nm -gU "$library" | awk '{ sub(/^_/, "", $NF); print $NF }' | names exported ;;
*) nm -D --defined-only "$library" | awk '{ print $NF }' | names exported ;;
esac
sed -n 's/^EXPORT.*\(TRITONBACKEND_[A-Za-z]*\)(.*/\1/p' "$root/capi/triton_backend.c" | names defined
sed -n 's/^    fails(\(TRITONBACKEND_[A-Za-z]*\)(.*exec or spawn.*/\1/p' triton_backend.c | names entries_forked
grep -o 'pmps_[a-z0-9_]*(' fork.c check.h check.c | sed 's/.*://; s/($//' | grep -Fx -f "$work/listed" | names forked
try 'exports.txt is sorted' env LC_ALL=C sort -c -u "$root/capi/exports.txt"
try 'header = exports.txt' diff "$work/declared" "$work/listed"
try 'triton_backend.c = exports.txt' diff "$work/defined" "$work/entries"
try 'exports.txt = exported symbols' diff "$work/all" "$work/exported"
try 'fork.c calls every function' diff "$work/listed" "$work/forked"
try 'triton_backend.c calls every entry point in a child' diff "$work/entries" "$work/entries_forked"

# ---- The programs.
suite='suite.c check.c errors.c devices.c streams.c tensors.c dlpack.c operators.c fast.c gradients.c traces.c models.c triton.c profile.c handles.c'
flags=
# shellcheck disable=SC2086  # $suite is a list of files
compile suite $suite
compile fork fork.c check.c
compile threads threads.c check.c
compile start start.c check.c
compile reload reload.c -ldl
compile shaders shaders.c check.c
compile programs programs.c check.c
flags=-rdynamic # the library looks the functions of the server up in the program
compile triton_backend triton_backend.c check.c
flags=
compile bench_call bench_call.c
# shellcheck disable=SC2086
try 'compile cxx' $cxx -std=c++11 $strict cxx.cc "-L$dir" -lpaddlemps "-Wl,-rpath,$dir" -o "$work/cxx"
compile example "$root/examples/c/example.c"
compile program "$root/examples/c/program.c"
compile saved "$root/examples/c/saved.c"

# shellcheck disable=SC2086
for standard in c++17 c++20; do
    for program in objects functions; do
        try "compile $program as $standard" $cxx -std=$standard $strict -Wshadow -Wconversion $program.cc "-L$dir" -lpaddlemps \
            "-Wl,-rpath,$dir" -o "$work/$program"
    done
done

# The example finds its file in the current folder.
saved() { (cd "$work" && env "$1" ./saved); }

run cxx "$work/cxx"
for device in auto host; do
    run "objects on $device" env PADDLE_MPS_DEVICE=$device "$work/objects"
    run "functions on $device" env PADDLE_MPS_DEVICE=$device "$work/functions"
    run "suite on $device" env PADDLE_MPS_DEVICE=$device "$work/suite"
    run "threads on $device" env PADDLE_MPS_DEVICE=$device "$work/threads"
    run "programs on $device" env PADDLE_MPS_DEVICE=$device "$work/programs"
    run "triton_backend on $device" env PADDLE_MPS_DEVICE=$device "$work/triton_backend"
    try "example on $device" env PADDLE_MPS_DEVICE=$device "$work/example"
    try "program on $device" env PADDLE_MPS_DEVICE=$device "$work/program"
    try "saved on $device" saved PADDLE_MPS_DEVICE=$device
done
run 'suite without inlining' env PADDLE_MPS_DEVICE=host PADDLE_MPS_INLINE=-1 "$work/suite"
run 'threads without inlining' env PADDLE_MPS_DEVICE=host PADDLE_MPS_INLINE=-1 "$work/threads"
run 'programs without inlining' env PADDLE_MPS_DEVICE=host PADDLE_MPS_INLINE=-1 "$work/programs"
run 'shaders on host' env PADDLE_MPS_DEVICE=host "$work/shaders"
fake=$root/build/libfakemetal.so
if [ "$(uname -s)" = Linux ] && sh ../fakemetal/build.sh "$fake" >"$work/out" 2>&1; then
    run 'shaders on metal' env PADDLE_MPS_DEVICE=metal "PADDLE_MPS_METAL_LIBRARY=$fake" "$work/shaders"
    run 'objects on metal' env PADDLE_MPS_DEVICE=metal "PADDLE_MPS_METAL_LIBRARY=$fake" "$work/objects"
    run 'functions on metal' env PADDLE_MPS_DEVICE=metal "PADDLE_MPS_METAL_LIBRARY=$fake" "$work/functions"
    for prefer in msl mpsgraph; do
        run "triton_backend on metal with $prefer" env PADDLE_MPS_DEVICE=metal "PADDLE_MPS_METAL_LIBRARY=$fake" PADDLE_MPS_PREFER=$prefer "$work/triton_backend"
        run "programs on metal with $prefer" env PADDLE_MPS_DEVICE=metal "PADDLE_MPS_METAL_LIBRARY=$fake" PADDLE_MPS_PREFER=$prefer "$work/programs"
    done
    run 'programs on metal and the CPU' env PADDLE_MPS_DEVICE=metal "PADDLE_MPS_METAL_LIBRARY=$fake" \
        PADDLE_MPS_CPU_OPS=softmax,mean,floor_divide,normal,concat "$work/programs"
else
    echo 'skip shaders on metal: the mock of Metal does not build here' | say
fi
run fork env PADDLE_MPS_DEVICE=host "$work/fork"
run reload "$work/reload" "$library"
run 'unknown device' env PADDLE_MPS_DEVICE=cuda "$work/start" "PADDLE_MPS_DEVICE is \"cuda\"; want 'auto', 'metal' or 'host'"
run 'bad thread count' env PADDLE_MPS_NUM_THREADS=0 "$work/start" 'PADDLE_MPS_NUM_THREADS is "0"'

# ---- The same program under AddressSanitizer, where it links and starts: it sees what the tests and
# the C half of the library do with memory. Go's own memory is not its business, nor are leaks.
flags='-fsanitize=address -fno-omit-frame-pointer'
# shellcheck disable=SC2086
if echo 'int main(void) { return 0; }' >"$work/probe.c" && $cc $flags "$work/probe.c" -o "$work/probe" 2>/dev/null && "$work/probe"; then
    compile suite_asan $suite
    compile programs_asan programs.c check.c
    flags="$flags -rdynamic"
    compile triton_backend_asan triton_backend.c check.c
    run 'triton_backend with AddressSanitizer' env ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0 PADDLE_MPS_DEVICE=host "$work/triton_backend_asan"
    run 'suite with AddressSanitizer' env ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0 PADDLE_MPS_DEVICE=host "$work/suite_asan"
    run 'programs with AddressSanitizer' env ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0 PADDLE_MPS_DEVICE=host "$work/programs_asan"
else
    echo 'skip suite with AddressSanitizer: the compiler cannot link it' | say
fi

passed=$(grep -c '^ok ' "$log") failed=$(grep -c '^FAIL ' "$log")
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
