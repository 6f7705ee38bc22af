"""The faults of plant.py still fit the sources, and its verdicts are not taken in: without planting any."""

from __future__ import annotations

import collections
import pathlib
import re
import shlex
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).parent))

from faults import FAULTS, Fault
from plant import notices, passes

ROOT = pathlib.Path(__file__).resolve().parents[2]
AREAS = "allocator streams gradients kernels onnx serving triton keys pickles".split()
AT_LEAST, AT_LEAST_EACH = 60, 5


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.area}: {fault.name}")
def test_fault_applies(fault: Fault) -> None:
    text = (ROOT / fault.file).read_text(encoding="utf-8")
    assert text.count(fault.old) == 1, (
        f"{fault.file} has the text {text.count(fault.old)} times: mend the fault, or drop it with its claim"
    )
    assert fault.new != fault.old


@pytest.mark.parametrize("command", sorted({fault.command for fault in FAULTS}))
def test_command_names_tests(command: str) -> None:
    first, *rest = shlex.split(command)
    if first == "pytest":
        files = [word for word in rest if word.endswith(".py")]
        assert files and all((ROOT / name).is_file() for name in files)
        return
    if first == "onnx":
        passing = (ROOT / "tests" / "onnx" / "passing.txt").read_text(encoding="utf-8").split()
        assert any(re.search(rest[rest.index("--match") + 1], name) for name in passing if name.startswith("node/"))
        return
    if first == "triton":
        kernels = (ROOT / "tests" / "triton" / "passing.txt").read_text(encoding="utf-8").split()
        assert set(rest) <= set(kernels)
        return
    assert (first, rest[0]) == ("go", "test")
    wanted = re.compile(rest[rest.index("-run") + 1] if "-run" in rest else "")
    for package in (word for word in rest if word.startswith("./")):
        names = [
            n
            for p in (ROOT / package).glob("*_test.go")
            for n in re.findall(r"^func (Test\w+)", p.read_text(encoding="utf-8"), re.M)
        ]
        assert any(wanted.search(name) for name in names), package


def test_there_are_faults_in_each_area() -> None:
    counts = collections.Counter(fault.area for fault in FAULTS)
    assert len(FAULTS) >= AT_LEAST
    assert {area: counts[area] for area in AREAS if counts[area] < AT_LEAST_EACH} == {}
    assert len({(fault.area, fault.name) for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize(
    ("command", "status", "output", "want"),
    [
        ("go test ./x", 1, "--- FAIL: TestX (0.00s)\nFAIL", ""),
        ("go test ./x", 2, "panic: runtime error: index out of range", ""),
        ("go test ./x", 1, "signal: aborted (core dumped)\nFAIL", ""),
        ("go test ./x", 0, "--- PASS: TestX\nok", "survived"),
        ("go test ./x", 1, "./x.go:1:1: undefined: y\nFAIL\tx [build failed]", "does not compile"),
        ("go test ./x", 1, "panic: test timed out after 4m40s\n--- FAIL", "ran out of time"),
        ("go test ./x", None, "", "ran out of time"),
        ("pytest x.py", 1, "1 failed in 0.1s", ""),
        ("pytest x.py", -6, "", ""),
        ("pytest x.py", 0, "3 passed", "survived"),
        ("pytest x.py", 2, "ERROR collecting x.py", "no test failed: pytest ended with 2"),
        ("pytest x.py", 5, "no tests ran", "no test failed: pytest ended with 5"),
        ("onnx --match x", 1, "8 passed, 0 of them new, 1 failed, 1 lost", ""),
        ("onnx --match x", 1, "ModuleNotFoundError: onnx", "no test failed: ended with 1"),
    ],
)
def test_verdicts(command: str, status: int | None, output: str, want: str) -> None:
    assert notices(command, status, output) == want


def test_only_a_deadlock_is_noticed_by_a_wait_for_a_lock() -> None:
    waits = "panic: test timed out after 30s\ngoroutine 8 [sync.Mutex.Lock]:\nsync.(*Mutex).Lock"
    busy = "panic: test timed out after 30s\ngoroutine 8 [running]:\nmain.f()"
    assert notices("go test ./x", 1, waits, deadlock=True) == ""
    assert notices("go test ./x", 1, waits) == notices("go test ./x", 1, busy, deadlock=True) == "ran out of time"


def test_runs_without_tests_prove_nothing() -> None:
    assert passes("go test ./x", 0, "testing: warning: no tests to run\nok")
    assert passes("go test ./x", 0, "--- SKIP: TestX\nok")
    assert passes("pytest x.py", 5, "no tests ran")
    assert passes("onnx --match x", 0, "0 passed, 0 of them new, 0 failed, 0 lost")
    assert not passes("go test ./x", 0, "--- PASS: TestX (0.00s)\nok")
    assert not passes("pytest x.py", 0, "3 passed")
