"""Runs Triton's own test_core.py on the mps device, and counts.

    TRITON_SOURCE=DIR ./build.sh bench triton-core [--all | --tenth N] [--only REGEX] [--report FILE]

DIR is a checkout of Triton 3.6.0; nothing of it is changed or kept here. Of its items a tenth is taken, picked by the hash
of the name, or with --all each. First they are compiled to Triton's IR by Triton itself, with a launcher that does nothing
(the census). An item counts if it compiles a kernel without tl.dot_scaled, float64 and atomics of 64 bits, which Metal has
not, and if it does not pass with that launcher. Those that count are then run. Both steps go on where they were
interrupted: results are kept in build/triton-core under the hash of the tests, and of the library.

"""

from __future__ import annotations

import argparse
import collections
import fcntl
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDER = ROOT / "build" / "triton-core"
TESTS = "python/test/unit/language/test_core.py"
VERSION = "3.6.0"  # of Triton, whose items are counted
PATIENCE = 600  # seconds that an item may take

Result = list[Any]  # name, outcome, why, seconds, and of the census what is known of its kernels


def key(*paths: pathlib.Path) -> str:
    """A hash of files, or of all Python files in a folder."""
    digest = hashlib.sha256()
    for path in paths:
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def tenth(name: str) -> int:
    """Which of the ten tenths an item belongs to."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 10


def read(path: pathlib.Path) -> dict[str, Result]:
    """Results by name of the item. One that began and has none ended its process."""
    results: dict[str, Result] = {}
    if path.exists():
        for text in path.read_text().splitlines():
            words = json.loads(text)
            if words[1] != "begun" or words[0] not in results:
                results[words[0]] = words
    return results


def command(source: pathlib.Path, *arguments: str) -> list[str]:
    """pytest on Triton's file, with our plug-in and none of its settings."""
    tests = source / TESTS
    return [sys.executable, "-m", "pytest", "-q", "-p", "core_plugin", "-p", "no:cacheprovider", "-c", "/dev/null", "--tb=native",
            f"--rootdir={tests.parent}", "--device=cpu", *arguments, str(tests)]  # fmt: skip


def environment(mode: str) -> dict[str, str]:
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    # What the census compiles is empty: no other process may find it.
    own = {"PADDLE_MPS_CORE": mode, "TRITON_CACHE_DIR": str(FOLDER / f"cache-{mode}")}
    return {**os.environ, **own, "PADDLE_MPS_CORE_IR": str(FOLDER / "ttir"), "PYTHONPATH": path}


def known_names(source: pathlib.Path, kept: pathlib.Path) -> list[str]:
    """All items of the file, in its order."""
    if not kept.exists():
        kept.write_text("\n".join(names(source)))
    return kept.read_text().split("\n")


def names(source: pathlib.Path) -> list[str]:
    """What pytest collects of the file."""
    done = subprocess.run(
        command(source, "--collect-only"), env=environment("census"), capture_output=True, text=True, check=False
    )
    found = [line.rpartition("/")[2] for line in done.stdout.splitlines() if "test_core.py::" in line]
    if not found:
        sys.exit(f"triton-core: no items in {source / TESTS}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return found


class Worker:
    """A process that runs some items, started again behind one that ends it."""

    def __init__(self, source: pathlib.Path, mode: str, items: list[str], results: pathlib.Path) -> None:
        self.source, self.mode, self.items, self.results = source, mode, items, results
        self.folder = tempfile.TemporaryDirectory()
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def left(self) -> list[str]:
        done = read(self.results)
        return [name for name in self.items if name not in done]

    def start(self) -> bool:
        left = self.left()
        self.size, self.since = -1, time.monotonic()
        if not left:
            self.process = None
            return False
        path = pathlib.Path(self.folder.name)
        (path / "items").write_text("\n".join(left))
        with open(path / "log", "wb") as log:
            self.process = subprocess.Popen(
                command(self.source, f"--items={path / 'items'}", f"--results={self.results}"),
                env=environment(self.mode),
                stdout=log,
                stderr=log,
            )
        return True

    def running(self) -> bool:
        """Whether there is more to wait for. An item that takes too long is ended with its process."""
        if self.process is None:
            return False
        size = self.results.stat().st_size if self.results.exists() else 0
        if size != self.size:
            self.size, self.since = size, time.monotonic()
        if self.process.poll() is None:
            if time.monotonic() - self.since > PATIENCE:
                self.process.kill()
                self.process.wait()
            return True
        # A process that ends early without an item to blame would do so again.
        if not self.mark() and self.process.returncode and self.left():
            log = (pathlib.Path(self.folder.name) / "log").read_text(errors="replace")
            sys.exit(f"triton-core: pytest ended with {self.process.returncode}:\n{log[-3000:]}")
        return self.start()

    def mark(self) -> bool:
        """Gives the item that ended the process its result, and reports whether there is one."""
        assert self.process is not None
        marked = False
        log = (pathlib.Path(self.folder.name) / "log").read_text(errors="replace")
        for name, words in read(self.results).items():
            if words[1] == "begun" and name in self.items:
                tail = " ".join(log.strip().splitlines()[-3:])[-500:]
                with open(self.results, "a") as file:
                    file.write(
                        json.dumps([name, "ended", f"the process ended with {self.process.returncode}: {tail}", 0])
                        + "\n"
                    )
                marked = True
        return marked


def run(source: pathlib.Path, mode: str, items: list[str], results: pathlib.Path, processes: int) -> dict[str, Result]:
    """Results of items, those that are there already included. Each process has a file of its own, joined at the end."""
    parts = [results.with_suffix(f".{i}") for i in range(processes)]

    def join() -> dict[str, Result]:
        with open(results, "a") as whole:
            for part in parts:
                for words in read(part).values():
                    if words[1] != "begun":
                        whole.write(json.dumps(words) + "\n")
                part.unlink(missing_ok=True)
        return read(results)

    done = join()
    left = [name for name in items if name not in done]
    total, start = len(left), time.monotonic()
    workers = [Worker(source, mode, left[i::processes], parts[i]) for i in range(processes)]
    said = start
    try:
        while [w for w in workers if w.running()]:
            time.sleep(0.5)
            if time.monotonic() - said > 60:
                said = time.monotonic()
                count = sum(len(read(part)) for part in parts)
                print(f"{mode}: {count} of {total} items, {said - start:.0f} s", file=sys.stderr, flush=True)
    finally:
        for worker in workers:
            if worker.process is not None and worker.process.poll() is None:
                worker.process.kill()
                worker.process.wait()
        done = join()
    return done


def reason(result: Result) -> str:
    """Why an item did not pass, without what differs from item to item."""
    outcome, why = result[1], result[2].strip()
    if "Unknown key: 'ttgir'" in why:
        return "reads TritonGPU IR, which there is none of"
    kind, _, words = why.partition(": ")
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    if outcome in ("ended", "skipped"):
        return f"{outcome}: {why.splitlines()[0][:160] if why else ''}"
    if kind == "UnsupportedError":
        text = re.sub(r"^\[[^]]*\] *", "", lines[0] if lines else "")
        text = re.sub(r"\S+\.(py|ttir):\d+(:\d+)?:? ?", "", text)
        return f"refused: {text[:200]}"
    if kind == "OutOfResources":
        return f"out of resources: {re.sub(r'[0-9]+', 'N', lines[0] if lines else '')[:120]}"
    if kind in ("AssertionError", "Failed"):
        return f"wrong: {kind}: {(lines or [''])[0][:80]}"
    return f"error: {kind}: {re.sub(r'0x[0-9a-f]+|[0-9]+', 'N', (lines or [''])[0])[:160]}"


def table(results: list[Result]) -> list[tuple[str, list[str]]]:
    """Items that did not pass by reason, most frequent first."""
    reasons: dict[str, list[str]] = collections.defaultdict(list)
    for result in results:
        if result[1] != "passed":
            reasons[reason(result)].append(result[0])
    return sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0]))


def counted(census: dict[str, Result]) -> tuple[list[str], dict[str, int]]:
    """The items that count, and how many of which kind there are."""
    known = {name: words[4] if len(words) > 4 else {} for name, words in census.items()}
    compiled = [name for name, facts in known.items() if facts.get("modules")]
    possible = [name for name in compiled if not known[name]["lacks"]]
    chosen = [name for name in possible if census[name][1] != "passed"]
    numbers = {
        "items picked": len(census),
        "compile a kernel": len(compiled),
        "of these Metal could run": len(possible),
        "of these pass with a launcher that does nothing": len(possible) - len(chosen),
        "all that pass with a launcher that does nothing": sum(words[1] == "passed" for words in census.values()),
        "count": len(chosen),
    }
    return sorted(chosen), numbers


def main() -> int:
    parser = argparse.ArgumentParser(description="runs Triton's test_core.py on the mps device")
    parser.add_argument("--all", action="store_true", help="each item that counts, not a tenth")
    parser.add_argument("--tenth", type=int, default=0, help="which tenth, 0 to 9")
    parser.add_argument("--only", default="", help="a regular expression of names")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--report", type=pathlib.Path, help="a file for the results as JSON")
    parser.add_argument("--least", type=float, default=0, help="fail below this share of items that pass")
    parser.add_argument("--again", action="store_true", help="run items again that did not pass")
    parser.add_argument("--items", action="store_true", help="name the items in the table")
    given = parser.parse_args()
    import triton

    source = pathlib.Path(os.environ.get("TRITON_SOURCE", ""))
    if not os.environ.get("TRITON_SOURCE") or not (source / TESTS).exists():
        sys.exit(
            f"triton-core: TRITON_SOURCE is {str(source)!r}; want a checkout of Triton {VERSION}, which has {TESTS}"
        )
    if triton.__version__ != VERSION:
        sys.exit(f"triton-core: triton {triton.__version__} is installed; want {VERSION}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    source = source.resolve()
    lock = os.open(FOLDER / "lock", os.O_CREAT | os.O_RDWR)  # until the process ends: two runs would mix their results
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"triton-core: another run uses {FOLDER}")

    state = key(source / TESTS, HERE / "core_plugin.py")
    every = known_names(source, FOLDER / f"items-{state}")
    picked = [n for n in every if re.search(given.only, n) and (given.all or tenth(n) == given.tenth)]
    census = run(source, "census", picked, FOLDER / f"census-{state}.jsonl", given.processes)
    chosen, numbers = counted({name: census[name] for name in picked})
    print(f"{len(every):6} items")
    for words, number in numbers.items():
        print(f"{number:6} {words}")

    library = ROOT / "python/paddle_mps/libpaddlemps.so"
    results_file = (
        FOLDER
        / f"results-{key(library, ROOT / 'python/paddle_mps_triton', ROOT / 'python/paddle_mps/_kernels/_triton.py')}.jsonl"
    )
    if given.again:
        forget(results_file, set(chosen))
    start = time.monotonic()
    results = run(source, "run", chosen, results_file, given.processes)
    mine = [results[name] for name in chosen]
    for why, items in table(mine):
        print(
            f"{len(items):5} {why}\n      e.g. {items[0]}"
            + "".join(f"\n      {name}" for name in items[1:] if given.items)
        )
    passed = sum(words[1] == "passed" for words in mine)
    share = passed / max(len(mine), 1)
    what = "all items that count" if given.all else f"tenth {given.tenth}"
    print(
        f"triton {triton.__version__}, {what}: {passed} of {len(mine)} pass, {share:.1%} ({time.monotonic() - start:.0f} s)"
    )
    if given.report:
        given.report.write_text(
            json.dumps({"triton": triton.__version__, "numbers": numbers, "what": what, "passed": passed, "ran": len(mine),
                        "reasons": {why: len(items) for why, items in table(mine)}, "results": mine}, indent=1)
        )  # fmt: skip
    return int(share < given.least)


def forget(path: pathlib.Path, of: set[str]) -> None:
    """Drops results that are no pass."""
    kept = [words for words in read(path).values() if words[1] == "passed" or words[0] not in of]
    path.write_text("".join(json.dumps(words) + "\n" for words in kept))


if __name__ == "__main__":
    sys.exit(main())
