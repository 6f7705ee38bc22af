"""What bench/triton_cuda.py measures: kernels as people write them in Triton, and sizes that a GPU is busy with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice

EPS = 2.0**-24


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * n + at, e / tl.sum(e, axis=0), mask=at < n)


@triton.jit
def layer_norm(x, out, w, b, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * n
    out += row * n
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        d = tl.where(at < n, tl.load(x + at, mask=at < n, other=0.0).to(tl.float32) - mean, 0.0)
        squares += d * d
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / n + eps)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < n
        v = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
        y = (v - mean) * scale * tl.load(w + at, mask=mask) + tl.load(b + at, mask=mask)
        tl.store(out + at, y, mask=mask)


@triton.jit
def gelu(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n).to(tl.float32)
    y = 0.5 * v * (1 + libdevice.tanh(0.7978845608 * (v + 0.044715 * v * v * v)))
    tl.store(out + at, y, mask=at < n)


@triton.jit
def dropout(x, out, n, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    v = tl.load(x + at, mask=mask)
    tl.store(out + at, tl.where(tl.rand(seed, at) > 0.25, v * 1.5, 0.0), mask=mask)


@triton.jit
def cumsum(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), axis=0))


@triton.jit
def argmax(x, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out + row, tl.argmax(tl.load(x + row * n + at, mask=at < n, other=float("-inf")), axis=0))


@triton.jit
def sort(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at)))


@triton.jit
def matmul(a, b, out, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros([BM, BN], dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        total = tl.dot(tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + n[None, :]), total)
    tl.store(out + m[:, None] * N + n[None, :], total)


@dataclass
class Row:
    """A kernel at a size. Arrays are those of NumPy; the output is the argument `out`."""

    name: str
    kernel: Any
    signature: str  # as `paddle-mps triton compile -s` takes it
    grid: Callable[[int], Sequence[int]]  # of the number of rows
    rows: int
    make: Callable[[np.random.Generator, int], list[Any]]  # arguments for a number of rows, constants left out
    exact: Callable[[list[Any]], np.ndarray[Any, Any]] | None  # in float64; None: only Triton says it
    terms: int = 0  # how many roundings an element may have seen; 0: the same bits
    of_largest: bool = False  # errors are relative to the largest element, because terms cancel
    bar: bool = False  # at least 0.95x is asked for
    warps: Sequence[int] = (4,)
    small: int = 3  # rows for the check of races

    def constants(self) -> list[Any]:
        return [int(part) for part in self.signature.split(",") if part.strip().isdigit()]

    def allowed(self, values: Any, largest: Any, unit: float) -> Any:
        """The error that each value may have; unit is the relative error of one rounding to the result's type."""
        size = largest if self.of_largest else abs(values)
        return self.terms * EPS * size + (unit * abs(values) if self.terms else 0)


def normal(rng: np.random.Generator, shape: Sequence[int], dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return rng.standard_normal(shape, dtype=np.float32).astype(dtype)


def whole(rng: np.random.Generator, shape: Sequence[int], dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    """Whole numbers, whose sums and products are exact in any order."""
    return rng.integers(-8, 9, shape, np.int8).astype(dtype)


def power(n: int) -> int:
    return 1 << (n - 1).bit_length()


def hint(n: int) -> str:
    return "i32:16" if n % 16 == 0 else "i32"


def f64(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray(x, np.float64)


def softmax_row(rows: int, n: int) -> Row:
    def exact(args: list[Any]) -> np.ndarray[Any, Any]:
        e = np.exp(f64(args[0]) - f64(args[0]).max(1, keepdims=True))
        return np.asarray(e / e.sum(1, keepdims=True))

    return Row(
        f"softmax {rows}x{n}", softmax, f"*fp32:16, *fp32:16, {hint(n)}, {power(n)}", lambda r: (r,), rows,
        lambda rng, r: [x := normal(rng, (r, n)), np.zeros_like(x), n], exact, terms=n + 32, bar=True, warps=(4, 8, 16, 32),
    )  # fmt: skip


def layer_norm_row(rows: int, n: int, dtype: Any, block: int) -> Row:
    kind = "fp16" if dtype == np.float16 else "fp32"

    def exact(args: list[Any]) -> np.ndarray[Any, Any]:
        x = f64(args[0])
        d = x - x.mean(1, keepdims=True)
        return np.asarray(d / np.sqrt((d * d).mean(1, keepdims=True) + args[5]) * args[2] + args[3])

    return Row(
        f"layer norm {rows}x{n} {kind}", layer_norm, f"*{kind}:16, *{kind}:16, *fp32:16, *fp32:16, {hint(n)}, fp32, {block}",
        lambda r: (r,), rows,
        lambda rng, r: [x := normal(rng, (r, n), dtype), np.zeros_like(x), normal(rng, (n,)), normal(rng, (n,)), n, 1e-5],
        exact, terms=n + 32, of_largest=True, bar=True, warps=(4, 8, 16),
    )  # fmt: skip


def flat(name: str, kernel: Any, n: int, dtype: Any, exact: Any, more: Sequence[Any] = (), **given: Any) -> Row:
    """One input and one output of n elements, 1,024 a program."""
    kind = "fp16" if dtype == np.float16 else "fp32"
    return Row(
        name, kernel, ", ".join([f"*{kind}:16", f"*{kind}:16", "i32:16", *["i32" for _ in more], "1024"]),
        lambda r: (r,), n // 1024, lambda rng, r: [x := normal(rng, (r * 1024,), dtype), np.zeros_like(x), r * 1024, *more],
        exact, warps=(4, 8), **given,
    )  # fmt: skip


def gelu_exact(args: list[Any]) -> np.ndarray[Any, Any]:
    v = f64(args[0])
    return np.asarray(0.5 * v * (1 + np.tanh(0.7978845608 * (v + 0.044715 * v**3))))


def matmul_row(n: int) -> Row:
    return Row(
        f"matmul {n}x{n}x{n} fp16", matmul, "*fp16:16, *fp16:16, *fp32:16, i32:16, i32:16, 64, 64, 32", lambda r: (r // 64, n // 64), n,
        lambda rng, r: [whole(rng, (r, n), np.float16), whole(rng, (n, n), np.float16), np.zeros((r, n), np.float32), n, n],
        lambda args: f64(args[0]) @ f64(args[1]), warps=(4, 8), small=64,
    )  # fmt: skip


ROWS = [
    Row("add 2^26", add, "*fp32:16, *fp32:16, *fp32:16, i32:16, 1024", lambda r: (r,), 1 << 16,
        lambda rng, r: [x := normal(rng, (r * 1024,)), normal(rng, (r * 1024,)), np.zeros_like(x), r * 1024],
        lambda args: f64(args[0] + args[1]), bar=True, warps=(4, 8)),
    *[softmax_row(rows, n) for rows, n in [(16384, 4096), (65536, 1024), (65536, 1000), (32768, 781), (16384, 3999)]],
    layer_norm_row(8192, 8192, np.float16, 4096),
    layer_norm_row(8192, 4096, np.float32, 4096),
    layer_norm_row(8192, 5000, np.float32, 1024),
    flat("gelu 2^26 fp16", gelu, 1 << 26, np.float16, gelu_exact, terms=64, of_largest=True),
    flat("dropout 2^26", dropout, 1 << 26, np.float32, None, more=[123]),
    Row("cumsum 65536x1024", cumsum, "*fp32:16, *fp32:16, 1024", lambda r: (r,), 65536,
        lambda rng, r: [x := whole(rng, (r, 1024)), np.zeros_like(x)], lambda args: f64(args[0]).cumsum(1), warps=(4, 8)),
    Row("argmax 65536x1000", argmax, "*fp32:16, *i32:16, i32, 1024", lambda r: (r,), 65536,
        lambda rng, r: [normal(rng, (r, 1000)), np.zeros(r, np.int32), 1000], lambda args: f64(args[0].argmax(1)), warps=(4, 8)),
    Row("sort 32768x1024", sort, "*fp32:16, *fp32:16, 1024", lambda r: (r,), 32768,
        lambda rng, r: [x := normal(rng, (r, 1024)), np.zeros_like(x)], lambda args: f64(np.sort(args[0], 1)), warps=(4, 8)),
    matmul_row(2048),
]  # fmt: skip


def file_name(row: Row, warps: int) -> str:
    """The name of a row's compiled kernel."""
    return f"{row.name.replace(' ', '_').replace('^', '')}-w{warps}"
