"""ONNX models beside onnxruntime, on the CPU: the networks of tests/onnx/networks.py, exported with paddle2onnx, and the models of
rapidocr.

    ./build.sh bench onnx [--only NAME ...] [--threads N]

Each line has the time of a run of both, which take turns, so that a change of the machine's speed hits both; the median of
the ratios, where more is better for us; and the time from loading the file to the first result. The bars are those that the
project has set itself, and the exit status is 1 if one is missed. With more than one thread the processor time of a turn
is compared with its time: below 0.95 of the threads, something else was running, and the line says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import pathlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

ROOT = pathlib.Path(__file__).parents[1]
TURNS = 9
LEAST = 0.05  # seconds that a turn measures at least
MEAN_BAR, LEAST_BAR = 0.9, 0.6
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


def measure(name: str, feed: dict[str, Any], opens: tuple[Callable[[], Run], Callable[[], Run]], threads: int) -> float:
    """Times ours and theirs, prints a line, and answers theirs over ours."""
    first, runs = [], []
    for made in opens:
        start = time.perf_counter()
        run = made()
        run(feed)
        first.append(time.perf_counter() - start)
        runs.append(run)
    times: tuple[list[float], list[float]] = ([], [])
    busy = 1.0
    for _ in range(TURNS):
        for run, spent in zip(runs, times):
            start, processor, count = time.perf_counter(), time.process_time(), 0
            while count == 0 or time.perf_counter() - start < LEAST:
                run(feed)
                count += 1
            took = time.perf_counter() - start
            spent.append(took / count)
            busy = min(busy, (time.process_time() - processor) / took / threads)
    ours, theirs = map(statistics.median, times)
    ratio = statistics.median(b / a for a, b in zip(*times))
    disturbed = f"   only {busy:.2f} of the processors" if threads > 1 and busy < 0.95 else ""
    missed = "   MISSED" if ratio < LEAST_BAR else ""
    print(f"{name:14s}{1e3 * ours:9.2f} ms {1e3 * theirs:9.2f} ms {ratio:6.2f} {1e3 * first[0]:9.0f} ms "
          f"{1e3 * first[1]:7.0f} ms{missed}{disturbed}", flush=True)  # fmt: skip
    return ratio


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these models alone")
    parser.add_argument("--threads", type=int, default=1, help="of both")
    options = parser.parse_args()
    os.environ["PADDLE_MPS_NUM_THREADS"] = str(options.threads)  # before the library is loaded
    sys.path.insert(0, str(ROOT / "tests" / "onnx"))
    import exports
    import networks

    models = list(ocr(lambda path: exports.open_session(path, 1)))
    for name in networks.NETWORKS:
        if not options.only or name in options.only:
            path = exports.exported(name)
            if path is not None:
                models.append((name, path, networks.feeds(name)[0]))
    print(f"{'':14s}{'paddle_mps':>12s}{'onnxruntime':>13s}  ratio   first results")
    ratios = [
        measure(name, feed, (lambda p=path: exports.model(p, "cpu"), lambda p=path: exports.session(p, options.threads)),
                options.threads)
        for name, path, feed in models if not options.only or name in options.only
    ]  # fmt: skip
    mean = math.exp(sum(map(math.log, ratios)) / max(len(ratios), 1))
    print(f"geometric mean {mean:.2f} (bar {MEAN_BAR}), least {min(ratios, default=0):.2f} (bar {LEAST_BAR})")
    return 1 if mean < MEAN_BAR or min(ratios, default=0) < LEAST_BAR else 0


if __name__ == "__main__":
    sys.exit(main())
