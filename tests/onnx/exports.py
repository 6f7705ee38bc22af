"""Exports networks with paddle2onnx, and compares what paddle_mps and onnxruntime compute with the files.

    python tests/onnx/exports.py [--only NAME ...] [--place cpu|mps]

The largest difference of a result may be 1e-4 of its largest element. Each network is exported by a process of its own,
because paddle2onnx ends the process of what it cannot export. Files are kept in build/exports. With --place mps, on a machine
without an Apple GPU, the environment says which device stands in; see docs/environment.md.
"""

from __future__ import annotations

import argparse
import importlib
import math
import pathlib
import subprocess
import sys
from typing import Any, Callable

import numpy as np

from paddle_mps._commands._differences import apart, between

HERE = pathlib.Path(__file__).parent
FOLDER = HERE.parents[1] / "build" / "exports"
TOLERANCE = 1e-4


def exported(name: str) -> pathlib.Path | None:
    """The file of a network; None where it could not be exported, which is printed."""
    path = FOLDER / f"{name}.onnx"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        code = f"import networks; networks.export({name!r}, {str(FOLDER)!r})"
        made = subprocess.run([sys.executable, "-c", code], cwd=HERE, capture_output=True, text=True)
        if not path.exists():
            said = [line for line in (made.stdout + made.stderr).splitlines() if "rror" in line]
            print(f"FAIL {name}: paddle2onnx wrote no file: {said[-1:]}", flush=True)
            return None
    return path


def open_session(path: pathlib.Path, threads: int) -> Any:
    """onnxruntime's session of a file."""
    onnxruntime = importlib.import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 4
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def session(path: pathlib.Path, threads: int) -> Callable[[dict[str, Any]], list[Any]]:
    """onnxruntime's session of a file, as a function of its inputs."""
    made = open_session(path, threads)
    return lambda feed: list(made.run(None, feed))


def model(path: pathlib.Path, place: str) -> Callable[[dict[str, Any]], list[Any]]:
    """Our model of a file, likewise; results are arrays."""
    import paddle_mps

    loaded = paddle_mps.onnx.load(str(path), place=place)

    def run(feed: dict[str, Any]) -> list[Any]:
        results = loaded(**feed)
        return [np.asarray(r) for r in (results if isinstance(results, tuple) else (results,))]

    return run


def difference(got: Any, want: Any) -> float:
    """The largest difference of two arrays, in largest elements of the second; infinite for other shapes or dtypes."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return math.inf
    off = apart(got, want)
    return off / max(float(np.abs(want).max()), 1e-30) if 0 < off < math.inf else off


def compare(name: str, path: pathlib.Path, place: str) -> bool:
    """Compares all results of a network, on all that it is run on; prints a line."""
    networks = importlib.import_module("networks")
    ours, theirs, worst, shapes = model(path, place), session(path, 1), 0.0, []
    for feed in networks.feeds(name):
        got, want = ours(feed), theirs(feed)
        worst = max(worst, between(got, want, difference))
        shapes.append("x".join(map(str, next(iter(feed.values())).shape)))
    good = worst <= TOLERANCE
    print(f"{'ok' if good else 'FAIL'} {name}: {worst:.1e} on {' and '.join(shapes)}", flush=True)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these networks alone")
    parser.add_argument("--place", default="cpu", help="where ours runs")
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    networks = importlib.import_module("networks")
    failed = 0
    for name in options.only or networks.NETWORKS:
        path = exported(name)
        failed += path is None or not compare(name, path, options.place)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
