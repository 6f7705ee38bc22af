"""ONNX models beside onnxruntime, on the CPU: the networks of tests/onnx/networks.py, exported with paddle2onnx, and the models of
rapidocr.

    ./build.sh bench onnx [--only NAME ...] [--threads N]

Each line has the time of a run of both, which take turns, so that a change of the machine's speed hits both; the median of
the ratios, where more is better for us; and, of processes that do nothing else, the time from loading the file to the first
result, and the most memory that the process had. Those are medians of some processes of each. The bars are those that the
project has set itself, and the exit status is 1 if one is missed. With more than one thread the processor time of a turn
of onnxruntime is compared with its time: below 0.95 of the threads, something else was running, and the line says so.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

ROOT = pathlib.Path(__file__).parents[1]
TURNS = 9
LEAST = 0.05  # seconds that a turn measures at least
MEAN_BAR, LEAST_BAR = 0.9, 0.6
PROCESSES = 3  # of each, for the first result
FIRST_BAR = 1.0  # of time and memory: ours over theirs, at most
NAMES = ("paddle_mps", "onnxruntime")
# Sizes of pictures that the models of rapidocr get: a page, a line of text, and a line that may be upside down.
OCR = {"det": (1, 3, 640, 640), "rec": (1, 3, 48, 320), "cls": (1, 3, 80, 160)}

Run = Callable[[dict[str, Any]], Any]


def ocr(session: Any) -> Iterator[tuple[str, pathlib.Path, dict[str, Any]]]:
    """The models of rapidocr, where it is installed."""
    found = importlib.util.find_spec("rapidocr")
    if not found or not found.origin:
        return
    for path in sorted((pathlib.Path(found.origin).parent / "models").glob("*.onnx")):
        kind = next((kind for kind in OCR if f"_{kind}_" in path.name), None)
        if kind:
            picture = np.random.RandomState(3).rand(*OCR[kind]).astype("float32")
            yield f"ocr-{kind}", path, {session(path).get_inputs()[0].name: picture}


def first_of(name: str, path: str, arrays: str, threads: int) -> None:
    """The work of a process: prints the seconds to the first result, and the most bytes that the process had. What takes longer
    than many models, importing the package, is not counted as time; ours imports its part for ONNX when that is first used."""
    import exports

    importlib.import_module(name + ".onnx" if name == NAMES[0] else name)
    with np.load(arrays) as saved:
        feed = dict(saved)
    model = pathlib.Path(path)
    start = time.perf_counter()
    (exports.model(model, "cpu") if name == NAMES[0] else exports.session(model, threads))(feed)
    took = time.perf_counter() - start
    status = pathlib.Path("/proc/self/status")
    peak = re.search(r"VmHWM:\s*(\d+)", status.read_text()) if status.exists() else None
    print(json.dumps([took, 1024 * int(peak[1]) if peak else 0]))


def firsts(path: pathlib.Path, feed: dict[str, Any], threads: int) -> list[tuple[float, float]]:
    """Seconds and bytes as `first_of` prints them, for ours and theirs: medians of processes that take turns."""
    found: dict[str, list[Any]] = {name: [] for name in NAMES}
    with tempfile.TemporaryDirectory() as folder:
        arrays = pathlib.Path(folder) / "inputs.npz"
        np.savez(arrays, **feed)
        for _ in range(PROCESSES):
            for name in NAMES:
                command = [sys.executable, __file__, "--first", name, str(path), str(arrays), "--threads", str(threads)]
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
                found[name].append(json.loads(done.stdout.splitlines()[-1]))
    return [(statistics.median(s for s, _ in of), statistics.median(b for _, b in of)) for of in found.values()]


def settle() -> None:
    """Waits until no thread of this process runs. Those of onnxruntime watch for work for some time after a run, on the processors
    that our turn would need."""
    running = 1.0
    while running > 0.1:
        before, start = time.process_time(), time.perf_counter()
        time.sleep(0.02)
        running = (time.process_time() - before) / (time.perf_counter() - start)


def measure(
    name: str,
    path: pathlib.Path,
    feed: dict[str, Any],
    opens: tuple[Callable[[], Run], Callable[[], Run]],
    threads: int,
) -> tuple[float, bool]:
    """Times ours and theirs, prints a line, and answers theirs over ours, and whether the bars of the first result are met."""
    (first, memory), (their_first, their_memory) = firsts(path, feed, threads)
    runs = [made() for made in opens]
    for run in runs:
        run(feed)
    times: tuple[list[float], list[float]] = ([], [])
    busy = 1.0
    for _ in range(TURNS):
        for run, spent in zip(runs, times):
            settle()
            start, processor, count = time.perf_counter(), time.process_time(), 0
            while count == 0 or time.perf_counter() - start < LEAST:
                run(feed)
                count += 1
            took = time.perf_counter() - start
            spent.append(took / count)
            if run is runs[-1]:  # whose threads never sleep in between, and so show what they were given
                busy = min(busy, (time.process_time() - processor) / took / threads)
    ours, theirs = map(statistics.median, times)
    ratio = statistics.median(b / a for a, b in zip(*times))
    disturbed = f"   only {busy:.2f} of the processors" if threads > 1 and busy < 0.95 else ""
    # A process has no figure of its memory where there is no /proc.
    bars = {
        "speed": ratio < LEAST_BAR, "first result": first > FIRST_BAR * their_first, "memory": memory > FIRST_BAR * their_memory,
    }  # fmt: skip
    missed = "".join(f"   MISSED: {what}" for what, is_missed in bars.items() if is_missed)
    print(f"{name:14s}{1e3 * ours:9.2f} ms {1e3 * theirs:9.2f} ms {ratio:6.2f} {1e3 * first:8.0f} ms {1e3 * their_first:7.0f} ms "
          f"{memory / 2**20:7.0f} MiB {their_memory / 2**20:7.0f} MiB{missed}{disturbed}", flush=True)  # fmt: skip
    return ratio, not bars["first result"] and not bars["memory"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these models alone")
    parser.add_argument("--threads", type=int, default=1, help="of both")
    parser.add_argument("--first", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ["PADDLE_MPS_NUM_THREADS"] = str(options.threads)  # before the library is loaded
    sys.path.insert(0, str(ROOT / "tests" / "onnx"))
    if options.first:
        name, path, arrays = options.first
        first_of(name, path, arrays, options.threads)
        return 0
    import exports
    import networks

    models = list(ocr(lambda path: exports.open_session(path, 1)))
    for name in networks.NETWORKS:
        if not options.only or name in options.only:
            path = exports.exported(name)
            if path is not None:
                models.append((name, path, networks.feeds(name)[0]))
    print(f"{'':14s}{'paddle_mps':>12s}{'onnxruntime':>13s}  ratio   first results           peak memory")
    made = [
        measure(name, path, feed, (lambda p=path: exports.model(p, "cpu"), lambda p=path: exports.session(p, options.threads)),
                options.threads)
        for name, path, feed in models if not options.only or name in options.only
    ]  # fmt: skip
    ratios = [ratio for ratio, _ in made]
    mean = math.exp(sum(map(math.log, ratios)) / max(len(ratios), 1))
    print(f"geometric mean {mean:.2f} (bar {MEAN_BAR}), least {min(ratios, default=0):.2f} (bar {LEAST_BAR})")
    print(
        f"first result and memory at most {FIRST_BAR} times theirs: {sum(met for _, met in made)} of {len(made)} models"
    )
    return 1 if mean < MEAN_BAR or min(ratios, default=0) < LEAST_BAR or not all(met for _, met in made) else 0


if __name__ == "__main__":
    sys.exit(main())
