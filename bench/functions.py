"""The functions of the array library, in functions.txt, beside NumPy's and PaddlePaddle's, on 8, 10,000 and 10 million elements.

Each library is a process of its own with one thread. The processes take turns, row by row, so that a change of the
machine's speed hits all; a figure is the median of the turns. The last column is the time of paddle_mps over that of the
faster peer. Functions that the issue bounds at 10 million elements (at most 2) are marked with a star; the exit status is
1 if one is above. Then come factorizations of matrices of 512 x 512, and transforms. At the end all above the bound are
listed, with a star or without. Arguments are names of functions; none for all.
"""

from __future__ import annotations

import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

SIZES = (8, 10_000, 10_000_000)
SQUARE = 512 * 512  # the elements of the matrices that factorizations are measured with
TURNS = 5
LEAST = 0.01  # seconds that a turn measures at least
BAR = 2.0

# What expressions see: x and y of n float32 from 0.05 to 0.95, X the same as a matrix of 8 columns, i a permutation of n
# indices, k and j n counts below 100 and from 1 to 100, c n indices of the first 100 elements, m n bools, z n complex64, s the
# sorted x, R rows of up to 1,000, I images whose channels C is of; A a matrix, of fewer elements because products make squares
# of it, Z the same as complex64, S a symmetric one.
SETUP = """
rng = np.random.default_rng(7)
arrays = {
    "x": rng.uniform(0.05, 0.95, n).astype("float32"),
    "y": rng.uniform(0.05, 0.95, n).astype("float32"),
    "i": rng.permutation(n),
    "k": rng.integers(0, 100, n),
    "j": rng.integers(1, 101, n),
    "c": rng.integers(0, min(n, 100), n),
    "m": rng.uniform(size=n) < 0.5,
}
x = arrays["x"]
arrays["X"], arrays["s"] = x.reshape(-1, 8), np.sort(x)
arrays["z"] = x + np.complex64(1j) * arrays["y"]
images = {8: (1, 2, 2, 2), 10_000: (1, 4, 50, 50), 10_000_000: (100, 40, 50, 50)}.get(n, (1, 1, 1, n))
arrays["R"], arrays["I"], arrays["C"] = x.reshape(-1, min(n, 512 if n == 512 * 512 else 1000)), x.reshape(images), np.ones(images[1], "float32")
side = 512 if n == 512 * 512 else max(int(n ** 0.5) // 8, 2)
A = rng.uniform(-1, 1, (side, side)).astype("float32")
arrays["Z"] = A.astype("complex64")
arrays["A"], arrays["S"] = A, A @ A.T + side * np.eye(side, dtype="float32")
"""

TABLE = pathlib.Path(__file__).with_suffix(".txt")

WORKER = """
import json, sys, time
import numpy as np
name = sys.argv[1]
if name != "numpy":
    import importlib
    paddle = importlib.import_module(name)
    F = paddle.nn.functional
def put(x, i, y):
    x = x.copy() if name == "numpy" else x.clone(); x[i] = y; return x
def add(x, i, y):
    x = x.copy(); np.add.at(x, i, y); return x
size, values = None, {}
for line in sys.stdin:
    n, expression, least = json.loads(line)
    if n != size:
        exec(SETUP)
        size, values = n, {k: a if name == "numpy" else paddle.to_tensor(a) for k, a in arrays.items()}
    try:
        run = eval("lambda: " + expression, {**globals(), **values, "n": n})
        run()
        times, calls, start = 0.0, 0, time.perf_counter()
        while times < least:
            run(); calls += 1
            times = time.perf_counter() - start
        answer = times / calls
    except Exception as error:
        answer = f"{type(error).__name__}: {error}"[:120]
    print(json.dumps(answer), flush=True)
"""


@dataclass
class Function:
    """A row of the table: the expressions by library."""

    name: str
    bounded: bool
    ours: str
    numpy: str

    def expression(self, library: str) -> str:
        return self.numpy if library == "numpy" else self.ours


def functions(wanted: list[str], text: str) -> list[Function]:
    lines = [line for line in text.splitlines() if line and line[0] not in "#["]
    rows = [[part.strip() for part in line.split(" |")] for line in lines]
    found = [Function(name.rstrip("*"), name.endswith("*"), ours, (rest or [""])[0]) for name, ours, *rest in rows]
    return [f for f in found if not wanted or f.name in wanted]


class Library:
    """A process with one of the libraries, which measures one expression after the other."""

    def __init__(self, name: str) -> None:
        one = {
            "PADDLE_MPS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
        }
        program = f"SETUP = {SETUP!r}\n{WORKER}"
        self.name = name
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", program, name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **one},
        )  # fmt: skip

    def measure(self, n: int, expression: str) -> float | str:
        """The seconds of a call, or why there are none."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps([n, expression, LEAST]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended at {expression}")
        answer: float | str = json.loads(line)
        return answer


def available() -> list[str]:
    """The libraries that are installed; without PaddlePaddle its column stays empty."""
    found = subprocess.run([sys.executable, "-c", "import paddle"], capture_output=True).returncode == 0
    if not found:
        print("PaddlePaddle is not installed: its column stays empty")
    return ["paddle_mps", "numpy", *(["paddle"] if found else [])]


def compare(f: Function, n: int, libraries: list[Library]) -> dict[str, float | str]:
    """The median of the turns, by library; what a library says against the expression instead."""
    turns: dict[str, list[float]] = {}
    failed: dict[str, float | str] = {}
    for _ in range(TURNS):
        for library in libraries:
            expression = f.expression(library.name)
            if not expression or library.name in failed:
                continue
            answer = library.measure(n, expression)
            if isinstance(answer, str):
                failed[library.name] = answer
            else:
                turns.setdefault(library.name, []).append(answer)
    return {**{name: statistics.median(times) for name, times in turns.items()}, **failed}


def cell(value: float | str | None) -> str:
    if value is None:
        return ""
    return f"{value * 1e6:,.1f}" if isinstance(value, float) else value.split(":")[0]


def main() -> int:
    libraries = [Library(name) for name in available()]
    elements, matrices = TABLE.read_text().split("[matrices]")
    tables = [(n, functions(sys.argv[1:], elements)) for n in SIZES]
    tables.append((SQUARE, functions(sys.argv[1:], matrices)))
    above: list[str] = []
    bounded = 0
    started = time.monotonic()
    print(f"{'function':<20}{'elements':>12}{'paddle_mps us':>16}{'NumPy us':>14}{'Paddle us':>16}{'ratio':>8}")
    for n, table in tables:
        for f in table:
            took = compare(f, n, libraries)
            ours = took.get("paddle_mps")
            peers = [t for name, t in took.items() if name != "paddle_mps" and isinstance(t, float)]
            ratio = ours / min(peers) if peers and isinstance(ours, float) else None
            mark = "*" if f.bounded else ""
            print(
                f"{f.name + mark:<20}{n:>12,}{cell(ours):>16}{cell(took.get('numpy')):>14}{cell(took.get('paddle')):>16}"
                + (f"{ratio:>8.2f}" if ratio is not None else ""),
                flush=True,
            )
            if n >= SQUARE and (f.bounded if ratio is None else ratio > BAR):
                above.append(f"{f.name}{mark} {'no figure' if ratio is None else format(ratio, '.2f')}")
                bounded += f.bounded
    took_all = time.monotonic() - started
    print(f"\nabove {BAR} at {SIZES[-1]:,} elements, or of 512 x 512: {', '.join(above) or 'none'} ({took_all:.0f} s)")
    return 1 if bounded else 0


if __name__ == "__main__":
    sys.exit(main())
