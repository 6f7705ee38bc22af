#!/bin/sh
# Parts of `./build.sh check` that are more than one command:  sh tests/check.sh NAME [ARGUMENT...]
set -eu
cd "$(dirname "$0")/.."

# Pinned tools that are Go programs; the Python ones are pinned in pyproject.toml.
gofumpt=mvdan.cc/gofumpt@v0.12.0
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2 # 2026.2.2
actionlint=github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

# go_files, sh_files and tree: what git would commit, so that environments and caches are left out.
go_files() { git ls-files --cached --others --exclude-standard '*.go'; }
sh_files() { git ls-files --cached --others --exclude-standard '*.sh' .ci/run capi/darwin/cc; }
tree() { git ls-files --cached --others --exclude-standard | sort | xargs cksum; }

formatted() {
    # shellcheck disable=SC2046  # names of Go files have no blanks
    unformatted=$(go run "$gofumpt" -l $(go_files)) || return 1
    [ -z "$unformatted" ] || { printf 'not formatted by gofumpt:\n%s\n' "$unformatted"; return 1; }
}

# static [PACKAGE...]: GOEXPERIMENT says which files are looked at. The linter itself is built once, and not for each GOEXPERIMENT; it
# has few seconds and much memory to do without most collections of garbage.
static() {
    [ $# -gt 0 ] || set -- ./...
    case $(go env GOHOSTARCH) in amd64) host=simd ;; *) host= ;; esac # as tests, so that packages are compiled once
    GOEXPERIMENT=$host GOBIN="$PWD/build/tools" go install "$staticcheck" || return 1
    GOGC=400 build/tools/staticcheck "$@"
}

# packages_of_simd: the packages that have other files without SIMD. In all others the files are the same.
packages_of_simd() {
    git grep -l --untracked goexperiment.simd -- '*.go' | sed 's,[^/]*$,,; s,^,./,' | sort -u
}

# portable LINTER: a linter over what is compiled only without SIMD.
portable() {
    packages=$(packages_of_simd)
    [ -n "$packages" ] || { echo 'check.sh: no package has files for goexperiment.simd' && return 1; }
    # shellcheck disable=SC2086  # import paths have no blanks
    case $1 in vet) go vet $packages ;; *) static $packages ;; esac
}

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

# clean_tree BEFORE: a check writes nothing, so the status is that of the file; on a CI machine nothing may be uncommitted or
# untracked.
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
    go run ./tests/msl
}

case ${1:-} in
formatted | static | portable | shell_lint | workflow_lint | generated | clean_tree | shaders) "$@" ;;
*) echo "check.sh: got '${1:-}'; want formatted, static, portable, shell_lint, workflow_lint, generated, clean_tree or shaders" >&2 && exit 2 ;;
esac
