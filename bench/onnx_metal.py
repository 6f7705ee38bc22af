"""What a warm run of ONNX models asks of Metal, by the counts of the mock: the networks of tests/onnx/networks.py, exported with
paddle2onnx, and the models of rapidocr where it is installed.

    ./build.sh bench onnx_metal [--only NAME ...]

Times of the mock say nothing about a GPU. These numbers do not depend on the machine: command encoders, dispatches of shaders, command
buffers that are committed, bytes that are copied. A run that compiles a shader or allocates memory of the device misses the bar. So
does one whose results differ from those on the CPU by more than 1e-4 of their largest element. No step may fall back to the CPU.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import os
import pathlib
import sys
import time
from typing import Any

ROOT = pathlib.Path(__file__).parents[1]
TOLERANCE = 1e-4
WARM = 2  # runs before the one that counts
SHOWN = ("encoders", "dispatches", "commits", "waits", "copied_bytes")
NONE = ("compiles", "buffers", "heaps")  # none of these in a warm run


def mock() -> Any:
    """The mock of Metal, which is loaded as Apple's libraries are.

    Raises:
        SystemExit: the environment names none.
    """
    path = os.environ.get("PADDLE_MPS_METAL_LIBRARY")
    if not path:
        raise SystemExit("onnx_metal.py: PADDLE_MPS_METAL_LIBRARY names no mock; want ./build.sh bench onnx_metal")
    library = ctypes.CDLL(path)
    library.fakemetal_count.restype, library.fakemetal_count.argtypes = ctypes.c_int64, [ctypes.c_char_p]
    return library


def measure(name: str, path: pathlib.Path, feed: dict[str, Any], metal: Any) -> bool:
    """Runs a model and prints its line; answers whether it meets the bars."""
    import exports

    import paddle_mps
    from paddle_mps._commands._differences import between

    start = time.perf_counter()
    want = exports.model(path, "cpu")(feed)
    model = paddle_mps.onnx.load(str(path), place="mps")
    inputs = {key: paddle_mps.to_tensor(x, place="mps") for key, x in feed.items()}
    for _ in range(WARM):
        model(**inputs)
    paddle_mps.mps.synchronize()
    metal.fakemetal_reset()
    made = model(**inputs)
    paddle_mps.mps.synchronize()
    counts = {what: metal.fakemetal_count(what.encode()) for what in (*SHOWN, *NONE)}
    got = [x.numpy() for x in (made if isinstance(made, tuple) else (made,))]
    worst = between(got, want, exports.difference)
    info = model._program.info()
    missed = [f"{counts[what]} {what}" for what in NONE if counts[what]]
    missed += [f"{info.cpu_steps} steps on the CPU"] if info.cpu_steps else []
    missed += [f"differs by {worst:.1e}"] if not worst <= TOLERANCE else []
    print(
        f"{name:14s}{info.steps:7d}" + "".join(f"{counts[what]:13,d}" for what in SHOWN) + f"{worst:10.1e}"
        f"{time.perf_counter() - start:8.1f} s" + (f"   MISSED: {', '.join(missed)}" if missed else ""),
        flush=True,
    )
    return not missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these models alone")
    options = parser.parse_args()
    metal = mock()
    sys.path.insert(0, str(ROOT / "tests" / "onnx"))
    import exports
    import networks

    spec = importlib.util.spec_from_file_location("bench_onnx", ROOT / "bench" / "onnx.py")  # onnx is a package
    assert spec and spec.loader
    ours = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ours)
    models = [
        one
        for one in ours.ocr(lambda path: exports.open_session(path, 1))
        if not options.only or one[0] in options.only
    ]
    for name in networks.NETWORKS:
        if not options.only or name in options.only:
            path = exports.exported(name)
            if path is not None:
                models.append((name, path, networks.feeds(name)[0]))
    print(f"{'':14s}{'steps':>7s}" + "".join(f"{what.replace('_', ' '):>13s}" for what in SHOWN) + "     error    took")
    met = [measure(name, path, feed, metal) for name, path, feed in models]
    print(f"{sum(met)} of {len(met)} models compile nothing and allocate nothing when warm, and agree with the CPU")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
