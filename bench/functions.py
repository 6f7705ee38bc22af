"""The functions of the array library beside NumPy's and PaddlePaddle's, on 8, 10,000 and 10 million elements.

Each library is a process of its own with one thread. The processes take turns, row by row, so that a change of the
machine's speed hits all; a figure is the median of the turns. The last column is the time of paddle_mps over that of the
faster peer. Functions that the issue bounds at 10 million elements (at most 2) are marked with a star, and those above
the bound are listed at the end; the exit status is 1 if there are any. Then come factorizations of matrices of 512 x 512,
and transforms. Arguments are names of functions; none for all.
"""

from __future__ import annotations

import json
import os
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

# What expressions see: x and y of n float32 from 0.05 to 0.95, X the same as a matrix of 8 columns, i a permutation of
# n indices, k n counts below 100, m n bools, s the sorted x, R rows of up to 1,000, I images whose channels C is of; and
# 1,024 times less where a product makes squares of it.
SETUP = """
rng = np.random.default_rng(7)
arrays = {
    "x": rng.uniform(0.05, 0.95, n).astype("float32"),
    "y": rng.uniform(0.05, 0.95, n).astype("float32"),
    "i": rng.permutation(n),
    "k": rng.integers(0, 100, n),
    "m": rng.uniform(size=n) < 0.5,
}
x = arrays["x"]
arrays["X"], arrays["s"] = x.reshape(-1, 8), np.sort(x)
images = {8: (1, 2, 2, 2), 10_000: (1, 4, 50, 50), 10_000_000: (100, 40, 50, 50)}.get(n, (1, 1, 1, n))
arrays["R"], arrays["I"], arrays["C"] = x.reshape(-1, min(n, 512 if n == 512 * 512 else 1000)), x.reshape(images), np.ones(images[1], "float32")
side = 512 if n == 512 * 512 else max(int(n ** 0.5) // 8, 2)
A = rng.uniform(-1, 1, (side, side)).astype("float32")
arrays["A"], arrays["S"] = A, A @ A.T + side * np.eye(side, dtype="float32")
"""

# name | expression of both Paddles | expression of NumPy; a star: bounded by the issue
FUNCTIONS = """
asin* | paddle.asin(x) | np.arcsin(x)
acosh* | paddle.acosh(x + 1) | np.arccosh(x + np.float32(1))
atan2* | paddle.atan2(x, y) | np.arctan2(x, y)
log10* | paddle.log10(x) | np.log10(x)
fmax* | paddle.fmax(x, y) | np.fmax(x, y)
copysign* | paddle.copysign(x, y) | np.copysign(x, y)
lerp* | paddle.lerp(x, y, 0.5) | x + np.float32(0.5) * (y - x)
logit* | paddle.logit(x) | np.log(x / (1 - x))
nan_to_num* | paddle.nan_to_num(x) | np.nan_to_num(x)
isclose* | paddle.isclose(x, y) | np.isclose(x, y)
lgamma* | paddle.lgamma(x) |
digamma* | paddle.digamma(x) |
erfinv* | paddle.erfinv(x) |
elu* | F.elu(x) | np.where(x > 0, x, np.expm1(x))
hardswish* | F.hardswish(x) | x * np.clip(x + 3, 0, 6) / 6
mish* | F.mish(x) | x * np.tanh(np.log1p(np.exp(x)))
log_softmax* | F.log_softmax(X) | X - np.log(np.exp(X).sum(1, keepdims=True))
std* | paddle.std(x) | np.std(x, ddof=1)
var(axis=0)* | paddle.var(X, axis=0) | np.var(X, axis=0, ddof=1)
logsumexp* | paddle.logsumexp(x) | np.log(np.exp(x - x.max()).sum()) + x.max()
norm* | paddle.linalg.norm(x) | np.linalg.norm(x)
nansum* | paddle.nansum(x) | np.nansum(x)
count_nonzero* | paddle.count_nonzero(m) | np.count_nonzero(m)
amax* | paddle.amax(X, axis=1) | X.max(axis=1)
median | paddle.median(x) | np.median(x)
quantile | paddle.quantile(x, 0.3) | np.quantile(x, 0.3)
cumprod* | paddle.cumprod(x, dim=0) | np.cumprod(x)
cummax* | paddle.cummax(x, axis=0) | np.maximum.accumulate(x)
logcumsumexp* | paddle.logcumsumexp(x, axis=0) | np.logaddexp.accumulate(x)
sort* | paddle.sort(x) | np.sort(x)
sort(axis=1)* | paddle.sort(X, axis=1) | np.sort(X, axis=1)
argsort* | paddle.argsort(x) | np.argsort(x)
sort of int64* | paddle.sort(i) | np.sort(i)
topk | paddle.topk(x, 8) | np.partition(x, -8)[-8:]
kthvalue | paddle.kthvalue(x, 8) | np.partition(x, 7)[7]
unique | paddle.unique(k) | np.unique(k)
searchsorted | paddle.searchsorted(s, y) | np.searchsorted(s, y)
histogram | paddle.histogram(x, bins=100, min=0, max=1) | np.histogram(x, 100, (0, 1))
bincount | paddle.bincount(k) | np.bincount(k)
index_select* | paddle.index_select(x, i) | x[i]
take_along_axis* | paddle.take_along_axis(x, i, 0) | np.take_along_axis(x, i, 0)
gather_nd* | paddle.gather_nd(x, i.unsqueeze(-1)) | x[i]
masked_select* | paddle.masked_select(x, m) | x[m]
put_along_axis* | paddle.put_along_axis(x, i, y, 0) | put(x, i, y)
scatter* | paddle.scatter(x, i, y) | put(x, i, y)
index_add* | paddle.index_add(x, k, 0, y) | add(x, k, y)
repeat_interleave | paddle.repeat_interleave(x, 2) | np.repeat(x, 2)
roll | paddle.roll(x, 3) | np.roll(x, 3)
tril | paddle.tril(X) | np.tril(X)
one_hot | F.one_hot(k, 100) if n < 1e6 else None | np.eye(100, dtype='float32')[k] if n < 1e6 else None
pad | F.pad(X, [1, 1], value=0.0) | np.pad(X, ((0, 0), (1, 1)))
dot | paddle.dot(x, y) | np.dot(x, y)
outer | paddle.outer(A[0], A[0]) | np.outer(A[0], A[0])
einsum | paddle.einsum('ij,kj->ik', A, A) | np.einsum('ij,kj->ik', A, A, optimize=True)
diff | paddle.diff(x) | np.diff(x)
max_pool | F.max_pool2d(I, 2) |
max_pool(3x3) | F.max_pool2d(I, 3, 1, 1) |
avg_pool | F.avg_pool2d(I, 2) |
layer_norm | F.layer_norm(R, R.shape[1:], R[0], R[0]) |
batch_norm | F.batch_norm(I, C, C, C, C, training=True) |
batch_norm(eval) | F.batch_norm(I, C, C, C, C) |
"""

# Factorizations, of 512 x 512, and transforms, of as many elements: printed, and not bounded by the issue.
MATRICES = """
solve | paddle.linalg.solve(A, A) | np.linalg.solve(A, A)
inv | paddle.linalg.inv(A) | np.linalg.inv(A)
det | paddle.linalg.det(A) | np.linalg.det(A)
cholesky | paddle.linalg.cholesky(S) | np.linalg.cholesky(S)
qr | paddle.linalg.qr(A) | np.linalg.qr(A)
svd | paddle.linalg.svd(A) | np.linalg.svd(A, full_matrices=False)
eigh | paddle.linalg.eigh(S) | np.linalg.eigh(S)
eig | paddle.linalg.eig(A) | np.linalg.eig(A)
lstsq | paddle.linalg.lstsq(A, A) | np.linalg.lstsq(A, A, rcond=None)
pinv | paddle.linalg.pinv(A) | np.linalg.pinv(A)
matrix_power | paddle.linalg.matrix_power(A, 5) | np.linalg.matrix_power(A, 5)
multi_dot | paddle.linalg.multi_dot([A, A, A]) | np.linalg.multi_dot([A, A, A])
fft | paddle.fft.fft(x) | np.fft.fft(x)
rfft | paddle.fft.rfft(x) | np.fft.rfft(x)
irfft | paddle.fft.irfft(paddle.fft.rfft(x)) | np.fft.irfft(np.fft.rfft(x))
fft2 | paddle.fft.fft2(A) | np.fft.fft2(A)
fftn of rows | paddle.fft.fftn(A, axes=[1]) | np.fft.fftn(A, axes=[1])
"""

WORKER = """
import json, sys, time
import numpy as np
name = sys.argv[1]
if name != "numpy":
    import importlib
    paddle = importlib.import_module(name)
    F = paddle.nn.functional
def put(x, i, y):
    x = x.copy(); x[i] = y; return x
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
    rows = [[part.strip() for part in line.split(" |")] for line in text.strip().splitlines()]
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
    tables = [(n, functions(sys.argv[1:], FUNCTIONS)) for n in SIZES]
    tables.append((SQUARE, functions(sys.argv[1:], MATRICES)))
    above = []
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
            if f.bounded and n == SIZES[-1] and (ratio is None or ratio > BAR):
                above.append(f"{f.name} {'no figure' if ratio is None else format(ratio, '.2f')}")
    print(f"\nabove {BAR} at {SIZES[-1]:,} elements: {', '.join(above) or 'none'} ({time.monotonic() - started:.0f} s)")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
