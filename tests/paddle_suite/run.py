"""Runs Paddle's own tests of the tensor functions, in eager mode, and compares with PaddlePaddle itself.

    PADDLE_SOURCE=DIR ./build.sh test paddle-suite [--only REGEX] [--list]

DIR is a checkout of github.com/PaddlePaddle/PaddleTest, whose folder framework/api has the tests that Paddle's developers
run against each release; nothing of it is changed or kept here. Each file runs twice, in two processes: over
paddle_mps installed as `paddle`, and over PaddlePaddle 3.3.1. A case counts if PaddlePaddle passes it: many were written for
older versions, for CUDA or for static graphs. Outcomes are kept in build/paddle-suite under the hash of the tests, and of the
library, so that an interrupted run goes on.

A case that counts and fails must be listed in differences.txt, with the reason; one that is listed and passes fails too.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as Xml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KEPT = ROOT / "build" / "paddle-suite"
DIFFERENCES = HERE / "differences.txt"
PYTHON = ROOT / ".venv-peers" / "bin" / "python"
PATIENCE = 1800  # seconds that a process may take; gradients are compared with differences, element by element
TOGETHER = 20  # files that run in one process

# Folders of framework/api, and which of their files are about functions of tensors. The other folders, and the classes in nn,
# are about layers, optimizers and static graphs; those of loss call the functions, but through models made of layers.
FOLDERS = {"paddlebase": "test_*.py", "fft": "test_*.py", "linalg": "test_*.py", "nn": "test_functional_*.py"}

Outcomes = dict[str, str]  # by the name of the case: "" if it passed, "skipped", or the first line of what went wrong


def digest(*files: pathlib.Path) -> str:
    """A hash of the contents of files."""
    found = hashlib.sha256()
    for file in files:
        found.update(file.read_bytes())
    return found.hexdigest()[:12]


def library_files() -> list[pathlib.Path]:
    """What an outcome over paddle_mps depends on."""
    package = ROOT / "python" / "paddle_mps"
    return sorted([*package.rglob("*.py"), *package.glob("libpaddlemps.*")])


def read(report: pathlib.Path) -> Outcomes:
    """The outcomes in a report of pytest. A file that cannot be imported has one case, named after it."""
    outcomes: Outcomes = {}
    for case in Xml.parse(report).iter("testcase"):
        said = ""
        for found in case:
            if found.tag in ("failure", "error"):
                said = (found.get("message") or found.tag).splitlines()[0]
            elif found.tag == "skipped":
                said = "skipped"
        outcomes["::".join(part for part in (case.get("classname"), case.get("name")) if part)] = said
    return outcomes


def run(library: str, files: list[pathlib.Path], key: str) -> Outcomes:
    """Runs files of one folder in one process, unless their outcomes are kept; one by one if the process does not end well."""
    kept = KEPT / key / library / f"{files[0].parent.name}-{files[0].stem}-{len(files)}.json"
    if kept.exists():
        found: Outcomes = json.loads(kept.read_text())
        return found
    outcomes = run_together(library, files)
    if isinstance(outcomes, str):
        if len(files) > 1:
            return {name: said for file in files for name, said in run(library, [file], key).items()}
        outcomes = {files[0].stem: outcomes}
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.with_suffix(".new").write_text(json.dumps(outcomes))
    kept.with_suffix(".new").rename(kept)
    return outcomes


def run_together(library: str, files: list[pathlib.Path]) -> Outcomes | str:
    """The outcomes of a process of pytest, or what became of it."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.xml")
        paths = [HERE, ROOT / "python", files[0].parents[1]]
        command = [str(PYTHON), "-m", "pytest", "-p", "eager", "-q", "-c", os.devnull, "--rootdir=."]
        command += [
            "-p",
            "no:cacheprovider",
            "-p",
            "no:warnings",
            "--continue-on-collection-errors",
            f"--junitxml={report}",
        ]
        environment = os.environ | {
            "LIBRARY": library,
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        try:
            done = subprocess.run(
                [*command, *(file.name for file in files)],
                cwd=files[0].parent, env=environment, timeout=PATIENCE, capture_output=True, text=True, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"took more than {PATIENCE} s"
        return (
            read(report) if report.exists() else f"ended with {done.returncode}: {(done.stdout + done.stderr)[-200:]}"
        )


def differences() -> dict[str, str]:
    """Reasons by case, from differences.txt: a line that ends with a colon is the reason of the cases below it."""
    reasons: dict[str, str] = {}
    reason = ""
    for line in DIFFERENCES.read_text().splitlines():
        if line.endswith(":"):
            reason = line[:-1]
        elif line.strip() and not line.startswith("#"):
            reasons[line.strip()] = reason
    return reasons


def main() -> int:
    """Runs all, prints the table, and returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="only files whose FOLDER/NAME matches")
    parser.add_argument("--list", action="store_true", help="print each case that fails, with what it says")
    chosen = parser.parse_args()
    source = pathlib.Path(os.environ.get("PADDLE_SOURCE", ""), "framework", "api")
    if "PADDLE_SOURCE" not in os.environ or not source.is_dir():
        print(
            "tests/paddle_suite: want PADDLE_SOURCE=DIR, a checkout of github.com/PaddlePaddle/PaddleTest",
            file=sys.stderr,
        )
        return 2
    groups: list[list[pathlib.Path]] = []
    for folder, pattern in FOLDERS.items():
        files = [f for f in sorted((source / folder).glob(pattern)) if re.search(chosen.only, f"{folder}/{f.stem}")]
        groups += [files[i : i + TOGETHER] for i in range(0, len(files), TOGETHER)]
    if not groups:
        print(f"tests/paddle_suite: no file in {source} matches {chosen.only!r}", file=sys.stderr)
        return 2
    tests = digest(HERE / "eager.py", *sorted(source.glob("*/*.py")))
    keys = {"paddle": tests, "paddle_mps": f"{tests}-{digest(*library_files())}"}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {(name, i): pool.submit(run, name, group, keys[name]) for i, group in enumerate(groups) for name in keys}
        outcomes = {job: future.result() for job, future in jobs.items()}
    pairs = [(g[0].parent.name, outcomes["paddle", i], outcomes["paddle_mps", i]) for i, g in enumerate(groups)]
    return compare(pairs, chosen.list)


def compare(pairs: list[tuple[str, Outcomes, Outcomes]], verbose: bool) -> int:
    """Prints counts by folder and by reason, and what is not explained. Each pair is PaddlePaddle's outcomes and ours."""
    reasons, by_reason = differences(), collections.Counter[str]()
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    wrong: list[str] = []
    for folder, theirs, ours in pairs:
        counts[folder]["cases"] += len(theirs)
        for name, said in theirs.items():
            if said:
                continue  # PaddlePaddle does not pass it either
            case, module = f"{folder}/{name}", name.partition("::")[0].partition(".")[0]
            answer = ours.get(name, ours.get(module, "its file does not run"))
            counts[folder]["counted"] += 1
            counts[folder]["passed"] += not answer
            if not answer:
                if case in reasons:
                    wrong.append(f"{case} is listed and passes: take it out of {DIFFERENCES.name}")
                continue
            by_reason[reasons.get(case, "not explained")] += 1
            if case not in reasons:
                wrong.append(f"{case}: {answer}")
            elif verbose:
                print(f"{case}: {answer}")
    print(f"{'folder':12} {'cases':>6} {'counted':>8} {'passed':>7} {'failed':>7}")
    for folder, count in [*counts.items(), ("all", sum(counts.values(), collections.Counter()))]:
        failed = count["counted"] - count["passed"]
        print(f"{folder:12} {count['cases']:6} {count['counted']:8} {count['passed']:7} {failed:7}")
    for reason, number in by_reason.most_common():
        print(f"{number:5}  {reason}")
    for line in wrong:
        print(f"FAIL {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
