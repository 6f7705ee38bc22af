"""Plants each fault of faults.py in a copy of the checkout, and runs the test that claims to notice it.

    plant.py [-k TEXT] [--tree FOLDER]

First every command has to pass on the copy as it is, with at least one test. Then the faults follow one after the other. A fault
is noticed if tests ran and one failed, or the process of the tests ended; a build that fails, a run out of time and a test that
does not exist notice nothing. Of a fault that is a deadlock, a goroutine that waits for a lock at the end of the time is. -k takes the faults whose area or name has TEXT. --tree keeps the copy in FOLDER, so that the
next run compiles less. Prints `ok` or `FAIL` for each, then the numbers by area; exits 1 if one was not noticed.

Nothing is changed in the checkout itself, from which tracked files and those that git would add are copied.
"""

from __future__ import annotations

import argparse
import collections
import os
import pathlib
import platform
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from faults import FAULTS, Fault

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = "libpaddlemps.dylib" if sys.platform == "darwin" else "libpaddlemps.so"
# Programs that are commands of faults, each with the environment of Python that `./build.sh test NAME` makes for it.
PROGRAMS = {"onnx": "tests/onnx/run.py", "triton": "tests/triton/run.py"}
MEMORY = 6 << 30  # bytes that a process may have: a fault in a limit must not take those of the machine
SECONDS = 300  # of one command; with a compilation most take ten


def limit() -> None:
    """Limits the memory of a command, where the system has such a limit."""
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


class Tree:
    """The copy of the checkout."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        for name in filter(None, listed.stdout.split("\0")):
            source, target = ROOT / name, root / name
            if not source.is_file() or (target.is_file() and target.read_bytes() == source.read_bytes()):
                continue  # the time of a file that stays tells what need not be compiled
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
        self.library = root / "python" / "paddle_mps" / LIBRARY
        self.build()
        self.run(["sh", "tests/fakemetal/build.sh"])
        self.whole = self.library.read_bytes()

    def environment(self, program: str) -> dict[str, str]:
        """That of a contributor, with all turns of suites that rotate, and with nothing of the checkout."""
        left_out = ("PADDLE_MPS_", "FAKEMETAL_", "PYTEST_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        if program == "triton":
            # As with_triton of build.sh; no compiled kernel is kept, or a fault in the compiler would not be seen.
            kept |= {
                "TRITON_CACHE_DIR": tempfile.mkdtemp(dir=self.root),
                "PADDLE_MPS_TRITON": "1",
                "FAKEMETAL_STRICT": "1",
                "FAKEMETAL_MACOS": "15.0",
                "FAKEMETAL_RACES": "1",
                "FAKEMETAL_ADDRESSES": "1",
                "MPS_VERBOSE": "0",
                "PADDLE_MPS_DEVICE": "metal",
                "PADDLE_MPS_METAL_LIBRARY": str(self.root / "build" / "libfakemetal.so"),
            }
        simd = "simd" if platform.machine() in ("x86_64", "AMD64") else ""
        return {**kept, "PYTHONPATH": str(self.root / "python"), "PYTHONDONTWRITEBYTECODE": "1", "GOEXPERIMENT": simd}

    def run(self, command: list[str], program: str = "") -> tuple[int | None, str]:
        """The exit status, None for one that ran out of time, and the output."""
        process = subprocess.Popen(
            command,
            cwd=self.root,
            env=self.environment(program),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=limit,
        )
        try:
            output, _ = process.communicate(timeout=SECONDS)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return None, process.communicate()[0]

    def build(self) -> str:
        """Builds the library; the output where that fails."""
        status, output = self.run(["sh", "build.sh", "lib"])
        return "" if status == 0 else output

    @contextmanager
    def planted(self, fault: Fault) -> Iterator[None]:
        path = self.root / fault.file
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(text, encoding="utf-8")
            self.library.unlink()  # not written to: a process may have it mapped
            self.library.write_bytes(self.whole)


def interpreter(name: str) -> pathlib.Path:
    """The Python that a program of PROGRAMS runs with."""
    return ROOT / f".venv-{name}" / "bin" / "python"


def words(command: str) -> list[str]:
    """The command as it is run: without the cache of results, which knows no files that a test reads."""
    first, *rest = shlex.split(command)
    if first == "go":
        return ["go", rest[0], "-count=1", "-p=1", f"-timeout={SECONDS - 20}s", "-v", *rest[1:]]
    if first in PROGRAMS:
        return [str(interpreter(first)), PROGRAMS[first], *rest]
    return [sys.executable, "-m", "pytest", "--quiet", "-x", "-p", "no:cacheprovider", *rest]


def passes(command: str, status: int | None, output: str) -> str:
    """What is wrong with a run without a fault."""
    ran = (
        re.search(r"^--- PASS", output, re.M) if command.startswith("go ") else re.search(r"\b[1-9]\d* passed", output)
    )
    if status != 0 or not ran:
        return f"does not pass without a fault: status {status}\n{output[-2000:]}"
    return ""


def notices(command: str, status: int | None, output: str, deadlock: bool = False) -> str:
    """Why a run did not notice a fault; "" if it did. A fault that is a deadlock is noticed by a goroutine that waits for a lock
    when the time of the tests is over."""
    if status is None:
        return "ran out of time"
    if status == 0:
        return "survived"
    if command.startswith("go "):
        if re.search(r"\[(build|setup) failed\]", output):
            return "does not compile"
        if "panic: test timed out" in output:
            locked = re.search(r"^goroutine \d+ .*\[sync\.(RW)?Mutex\.R?Lock", output, re.M)
            return "" if deadlock and locked else "ran out of time"
        ended = re.search(r"^(--- FAIL|panic:|fatal error:|signal:|SIG\w+:|fakemetal:)", output, re.M)
        return "" if ended else "no test failed"
    if command.partition(" ")[0] in PROGRAMS:
        failed = re.search(r"\b[1-9]\d* (failed|lost|wrong)", output)
        return "" if status == 1 and failed else f"no test failed: ended with {status}"
    if status < 0 or re.search(r"^Fatal Python error|^fakemetal:", output, re.M):
        return ""
    return "" if status == 1 and re.search(r"\b\d+ failed", output) else f"no test failed: pytest ended with {status}"


def noticed(tree: Tree, fault: Fault) -> str:
    """Why a fault was not noticed; "" if it was."""
    with tree.planted(fault):
        if not fault.command.startswith("go ") and not fault.file.endswith(".py") and (output := tree.build()):
            return f"does not compile\n{output[-2000:]}"
        status, output = tree.run(words(fault.command), fault.command.partition(" ")[0])
    text = notices(fault.command, status, output, fault.deadlock)
    return f"{text}\n{output[-1500:]}" if text and text != "survived" else text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", metavar="TEXT", default="")
    parser.add_argument("--tree", metavar="FOLDER", type=pathlib.Path)
    options = parser.parse_args()
    asked = [fault for fault in FAULTS if options.k in f"{fault.area}: {fault.name}"]
    for name in PROGRAMS:
        if not interpreter(name).exists():
            for fault in [fault for fault in asked if fault.command.startswith(f"{name} ")]:
                print(f"skip {fault.area}: {fault.name}: ./build.sh test {name} has not made .venv-{name}")
                asked.remove(fault)
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(options.tree.resolve() if options.tree else pathlib.Path(folder))
        wrong = {}
        for command in dict.fromkeys(fault.command for fault in asked):
            wrong[command] = passes(command, *tree.run(words(command), command.partition(" ")[0]))
        counts: collections.Counter[tuple[str, bool]] = collections.Counter()
        for fault in asked:
            start = time.monotonic()
            text = wrong[fault.command] or noticed(tree, fault)
            counts[fault.area, not text] += 1
            took = f"{time.monotonic() - start:.0f} s"
            print(f"{'FAIL' if text else 'ok'} {fault.area}: {fault.name}: {fault.command} ({took}) {text}", flush=True)
    for area in dict.fromkeys(fault.area for fault in asked):
        print(f"{area}: {counts[area, True]} noticed, {counts[area, False]} not")
    failed = sum(count for (_, good), count in counts.items() if not good)
    print(f"{len(asked) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
