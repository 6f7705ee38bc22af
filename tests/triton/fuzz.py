"""Random programs in Triton, compared with NumPy to the bit.

    ... .venv-triton/bin/python tests/triton/fuzz.py [--seconds S] [--first SEED] [--seed SEED] [--statements N] [--frontend]

build.sh's on_mock has the environment. A program is a kernel of one block of statements, loops and conditions on tensors of
several types, shapes and ranks; each statement is text of Triton and a function of NumPy. All values that it ends with are
stored. What a type cannot hold wraps, divisions and shifts that are undefined are avoided, and floats are computed by
operations that round once, so that every bit is determined. --seed runs one program and keeps its text in build/triton-fuzz.
The exit status is 1 if a result is wrong or a program fails; a refusal counts as neither.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import inspect
import json
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import corpus
import numpy as np

run: Any = importlib.import_module("run")

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "build" / "triton-fuzz"

SIGNED, UNSIGNED = ["int8", "int16", "int32", "int64"], ["uint8", "uint16", "uint32", "uint64"]
INTEGERS, FLOATS = SIGNED + UNSIGNED, ["float32", "float16"]
ALL = [*INTEGERS, *FLOATS, "bool"]
INPUT = 4096  # elements of each input
Shape = tuple[int, ...]
Env = dict[str, Any]

HEAD = """import triton
import triton.language as tl


@triton.jit
def compose(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def latest(v1, f1, v2, f2):
    return tl.where(f2 != 0, v2, v1), f1 | f2


@triton.jit
def largest(v1, f1, v2, f2):
    return tl.maximum(v1, v2), tl.where(v1 > v2, f1, tl.where(v1 < v2, f2, f1 | f2))


@triton.jit
def exclusive_or(a, b):
    return a ^ b


@triton.jit
def distance(a, b):
    if a > b:
        return a - b
    if a == b:
        return a
    return b - a


@triton.jit
def halved(x, ROUND: tl.constexpr):
    if ROUND:
        return (x + 1) >> 1
    return x >> 1


"""


def spelled(dtype: str) -> str:
    """A dtype as Triton has it."""
    return "tl.int1" if dtype == "bool" else f"tl.{dtype}"


@dataclass
class Value:
    """A variable of the program."""

    name: str
    dtype: str
    shape: Shape


@dataclass
class Statement:
    """Lines of text, and what they do to the variables in NumPy."""

    lines: list[str]
    apply: Callable[[Env], None]


def composed(a: Any, b: Any, axis: int, reverse: bool) -> tuple[Any, Any]:
    """Running compositions of x -> a x + b along an axis, which do not commute."""
    a, b = np.moveaxis(a, axis, 0).copy(), np.moveaxis(b, axis, 0).copy()
    if reverse:
        a, b = a[::-1].copy(), b[::-1].copy()
    for i in range(1, len(a)):
        # Backwards the later element is the first operand, as Triton has it.
        b[i] = b[i - 1] * a[i] + b[i]
        a[i] = a[i - 1] * a[i]
    if reverse:
        a, b = a[::-1], b[::-1]
    return np.moveaxis(a, 0, axis), np.moveaxis(b, 0, axis)


def newest(v: Any, f: Any, axis: int, reverse: bool) -> tuple[Any, Any]:
    """Running choices of the last value whose flag is set."""
    v, f = np.moveaxis(v, axis, 0).copy(), np.moveaxis(f, axis, 0).copy()
    if reverse:
        v, f = v[::-1].copy(), f[::-1].copy()
    for i in range(1, len(v)):
        v[i] = np.where(f[i] != 0, v[i], v[i - 1])
        f[i] = f[i - 1] | f[i]
    if reverse:
        v, f = v[::-1], f[::-1]
    return np.moveaxis(v, 0, axis), np.moveaxis(f, 0, axis)


def greatest(v: Any, f: Any, axis: int, reverse: bool) -> tuple[Any, Any]:
    """Running maxima, and the flags of all that are equal to them."""
    v, f = np.moveaxis(v, axis, 0).copy(), np.moveaxis(f, axis, 0).copy()
    if reverse:
        v, f = v[::-1].copy(), f[::-1].copy()
    for i in range(1, len(v)):
        f[i] = np.where(v[i - 1] > v[i], f[i - 1], np.where(v[i - 1] < v[i], f[i], f[i - 1] | f[i]))
        v[i] = np.maximum(v[i - 1], v[i])
    if reverse:
        v, f = v[::-1], f[::-1]
    return np.moveaxis(v, 0, axis), np.moveaxis(f, 0, axis)


def truncated(x: Any, y: Any) -> tuple[Any, Any]:
    """Quotient and remainder as C has them."""
    q = np.abs(x.astype(object)) // np.abs(y.astype(object)) if x.dtype.kind == "i" else x // y
    if x.dtype.kind != "i":
        return q, x % y
    q = (q * np.where((x < 0) != (y < 0), -1, 1)).astype(np.int64).astype(x.dtype)
    return q, (x - q * y).astype(x.dtype)


@functools.cache
def negates() -> bool:
    """Whether -x negates a float. Before that, in Triton 3.6, it was 0 - x, so that -0.0 came out as 0.0."""
    language = importlib.import_module("triton.language.semantic")
    return "fneg" in inspect.getsource(language.TritonSemantic.minus)


class Writer:
    """Makes a program from random numbers. It knows types and shapes; values are NumPy's."""

    def __init__(self, seed: int, statements: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.statements = statements
        self.count = 0
        self.values: list[Value] = []
        self.scalars: list[Value] = []
        self.warps = int(self.rng.choice([1, 2, 4, 8]))
        rank = int(self.rng.choice([1, 1, 2, 2, 2, 3]))
        bits = int(self.rng.integers(0 if self.rng.random() < 0.1 else 3, 12))
        self.elements = 1 << bits
        cuts = sorted(int(c) for c in self.rng.integers(0, bits + 1, rank - 1))
        self.shape = tuple(1 << (b - a) for a, b in zip([0, *cuts], [*cuts, bits]))
        self.outputs: list[Value] = []

    def pick(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def of(self, dtypes: list[str], shape: Shape | None = None) -> Value | None:
        """A variable of one of some types, the newer the likelier."""
        all_of = [v for v in self.values if v.dtype in dtypes and (shape is None or v.shape == shape)]
        if not all_of:
            return None
        weights = np.arange(1, len(all_of) + 1, dtype=np.float64) ** 2
        return all_of[int(self.rng.choice(len(all_of), p=weights / weights.sum()))]

    def assign(self, dtype: str, shape: Shape, text: str, f: Callable[[Env], Any]) -> Statement:
        """A new variable."""
        v = Value(self.name(), dtype, shape)
        self.values.append(v)

        def apply(env: Env) -> None:
            with np.errstate(all="ignore"):
                got = np.asarray(f(env)).astype(dtype)
            assert got.shape == shape, (text, got.shape, shape)
            env[v.name] = got

        return Statement([f"{v.name} = {text}"], apply)

    # Statements. Each is a method that answers None where no variable suits it.

    def load(self) -> Statement | None:
        dtype, shape = (
            self.pick(ALL),
            self.pick([self.shape, self.pick(self.values).shape if self.values else self.shape]),
        )
        strides, low, high = [], 0, 0
        for n in shape:
            stride = int(self.pick([1, 1, -1, 2, 3, -5, 16, 0, max(1, shape[-1])]))
            strides.append(stride)
            low, high = low + min(0, stride * (n - 1)), high + max(0, stride * (n - 1))
        if high - low >= INPUT:
            strides = [int(s) for s in np.cumprod([1, *shape[:0:-1]])[::-1]]
            low, high = 0, self.count_of(shape) - 1
        base = int(self.rng.integers(-low, INPUT - high))
        if self.rng.random() < 0.5 and -low <= base // 16 * 16:
            base = base // 16 * 16
        index = self.index(shape, strides)
        offsets = sum(
            s * np.arange(n).reshape([-1 if d == i else 1 for d in range(len(shape))])
            for i, (s, n) in enumerate(zip(strides, shape))
        )
        kind = "tl.int64" if self.rng.random() < 0.2 else ""
        at = f"({base} + {index})" + (f".to({kind})" if kind else "")
        data, mask = f"in_{dtype}", self.of(["bool"], shape) if self.rng.random() < 0.6 else None
        if mask is None:
            return self.assign(dtype, shape, f"tl.load({data} + {at})", lambda env: env[data][base + offsets])
        other = self.of([dtype], shape)
        if other is None or self.rng.random() < 0.3:
            # What is masked off is not defined without another value.
            return self.assign(
                dtype,
                shape,
                f"tl.load({data} + {at}, mask={mask.name}, other=1)",
                lambda env: np.where(env[mask.name], env[data][base + offsets], np.asarray(1).astype(dtype)),
            )
        return self.assign(
            dtype,
            shape,
            f"tl.load({data} + {at}, mask={mask.name}, other={other.name})",
            lambda env: np.where(env[mask.name], env[data][base + offsets], env[other.name]),
        )

    def index(self, shape: Shape, strides: list[int]) -> str:
        """Offsets of the elements of a shape, as text."""
        terms = []
        for d, (n, s) in enumerate(zip(shape, strides)):
            place = (
                "" if len(shape) == 1 else "[" + ", ".join(":" if i == d else "None" for i in range(len(shape))) + "]"
            )
            terms.append(f"tl.arange(0, {n}){place} * {s}")
        return " + ".join(terms)

    def numbers(self) -> Statement:
        """Numbers of the elements, modulo something or compared with the size that is an argument."""
        shape = self.pick(self.values).shape if self.values else self.shape
        strides = [int(s) for s in np.cumprod([1, *shape[:0:-1]])[::-1]]
        flat = np.arange(self.count_of(shape)).reshape(shape)
        text = self.index(shape, strides)
        if self.rng.random() < 0.6:
            return self.assign("bool", shape, f"({text}) < n", lambda env: flat < env["n"])
        return self.assign("int32", shape, text, lambda env: flat)

    @staticmethod
    def count_of(shape: Shape) -> int:
        return int(np.prod(shape))

    def binary(self) -> Statement | None:
        x = self.of(INTEGERS)
        y = x and self.of([x.dtype], x.shape)
        if x is None or y is None:
            return None
        a, b, bits = x.name, y.name, np.dtype(x.dtype).itemsize * 8
        op = self.pick(["+", "-", "*", "&", "|", "^", "<<", ">>", "//", "%", "minimum", "maximum", "+c", "mulhi"])
        if op in ("<<", ">>"):
            text = f"{a} {op} ({b} & {bits - 1})"
            shift = np.left_shift if op == "<<" else np.right_shift
            return self.assign(
                x.dtype, x.shape, text, lambda env: shift(env[a], env[b] & np.asarray(bits - 1, x.dtype))
            )
        if op in ("//", "%"):
            # Neither 0 nor, with the least number, -1.
            text = (
                f"{a} {op} (({b} & 63) + 1)"
                if self.rng.random() < 0.5
                else f"{a} {op} {b if False else '(' + b + ' | 1)'}"
            )
            if text.endswith("| 1)"):
                if x.dtype in SIGNED:
                    text = f"({a} >> 1) {op} ({b} | 1)"
                    return self.assign(
                        x.dtype,
                        x.shape,
                        text,
                        lambda env: truncated(env[a] >> 1, env[b] | np.asarray(1, x.dtype))[op == "%"],
                    )
                return self.assign(
                    x.dtype, x.shape, text, lambda env: truncated(env[a], env[b] | np.asarray(1, x.dtype))[op == "%"]
                )
            return self.assign(
                x.dtype,
                x.shape,
                text,
                lambda env: truncated(env[a], (env[b] & np.asarray(63, x.dtype)) + np.asarray(1, x.dtype))[op == "%"],
            )
        if op in ("minimum", "maximum"):
            return self.assign(x.dtype, x.shape, f"tl.{op}({a}, {b})", lambda env: getattr(np, op)(env[a], env[b]))
        if op == "+c":
            c = int(self.rng.integers(0, 100))
            return self.assign(
                x.dtype, x.shape, f"{a} * {c} + {b}", lambda env: env[a] * np.asarray(c, x.dtype) + env[b]
            )
        if op == "mulhi":
            if x.dtype != "uint32":
                return None
            return self.assign(
                x.dtype, x.shape, f"tl.umulhi({a}, {b})", lambda env: env[a].astype(np.uint64) * env[b] >> np.uint64(32)
            )
        f = {
            "+": np.add,
            "-": np.subtract,
            "*": np.multiply,
            "&": np.bitwise_and,
            "|": np.bitwise_or,
            "^": np.bitwise_xor,
        }[op]
        return self.assign(x.dtype, x.shape, f"{a} {op} {b}", lambda env: f(env[a], env[b]))

    def floating(self) -> Statement | None:
        x = self.of(FLOATS)
        y = x and self.of([x.dtype], x.shape)
        if x is None or y is None:
            return None
        a, b = x.name, y.name
        op = self.pick(["+", "-", "*", "minimum", "maximum", "abs", "neg", "floor", "bfloat16", "div_rn"])
        if op in ("*", "bfloat16", "div_rn") and x.dtype != "float32":
            return None  # a product of float16 may be subnormal
        if op == "bfloat16":
            return self.assign(
                x.dtype, x.shape, f"{a}.to(tl.bfloat16).to(tl.float32)", lambda env: corpus.to_bf16(env[a])
            )
        if op == "div_rn":
            text = f"tl.div_rn({a}, tl.where(tl.abs({b}) > 0.01, {b}, 1.0))"
            return self.assign(
                x.dtype,
                x.shape,
                text,
                lambda env: env[a] / np.where(np.abs(env[b]) > np.float32(0.01), env[b], np.float32(1)),
            )
        if op == "abs":
            return self.assign(x.dtype, x.shape, f"tl.abs({a})", lambda env: np.abs(env[a]))
        if op == "neg":
            return self.assign(x.dtype, x.shape, f"-{a}", lambda env: -env[a] if negates() else 0 - env[a])
        if op == "floor":
            if x.dtype != "float32":
                return None
            return self.assign(x.dtype, x.shape, f"tl.floor({a})", lambda env: np.floor(env[a]))
        if op in ("minimum", "maximum"):
            # Of zeros of two signs either may come.
            return self.assign(
                x.dtype,
                x.shape,
                f"tl.{op}({a}, {b}) + 0.0",
                lambda env: getattr(np, "f" + op[:3])(env[a], env[b]) + np.asarray(0.0, x.dtype),
            )
        f = {"+": np.add, "-": np.subtract, "*": np.multiply}[op]
        return self.assign(x.dtype, x.shape, f"{a} {op} {b}", lambda env: f(env[a], env[b]))

    def called(self) -> Statement | None:
        """Functions with branches: of elements, and of tensors by a constant."""
        x = self.of(["int32", "uint32", "int64"])
        y = x and self.of([x.dtype], x.shape)
        if x is None or y is None:
            return None
        a, b, one = x.name, y.name, np.asarray(1, x.dtype)
        if self.rng.random() < 0.5:
            above = bool(self.rng.random() < 0.5)
            return self.assign(
                x.dtype, x.shape, f"halved({a}, {above})", lambda env: (env[a] + one if above else env[a]) >> one
            )

        def f(env: Env) -> Any:
            return np.where(env[a] > env[b], env[a] - env[b], np.where(env[a] == env[b], env[a], env[b] - env[a]))

        return self.assign(x.dtype, x.shape, f"tl.map_elementwise(distance, {a}, {b})", f)

    def fewer(self) -> Statement | None:
        """A reduction that takes the axis away."""
        x = self.of(["int32", "uint32", "int64", "uint64"])
        if x is None or len(x.shape) < 2:
            return None
        axis = int(self.rng.integers(len(x.shape)))
        shape, a = x.shape[:axis] + x.shape[axis + 1 :], x.name
        op, f = self.pick([("sum", np.add), ("max", np.maximum), ("min", np.minimum), ("xor_sum", np.bitwise_xor)])
        return self.assign(x.dtype, shape, f"tl.{op}({a}, {axis})", lambda env: f.reduce(env[a], axis, dtype=x.dtype))

    def more(self) -> Statement | None:
        """A tensor that is repeated along a new axis."""
        x = self.of([*INTEGERS, "float32"])
        if x is None or len(x.shape) > 2 or self.count_of(x.shape) > 1024:
            return None
        axis, n, a = int(self.rng.integers(len(x.shape) + 1)), 1 << int(self.rng.integers(0, 3)), x.name
        shape = (*x.shape[:axis], n, *x.shape[axis:])
        text = f"tl.broadcast_to(tl.expand_dims({a}, {axis}), {list(shape)})"
        return self.assign(
            x.dtype, shape, text, lambda env: np.ascontiguousarray(np.broadcast_to(np.expand_dims(env[a], axis), shape))
        )

    def joined(self) -> Statement | None:
        """Two tensors along a new axis, which goes somewhere else and away again."""
        x = self.of(["int32", "int64", "uint32"])
        y = x and self.of([x.dtype], x.shape)
        if x is None or y is None:
            return None
        a, b, rank, dtype = x.name, y.name, len(x.shape), x.dtype
        order = [int(i) for i in self.rng.permutation(rank + 1)]
        axis = int(self.rng.integers(rank + 1))
        shape = tuple((*x.shape, 2)[i] for i in order)
        shape = shape[:axis] + shape[axis + 1 :]
        text = f"tl.xor_sum(tl.permute(tl.join({a}, {b}), {order}), {axis})"
        return self.assign(
            dtype, shape, text, lambda env: np.bitwise_xor.reduce(np.stack([env[a], env[b]], -1).transpose(order), axis)
        )

    def unary(self) -> Statement | None:
        x = self.of([*INTEGERS, "bool"])
        if x is None:
            return None
        a = x.name
        if x.dtype == "bool":
            return self.assign("bool", x.shape, f"{a} == 0", lambda env: ~env[a])
        op = self.pick(["-", "~", "abs"] if x.dtype in SIGNED else ["~"])
        if op == "abs":
            return self.assign(x.dtype, x.shape, f"tl.abs({a})", lambda env: np.abs(env[a]))
        return self.assign(x.dtype, x.shape, f"{op}{a}", lambda env: -env[a] if op == "-" else ~env[a])

    def compare(self) -> Statement | None:
        x = self.of([*INTEGERS, *FLOATS])
        y = x and self.of([x.dtype], x.shape)
        if x is None or y is None:
            return None
        a, b = x.name, y.name
        op, f = self.pick(
            [
                ("<", np.less),
                ("<=", np.less_equal),
                (">", np.greater),
                (">=", np.greater_equal),
                ("==", np.equal),
                ("!=", np.not_equal),
            ]
        )
        return self.assign("bool", x.shape, f"{a} {op} {b}", lambda env: f(env[a], env[b]))

    def logic(self) -> Statement | None:
        x = self.of(["bool"])
        y = x and self.of(["bool"], x.shape)
        if x is None or y is None:
            return None
        a, b = x.name, y.name
        op, f = self.pick([("&", np.logical_and), ("|", np.logical_or), ("^", np.logical_xor)])
        return self.assign("bool", x.shape, f"{a} {op} {b}", lambda env: f(env[a], env[b]))

    def where(self) -> Statement | None:
        x = self.of(ALL)
        y, c = x and self.of([x.dtype], x.shape), x and self.of(["bool"], x.shape)
        if x is None or y is None or c is None:
            return None
        return self.assign(
            x.dtype,
            x.shape,
            f"tl.where({c.name}, {x.name}, {y.name})",
            lambda env: np.where(env[c.name], env[x.name], env[y.name]),
        )

    def cast(self) -> Statement | None:
        x, dtype = self.of(ALL), self.pick(ALL)
        if x is None or x.dtype == dtype:
            return None
        a = x.name
        if x.dtype in FLOATS and dtype in INTEGERS:
            # What is too large, and NaN, has no integer.
            low, high = (-100, 100) if dtype in SIGNED else (0, 200)
            text = f"tl.where(({a} > {low}) & ({a} < {high}), {a}, 1.0).to({spelled(dtype)})"
            return self.assign(
                dtype,
                x.shape,
                text,
                lambda env: np.where((env[a] > low) & (env[a] < high), env[a], np.asarray(1, x.dtype)).astype(np.int64),
            )
        if dtype == "bool":
            return self.assign(dtype, x.shape, f"{a} != 0", lambda env: env[a] != 0)
        if dtype in FLOATS and x.dtype in INTEGERS and (dtype == "float16" or "64" in x.dtype):
            # To be rounded once, and to stay finite.
            return self.assign(
                dtype, x.shape, f"({a} & 127).to({spelled(dtype)})", lambda env: env[a] & np.asarray(127, x.dtype)
            )
        return self.assign(dtype, x.shape, f"{a}.to({spelled(dtype)})", lambda env: env[a].astype(dtype))

    def bits(self) -> Statement | None:
        """The bits of a value as another type."""
        x = self.of([*INTEGERS])
        if x is None:
            return None
        dtype = ("uint" if x.dtype in SIGNED else "int") + x.dtype.lstrip("uint")
        return self.assign(
            dtype, x.shape, f"{x.name}.to({spelled(dtype)}, bitcast=True)", lambda env: env[x.name].view(dtype)
        )

    def bits_of_float(self) -> Statement | None:
        x = self.of(FLOATS)
        if x is None:
            return None
        dtype = f"uint{x.dtype[5:]}"
        a = x.name
        # A NaN has many forms.
        text = f"tl.where({a} == {a}, {a}, 1.0).to({spelled(x.dtype)}).to({spelled(dtype)}, bitcast=True)"
        return self.assign(
            dtype,
            x.shape,
            text,
            lambda env: np.where(env[a] == env[a], env[a], np.asarray(1.0, x.dtype)).astype(x.dtype).view(dtype),
        )

    def reduce(self) -> Statement | None:
        x = self.of([*INTEGERS, "float32"])
        if x is None:
            return None
        a, axis = x.name, int(self.rng.integers(len(x.shape)))
        op = self.pick(["sum", "max", "min", "argmax", "argmin", "xor", "largest"])
        spread = f"tl.broadcast_to({{}}, {list(x.shape)})"

        def all_along(f: Callable[[Any], Any]) -> Callable[[Env], Any]:
            return lambda env: np.broadcast_to(np.expand_dims(f(env[a]), axis), x.shape)

        if x.dtype == "float32":
            if op not in ("max", "min"):
                return None
            text = spread.format(f"tl.{op}({a}, {axis}, keep_dims=True)") + " + 0.0"
            f = np.fmax if op == "max" else np.fmin
            return self.assign(
                x.dtype, x.shape, text, lambda env: all_along(lambda v: f.reduce(v, axis))(env) + np.float32(0)
            )
        cast = f".to({spelled(x.dtype)})"
        if op == "sum":
            return self.assign(
                x.dtype,
                x.shape,
                spread.format(f"tl.sum({a}, {axis}, keep_dims=True){cast}"),
                all_along(lambda v: v.sum(axis, dtype=np.int64 if v.dtype.kind == "i" else np.uint64)),
            )
        if op in ("max", "min"):
            if x.dtype in UNSIGNED and "32" not in x.dtype and "64" not in x.dtype:
                return None
            return self.assign(
                x.dtype,
                x.shape,
                spread.format(f"tl.{op}({a}, {axis}, keep_dims=True){cast}"),
                all_along(lambda v: getattr(v, op)(axis)),
            )
        if op in ("argmax", "argmin"):
            text = f"tl.{op}({a}, {axis}, keep_dims=True)"
            return self.assign("int32", x.shape, spread.format(text), all_along(lambda v: getattr(v, op)(axis)))
        if op == "xor":
            return self.assign(
                x.dtype,
                x.shape,
                spread.format(f"tl.reduce({a}, {axis}, exclusive_or, keep_dims=True)"),
                all_along(lambda v: np.bitwise_xor.reduce(v, axis)),
            )
        return self.pairs(x, axis, op, scan=False)

    def pairs(self, x: Value, axis: int, op: str, scan: bool) -> Statement | None:
        """A scan of pairs, which does not commute, or a reduction, which does: Triton promises no order there."""
        y = self.of([x.dtype], x.shape)
        if y is None:
            return None
        first, second = Value(self.name(), x.dtype, x.shape), Value(self.name(), x.dtype, x.shape)
        self.values += [first, second]
        along, reverse = (
            {"compose": composed, "latest": newest, "largest": greatest}[op],
            scan and bool(self.rng.random() < 0.5),
        )
        if scan:
            lines = [
                f"{first.name}, {second.name} = tl.associative_scan(({x.name}, {y.name}), {axis}, {op}, reverse={reverse})"
            ]
        else:
            one, two = self.name(), self.name()
            lines = [f"{one}, {two} = tl.reduce(({x.name}, {y.name}), {axis}, {op}, keep_dims=True)"]
            lines += [f"{v.name} = tl.broadcast_to({n}, {list(x.shape)})" for v, n in ((first, one), (second, two))]

        def apply(env: Env) -> None:
            with np.errstate(all="ignore"):
                a, b = along(env[x.name], env[y.name], axis, reverse)
            if not scan:
                last = [slice(None)] * len(x.shape)
                last[axis] = slice(-1, None)
                a, b = (np.broadcast_to(v[tuple(last)], x.shape) for v in (a, b))
            env[first.name], env[second.name] = np.ascontiguousarray(a), np.ascontiguousarray(b)

        return Statement(lines, apply)

    def scan(self) -> Statement | None:
        x = self.of(INTEGERS)
        if x is None:
            return None
        a, axis = x.name, int(self.rng.integers(len(x.shape)))
        op = self.pick(["cumsum", "cumprod", "compose", "latest", "largest"])
        if op in ("compose", "latest", "largest"):
            return self.pairs(x, axis, op, scan=True)
        if "32" not in x.dtype and "64" not in x.dtype:
            return None
        reverse = bool(self.rng.random() < 0.5)

        def f(env: Env) -> Any:
            v = np.flip(env[a], axis) if reverse else env[a]
            v = getattr(np, op)(v, axis, dtype=x.dtype)
            return np.flip(v, axis) if reverse else v

        return self.assign(x.dtype, x.shape, f"tl.{op}({a}, {axis}, reverse={reverse})", f)

    def reorder(self) -> Statement | None:
        x = self.of(ALL)
        if x is None:
            return None
        a, rank = x.name, len(x.shape)
        op = self.pick(["permute", "reshape", "flip", "sort", "gather", "split", "interleave", "expand"])
        if op == "permute" and rank > 1:
            order = [int(i) for i in self.rng.permutation(rank)]
            return self.assign(
                x.dtype,
                tuple(x.shape[i] for i in order),
                f"tl.permute({a}, {order})",
                lambda env: np.ascontiguousarray(env[a].transpose(order)),
            )
        if op == "reshape":
            shape = self.pick([v.shape for v in self.values if self.count_of(v.shape) == self.count_of(x.shape)])
            return self.assign(x.dtype, shape, f"tl.reshape({a}, {list(shape)})", lambda env: env[a].reshape(shape))
        if op == "flip":
            axis = int(self.rng.integers(rank))
            if x.dtype == "bool" or x.shape[axis] < 2:
                return None
            return self.assign(
                x.dtype, x.shape, f"tl.flip({a}, {axis})", lambda env: np.ascontiguousarray(np.flip(env[a], axis))
            )
        if op == "sort" and x.dtype in INTEGERS and 2 <= x.shape[-1] <= 64:
            descending = bool(self.rng.random() < 0.5)
            return self.assign(
                x.dtype,
                x.shape,
                f"tl.sort({a}, descending={descending})",
                lambda env: np.ascontiguousarray(np.sort(env[a], -1)[..., :: -1 if descending else 1]),
            )
        if op == "gather" and x.dtype != "bool":
            axis, at = int(self.rng.integers(rank)), self.of(["int32"], x.shape)
            if at is None:
                return None
            n = x.shape[axis]
            return self.assign(
                x.dtype,
                x.shape,
                f"tl.gather({a}, {at.name} & {n - 1}, {axis})",
                lambda env: np.take_along_axis(env[a], env[at.name].astype(np.int64) & (n - 1), axis),
            )
        if op == "split" and self.count_of(x.shape) >= 4 and x.shape[-1] >= 2 and x.dtype != "bool":
            half, i, j = (*x.shape[:-1], x.shape[-1] // 2, 2), self.name(), self.name()
            s = self.assign(
                x.dtype,
                x.shape,
                f"tl.reshape(tl.join({j}, {i}), {list(x.shape)})",
                lambda env: env[a].reshape(half)[..., ::-1].reshape(x.shape),
            )
            s.lines.insert(0, f"{i}, {j} = tl.split(tl.reshape({a}, {list(half)}))")
            return s
        if op == "expand" and rank == 1:
            return None
        return None

    def scatter(self) -> Statement | None:
        """A round trip through memory, in another order; what is masked off stays."""
        x = self.of([*INTEGERS, "float32"])
        if x is None:
            return None
        n, a, dtype = self.count_of(x.shape), x.name, x.dtype
        mask = self.of(["bool"], x.shape)
        factor, shift = int(self.pick([1, 1, 3, 5, 7, 11])), int(self.rng.integers(n))
        strides = [int(s) for s in np.cumprod([1, *x.shape[:0:-1]])[::-1]]
        at = f"((({self.index(x.shape, strides)}) * {factor} + {shift}) & {n - 1})"
        to = (np.arange(n) * factor + shift) & (n - 1)
        back = f"({self.index(x.shape, strides)})"
        suffix = f", mask={mask.name}" if mask else ""
        s = self.assign(
            dtype,
            x.shape,
            f"tl.load(scratch_{dtype} + {back})",
            lambda env: env["scratch_" + dtype][:n].reshape(x.shape).copy(),
        )
        load = s.apply

        def apply(env: Env) -> None:
            keep = env[mask.name].reshape(-1) if mask else np.ones(n, bool)
            env["scratch_" + dtype][to[keep]] = env[a].reshape(-1)[keep]
            load(env)

        # Triton orders nothing in memory without a barrier.
        return Statement(
            ["tl.debug_barrier()", f"tl.store(scratch_{dtype} + {at}, {a}{suffix})", "tl.debug_barrier()", *s.lines],
            apply,
        )

    def add_atomically(self) -> Statement | None:
        """Sums in memory, and, where no two elements have one place, the old values."""
        x = self.of(["int32", "uint32"])
        if x is None:
            return None
        n, a, dtype, mask = self.count_of(x.shape), x.name, x.dtype, self.of(["bool"], x.shape)
        strides = [int(s) for s in np.cumprod([1, *x.shape[:0:-1]])[::-1]]
        few, op = self.rng.random() < 0.5, self.pick(["add", "xor", "max", "and", "min", "or"])
        f = {
            "add": np.add,
            "xor": np.bitwise_xor,
            "max": np.maximum,
            "min": np.minimum,
            "and": np.bitwise_and,
            "or": np.bitwise_or,
        }[op]
        to = (np.arange(n) & 7 if few else np.arange(n)).reshape(x.shape)
        at = f"(({self.index(x.shape, strides)}) & {7 if few else 4095})"
        suffix = f", mask={mask.name}" if mask else ""
        old = None
        lines = ["tl.debug_barrier()", f"tl.atomic_{op}(scratch_{dtype} + {at}, {a}{suffix})", "tl.debug_barrier()"]
        if not few:
            old = Value(self.name(), dtype, x.shape)
            self.values.append(old)
            lines[1] = f"{old.name} = {lines[1]}"
            if mask:
                lines.append(f"{old.name} = tl.where({mask.name}, {old.name}, 0).to({spelled(dtype)})")

        def apply(env: Env) -> None:
            keep = env[mask.name] if mask else np.ones(x.shape, bool)
            memory = env["scratch_" + dtype]
            if old:
                env[old.name] = np.where(keep, memory[to], np.asarray(0, dtype)).astype(dtype)
            with np.errstate(all="ignore"):
                f.at(memory, to[keep], env[a][keep])

        return Statement(lines, apply)

    def histogram(self) -> Statement | None:
        x = self.of(["int32"])
        if x is None or len(x.shape) != 1 or x.shape[0] < 2:
            return None
        n = x.shape[0]
        return self.assign(
            "int32",
            x.shape,
            f"tl.histogram({x.name} & {n - 1}, {n})",
            lambda env: np.bincount(env[x.name] & (n - 1), minlength=n),
        )

    def dot(self) -> Statement | None:
        """A product of small whole numbers, exact in any order."""
        x = self.of(["int8", "float16", "float32", "int32"])
        if x is None or len(x.shape) != 2 or min(x.shape) < 16:
            return None
        y = self.of([x.dtype], x.shape)
        if y is None:
            return None
        a, b = x.name, y.name
        kind, into = ("int8", "int32") if x.dtype in ("int8", "int32") else (x.dtype, "float32")
        narrow = (
            "({} & 15).to(tl.int8)"
            if kind == "int8"
            else "tl.where(({0} > -8) & ({0} < 8), tl.floor({0}.to(tl.float32)), 0.0).to(" + spelled(kind) + ")"
        )

        def small(v: Any) -> Any:
            if kind == "int8":
                return (v & 15).astype(np.int64)
            return np.where((v > -8) & (v < 8), np.floor(v.astype(np.float64)), 0).astype(np.int64)

        m = x.shape[0]
        text = f"tl.dot({narrow.format(a)}, tl.trans({narrow.format(b)}), out_dtype={spelled(into)})"
        return self.assign(into, (m, m), text, lambda env: small(env[a]) @ small(env[b]).T) if m * m <= 4096 else None

    def scalar(self) -> Statement | None:
        """A number of one of the inputs, added to all elements."""
        x = self.of(INTEGERS)
        if x is None:
            return None
        at, a = int(self.rng.integers(INPUT)), x.name
        return self.assign(
            x.dtype, x.shape, f"{a} + tl.load(in_{x.dtype} + {at})", lambda env: env[a] + env["in_" + x.dtype][at]
        )

    def loop(self, depth: int) -> Statement | None:
        """A loop that carries up to three variables. What it makes beside them is not seen behind it."""
        carried: list[Value] = []
        for _ in range(int(self.rng.integers(1, 4))):
            v = self.of([*INTEGERS, "float32"])
            if v is not None and v.name not in [c.name for c in carried]:
                carried.append(v)
        if not carried:
            return None
        names = [Value(self.name(), v.dtype, v.shape) for v in carried]
        outer = list(self.values)
        self.values += names
        kind = self.pick(["for", "for", "while", "static"])
        trips = int(self.rng.integers(0, 4))
        i = self.name()
        body = self.block(int(self.rng.integers(2, 6)), depth + 1)
        # A use of the counter.
        c = names[0]
        if c.dtype in INTEGERS:
            shown = self.assign(
                c.dtype,
                c.shape,
                f"{c.name} + {i}.to({spelled(c.dtype)})" if kind != "static" else f"{c.name} + {i}",
                lambda env: env[c.name] + np.asarray(env[i]).astype(c.dtype),
            )
            body.append(shown)
        ends = []
        for v in names:
            w = self.of([v.dtype], v.shape)
            assert w is not None
            ends.append(w)
        self.values = outer + names
        # Each begins as a value of its own: Triton 3.9 takes a variable that gets the old value of another one, which was the
        # same at first, for unchanged (CodeGenerator._find_carries).
        lines = [f"{n.name} = {v.name} {'* 1.0' if v.dtype in FLOATS else '+ 0'}" for n, v in zip(names, carried)]
        inner = [line for s in body for line in s.lines]
        inner += [f"{', '.join(n.name for n in names)} = {', '.join(w.name for w in ends)}"]
        if kind == "while":
            lines += [f"{i} = 0", f"while {i} < n % {trips + 1}:"]
            inner.append(f"{i} += 1")
        elif kind == "static":
            lines.append(f"for {i} in tl.static_range({trips}):")
        else:
            lines.append(f"for {i} in range(0, n % {trips + 1}):")
        lines += ["    " + line for line in inner]

        def apply(env: Env) -> None:
            for n, v in zip(names, carried):
                env[n.name] = env[v.name]
            for k in range(trips if kind == "static" else env["n"] % (trips + 1)):
                env[i] = k
                for s in body:
                    s.apply(env)
                for n, value in zip(names, [env[w.name] for w in ends]):
                    env[n.name] = value

        return Statement(lines, apply)

    def condition(self, depth: int) -> Statement | None:
        """Two branches that give a variable different values."""
        v = self.of([*INTEGERS, "float32"])
        if v is None:
            return None
        out, outer = Value(self.name(), v.dtype, v.shape), list(self.values)
        branches: list[list[Statement]] = []
        ends: list[Value] = []
        for _ in range(2):
            branches.append(self.block(int(self.rng.integers(1, 4)), depth + 1))
            end = self.of([v.dtype], v.shape)
            assert end is not None
            ends.append(end)
            self.values = list(outer)
        self.values.append(out)
        k = int(self.rng.integers(2, 4))
        lines = [f"if n % {k} == 0:"]
        for branch, end in zip(branches, ends):
            lines += ["    " + line for s in branch for line in s.lines] + [f"    {out.name} = {end.name}", "else:"]

        def apply(env: Env) -> None:
            which = 0 if env["n"] % k == 0 else 1
            for s in branches[which]:
                s.apply(env)
            env[out.name] = env[ends[which].name]

        return Statement(lines[:-1], apply)

    def block(self, count: int, depth: int) -> list[Statement]:
        plain = [
            self.load, self.load, self.numbers, self.binary, self.binary, self.binary, self.floating, self.unary, self.compare, self.logic,
            self.where, self.cast, self.cast, self.bits, self.bits_of_float, self.reduce, self.reduce, self.scan, self.reorder, self.reorder, self.reorder,
            self.scatter, self.add_atomically, self.histogram, self.dot, self.dot, self.scalar, self.called, self.fewer, self.more,
            self.joined, self.joined,
        ]  # fmt: skip
        made: list[Statement] = []
        tries = 0
        while len(made) < count and tries < 20 * count:
            tries += 1
            if depth < 2 and self.rng.random() < 0.08:
                s = self.pick([self.loop, self.condition])(depth)
            else:
                s = self.pick(plain)()
            if s is not None:
                made.append(s)
        return made

    def program(self) -> list[Statement]:
        start = [self.load() for _ in range(4)]
        made = [s for s in start if s is not None] + self.block(self.statements, 0)
        # Each value that is left, the newest first, to an output of its own.
        self.outputs = self.values[::-1][:10]
        return made


@dataclass
class Program:
    text: str
    statements: list[Statement]
    writer: Writer
    inputs: Env = field(default_factory=dict)


def stored(dtype: str) -> str:
    return "int8" if dtype == "bool" else dtype


def make(seed: int, statements: int) -> Program:
    w = Writer(seed, statements)
    made = w.program()
    arguments = [f"in_{d}" for d in ALL] + [f"scratch_{d}" for d in [*INTEGERS, "float32"]]
    used = "\n".join(line for s in made for line in s.lines)
    arguments = [a for a in arguments if f"{a} " in used]
    outs = [f"out{i}" for i in range(len(w.outputs))]
    body = [line for s in made for line in s.lines]
    for out, v in zip(outs, w.outputs):
        strides = [int(s) for s in np.cumprod([1, *v.shape[:0:-1]])[::-1]]
        body.append(f"tl.store({out} + ({w.index(v.shape, strides)}), {v.name})")
    text = (
        HEAD
        + f"@triton.jit\ndef program({', '.join([*arguments, *outs, 'n'])}):\n"
        + "\n".join("    " + b for b in body)
        + "\n"
    )
    rng = np.random.default_rng(seed + 1)
    data: Env = {}
    for d in ALL:
        if d == "bool":
            data["in_bool"] = rng.random(INPUT) < 0.5
        elif d in FLOATS:
            data[f"in_{d}"] = (rng.integers(-64, 64, INPUT) / 8).astype(d)
        else:
            info = np.iinfo(d)
            wide = rng.integers(info.min, info.max, INPUT, d, endpoint=True)
            data[f"in_{d}"] = np.where(rng.random(INPUT) < 0.5, wide, rng.integers(0, 20, INPUT).astype(d))
    for d in [*INTEGERS, "float32"]:
        data[f"scratch_{d}"] = np.arange(INPUT).astype(d)
    data["n"] = int(rng.integers(0, 2 * w.elements))
    return Program(text, made, w, {**data, "arguments": arguments})


def case_of(seed: int, statements: int) -> corpus.Case:
    """A program as a case of the corpus."""

    def make_run(_: Any) -> corpus.Run:
        p = make(seed, statements)
        FOLDER.mkdir(parents=True, exist_ok=True)
        path = FOLDER / f"program_{seed}.py"
        path.write_text(p.text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        env: Env = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in p.inputs.items()}
        with np.errstate(all="ignore"):
            for s in p.statements:
                s.apply(env)
        args: list[Any] = []
        for name in p.inputs["arguments"]:
            if name.startswith("scratch"):
                args.append(corpus.Out(env[name], initial=p.inputs[name]))
            else:
                args.append(p.inputs[name])
        args += [corpus.Out(env[v.name].astype(stored(v.dtype))) for v in p.writer.outputs]
        return corpus.Run(
            module.program, (1,), [*args, p.inputs["n"]], {}, {"num_warps": p.writer.warps, "enable_fp_fusion": False}
        )

    return corpus.Case(f"fuzz_{seed}", make_run)


def work(seeds: Any, seconds: float, statements: int) -> None:
    """Runs programs until the time is over, a line of JSON each."""
    end = time.monotonic() + seconds
    for seed in seeds:
        if time.monotonic() > end:
            return
        start = time.perf_counter()
        print(json.dumps(["start", seed]), flush=True)
        try:
            verdict, why = run.run_case(case_of(seed, statements))
        except Exception as error:
            verdict, why = "generator", f"{type(error).__name__}: {error}"
        if verdict != "wrong" and verdict != "failed":
            (FOLDER / f"program_{seed}.py").unlink(missing_ok=True)
        print(json.dumps(["end", seed, verdict, why[:1500], round(time.perf_counter() - start, 2)]), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--statements", type=int, default=24)
    parser.add_argument("--worker", type=int)
    parser.add_argument("--frontend", action="store_true", help="without Triton's compiled module")
    given = parser.parse_args()
    if given.seed is not None:
        work([given.seed], 1e9, given.statements)
        return 0
    if given.worker is not None:
        work(range(given.first + given.worker, 1 << 62, 2), given.seconds, given.statements)
        return 0
    if given.frontend:
        run.use_frontend()
    count: dict[str, int] = {}
    status = 0
    running = [
        subprocess.Popen(
            [sys.executable, __file__, *sys.argv[1:], "--worker", str(k)], stdout=subprocess.PIPE, text=True
        )
        for k in range(2)
    ]
    for process in running:
        text, _ = process.communicate()
        lines = [json.loads(line) for line in text.splitlines() if line.startswith('["')]
        for line in lines:
            if line[0] != "end":
                continue
            _, seed, verdict, why, _ = line
            count[verdict] = count.get(verdict, 0) + 1
            if verdict != "pass":
                print(f"seed {seed}: {verdict}: {why.strip().splitlines()[-1][:300] if why.strip() else ''}")
            status |= verdict in ("wrong", "failed", "generator")
        if lines and lines[-1][0] == "start":
            print(f"seed {lines[-1][1]}: the process ended with {process.returncode}")
            status = 1
    print(
        f"random programs from seed {given.first}: "
        + (", ".join(f"{n} {v}" for v, n in sorted(count.items())) or "none ran")
    )
    return status or not count.get("pass")


if __name__ == "__main__":
    sys.exit(main())
