"""Compares the three models of rapidocr 3.10.0 with onnxruntime: python tests/onnx/ocr.py FOLDER

FOLDER has the models of its wheel (pip download --no-deps rapidocr==3.10.0, then unzip: rapidocr/models). Each model runs at two
sizes of its input on random numbers. Results have to be within 1e-4; the times are those of one thread, and of what is printed
the smallest of three.
"""

from __future__ import annotations

import importlib
import os
import pathlib
import sys
import time
from typing import Any, Callable

os.environ.setdefault("PADDLE_MPS_NUM_THREADS", "1")

import numpy as np

import paddle_mps
from paddle_mps._commands._differences import apart

onnxruntime: Any = importlib.import_module("onnxruntime")
SIZES = {
    "ch_ppocr_mobile_v2.0_cls_mobile": ((1, 3, 48, 192), (3, 3, 64, 128)),
    "PP-OCRv6_det_small": ((1, 3, 160, 224), (2, 3, 96, 320)),
    "PP-OCRv6_rec_small": ((1, 3, 48, 320), (2, 3, 48, 200)),
}


def timed(f: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    """What a function returns, and the milliseconds that it took."""
    start = time.perf_counter()
    made = f(*args)
    return made, (time.perf_counter() - start) * 1e3


def compare(ours: Any, theirs: Any, x: Any) -> float:
    """Runs both on one input, prints a line, and returns the largest error."""

    def run(x: Any) -> Any:
        return ours(x).numpy()

    feed = {theirs.get_inputs()[0].name: x}
    y, first = timed(run, x)
    (want,), their_first = timed(theirs.run, None, feed)
    warm = min(timed(run, x)[1] for _ in range(3))
    their_warm = min(timed(theirs.run, None, feed)[1] for _ in range(3))
    error = apart(y, want)
    print(
        f"  {list(x.shape)} -> {list(y.shape)}: largest error {error:.1e} of {np.abs(want).max():.2g}; "
        f"first run {first:.0f} ms ({their_first:.0f}), then {warm:.1f} ms ({their_warm:.1f})",
        flush=True,
    )
    return error


def main(folder: pathlib.Path) -> int:
    """Compares each model at each size, and returns 1 if a result differs."""
    options, worst = onnxruntime.SessionOptions(), 0.0
    options.intra_op_num_threads = 1
    random = np.random.default_rng(0)
    for name, sizes in SIZES.items():
        path = str(folder / f"{name}.onnx")
        ours, load = timed(paddle_mps.onnx.load, path, paddle_mps.CPUPlace())
        theirs, their_load = timed(onnxruntime.InferenceSession, path, options, ["CPUExecutionProvider"])
        print(f"{name}: loaded in {load:.0f} ms, by onnxruntime in {their_load:.0f} ms")
        for size in sizes:
            worst = max(worst, compare(ours, theirs, random.standard_normal(size).astype(np.float32)))
    return 0 if worst <= 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
