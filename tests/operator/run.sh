#!/bin/sh
# What `./build.sh test op NAME` runs of suites that are not about one operator:
#   sh tests/operator/run.sh kernels NAME | python NAME REPORT | paddle NAME
set -u
cd "$(dirname "$0")/../.." || exit 2
case ${1:-} in
kernels) # the tests in Go that go over operators
    go run ./tests/operator "$2" >build/parts/operator.txt || exit 1
    # shellcheck disable=SC2046  # names of packages have no blanks
    go test -timeout=30m -json -run "$(head -n 1 build/parts/operator.txt)" $(tail -n +2 build/parts/operator.txt)
    ;;
python) # the test that the row names, or the answers of Paddle
    elsewhere=$(.venv/bin/python -c 'import sys; from paddle_mps.selftest import suite
print(suite.BY_NAME[sys.argv[1]].get("elsewhere", ""))' "$2") || exit 1
    case $elsewhere in
    '')
        echo '<testsuites><testsuite><testcase classname="row" name="elsewhere"><skipped message="no other test has it"/></testcase></testsuite></testsuites>' >"$3"
        ;;
    *.py) .venv/bin/python -m pytest --quiet "--junitxml=$3" "$elsewhere" ;;
    *) .venv/bin/python -m pytest --quiet "--junitxml=$3" tests/python/test_paddle_answers.py ;;
    esac
    ;;
paddle) # Paddle's recorded answers to expressions of the operator, or with its name as a word
    .venv/bin/python tests/peers/compare.py --replay tests/peers/paddle_3_3_1.json --operator "$2" >build/parts/replay.txt
    replayed=$?
    cat build/parts/replay.txt
    grep -q '^ok \|^FAIL ' build/parts/replay.txt || echo "skip $2: no expression of tests/peers has it"
    exit $replayed
    ;;
*) sed -n '2,3s/^# //p' "$0" >&2 && exit 2 ;;
esac
