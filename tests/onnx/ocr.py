"""Compares the three models of rapidocr 3.10.0 with onnxruntime: python tests/onnx/ocr.py FOLDER

FOLDER has the models of its wheel (pip download --no-deps rapidocr==3.10.0, then unzip: rapidocr/models). Each model runs at two
sizes of its input on random numbers. Results have to be within 1e-4; the times are those of one thread, and of what is printed
the smallest of three.
"""

from __future__ import annotations

import os
import pathlib
import sys
import time
from typing import Any, Callable

os.environ.setdefault("PADDLE_MPS_NUM_THREADS", "1")

import numpy as np
import onnxruntime

import paddle_mps

SIZES = {
    "ch_ppocr_mobile_v2.0_cls_mobile": ((1, 3, 48, 192), (3, 3, 64, 128)),
    "PP-OCRv6_det_small": ((1, 3, 160, 224), (2, 3, 96, 320)),
    "PP-OCRv6_rec_small": ((1, 3, 48, 320), (2, 3, 48, 200)),
}


def timed(f: Callable[[], Any]) -> tuple[Any, float]:
    """What a function returns, and the milliseconds that it took."""
    start = time.perf_counter()
    made = f()
    return made, (time.perf_counter() - start) * 1e3


def main(folder: pathlib.Path) -> int:
    """Prints a line for each model and size, and returns 1 if a result differs."""
    options, worst = onnxruntime.SessionOptions(), 0.0
    options.intra_op_num_threads = 1
    random = np.random.default_rng(0)
    for name, sizes in SIZES.items():
        path = str(folder / f"{name}.onnx")
        ours, load = timed(lambda: paddle_mps.onnx.load(path, paddle_mps.CPUPlace()))
        theirs, their_load = timed(lambda: onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"]))
        print(f"{name}: loaded in {load:.0f} ms, by onnxruntime in {their_load:.0f} ms")
        for size in sizes:
            x = random.standard_normal(size).astype(np.float32)
            feed = {theirs.get_inputs()[0].name: x}
            y, first = timed(lambda: ours(x).numpy())
            want, their_first = timed(lambda: theirs.run(None, feed)[0])
            warm = min(timed(lambda: ours(x).numpy())[1] for _ in range(3))
            their_warm = min(timed(lambda: theirs.run(None, feed))[1] for _ in range(3))
            error = float(np.abs(y - want).max())
            worst = max(worst, error)
            print(
                f"  {list(size)} -> {list(y.shape)}: largest error {error:.1e} of {np.abs(want).max():.2g}; first run "
                f"{first:.0f} ms ({their_first:.0f}), then {warm:.1f} ms ({their_warm:.1f})",
                flush=True,
            )
    return 0 if worst <= 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
