"""The conformance suite: every operator of the table, in every dtype, on every kind of layout.

`cases` lists what there is to try and `check` tries one case on one place; neither knows pytest, so
that the same suite can run where there is none. The operators come from table.json, which is written
from the operator table: a new row is tried without a change here, unless it needs attributes that
have no default (SETTINGS) or cannot take arbitrary values (DOMAINS).
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import paddle_mps as paddle

from .. import _call
from . import oracle
from .oracle import Array

TABLE: list[dict[str, Any]] = json.loads((Path(__file__).parent / "table.json").read_text())
BY_NAME = {row["name"]: row for row in TABLE}

ELEMENTWISE = ("unary", "binary", "compare", "select", "convert")
LAYOUTS = ("same", "broadcast", "scalar", "zero_d", "empty", "strided", "transposed", "reversed", "misaligned", "large")

# Attributes of operators that have no default for them, or whose other values matter.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "cast": [{"dtype": d} for d in oracle.NUMPY],
    "reshape": [{"shape": [-1]}, {"shape": [0, -1, 1]}],
    "transpose": [{"perm": [1, 0]}],
    "squeeze": [{"axis": None}],
    "unsqueeze": [{"axis": [0]}, {"axis": [1, -1]}],
    "expand": [{"shape": [2, -1, -1]}],
    "slice": [{"axes": [0, 1], "starts": [1, -1], "ends": [4, -99], "steps": [2, -2]}, {"axes": [1], "starts": [0], "ends": [3], "steps": None}],
    "split": [{"sections": [5], "axis": 0}, {"sections": [2, -1], "axis": 1}],
    "tile": [{"repeat_times": [2, 3]}, {"repeat_times": [2]}, {"repeat_times": [2, 1, 2]}],
    "flip": [{"axis": [0]}, {"axis": [0, -1]}],
    "gelu": [{"approximate": False}, {"approximate": True}],
    "softplus": [{"beta": 1.0, "threshold": 20.0}, {"beta": 2.0, "threshold": 1.0}],
    "leaky_relu": [{"negative_slope": 0.01}, {"negative_slope": 0.5}],
    "argmax": [{"axis": None, "keepdim": False}, {"axis": 0, "keepdim": True}, {"axis": -1, "keepdim": False}],
    "full": [{"shape": [3, 4], "fill_value": 2}, {"shape": [0, 2], "fill_value": 1}, {"shape": [], "fill_value": 1}, {"shape": [70001], "fill_value": 3}],
    "linspace": [{"start": 0.0, "stop": 10.0, "count": 5}, {"start": 4.0, "stop": 0.0, "count": 9}, {"start": 1.0, "stop": 3.0, "count": 1}],
}  # fmt: skip
SETTINGS["argmin"] = SETTINGS["argmax"]
for _name in ("sum", "mean", "max", "min", "prod", "any", "all"):
    SETTINGS[_name] = [
        {"axis": None, "keepdim": False}, {"axis": [0], "keepdim": False}, {"axis": [-1], "keepdim": True}, {"axis": [1, 0], "keepdim": True},
    ]  # fmt: skip
SETTINGS["softmax"] = [{"axis": -1}, {"axis": 0}]
SETTINGS["concat"] = SETTINGS["stack"] = [{"axis": 0}, {"axis": -1}]
SETTINGS["gather"] = [{"axis": 0}, {"axis": -1}]
SETTINGS["matmul"] = [{"transpose_x": a, "transpose_y": b} for a in (False, True) for b in (False, True)]

# Tried by tests of their own: results that depend on a generator, or that need a given output.
ELSEWHERE = {
    "uniform": "tests/python/test_mps.py", "normal": "tests/python/test_mps.py",
    "randint": "tests/python/test_mps.py", "randperm": "tests/python/test_mps.py",
    "index": "tests/python/test_indexing.py", "index_put": "tests/python/test_indexing.py",
    "range": "tests/python/golden/creation.txt",
}  # fmt: skip


# The Apple GPU, or what stands in for it, is held to the limits of its shading language.
METAL = paddle.mps.is_available() and paddle.mps.get_device_properties().backend == "metal"
SMALLEST = 2.0**-126  # normal float32


class Case(NamedTuple):
    """One operator in one dtype on one layout, with all its attribute settings."""

    name: str
    dtype: str
    layout: str

    def __str__(self) -> str:
        return f"{self.name}-{self.dtype}-{self.layout}"


def dtypes(place: str) -> tuple[str, ...]:
    """The dtypes that a place has."""
    return tuple(d for d in oracle.NUMPY if place == "cpu" or d != "float64")


def cases(dtypes: tuple[str, ...] = tuple(oracle.NUMPY)) -> Iterator[Case]:
    """All cases of the table, for a device that has these dtypes."""
    for row in TABLE:
        if row["name"] in ELSEWHERE:
            continue
        for dtype in row["dtypes"]:
            if dtype not in dtypes or not oracle.judges(row["name"], dtype):
                continue
            for layout in LAYOUTS:
                if applies(row, layout):
                    yield Case(row["name"], dtype, layout)


def applies(row: dict[str, Any], layout: str) -> bool:
    """Whether a layout says something about an operator."""
    kind: str = row["kind"]
    name: str = row["name"]
    if kind == "create":
        return layout == "same"
    if layout == "scalar":
        return name != "where" and any(i.get("scalar") for i in row["inputs"])
    if layout == "broadcast":
        return (kind in ("binary", "compare", "select") and name != "clip") or name == "matmul"
    if layout in ("zero_d", "empty", "large"):
        return kind in ELEMENTWISE or kind in ("reduce", "scan") or (layout == "empty" and name == "matmul")
    return True


# ---- Values


def values(dtype: str, shape: tuple[int, ...], seed: str) -> Array:
    """Reproducible values that fit a dtype: ordinary ones and, among floats, every special one."""
    rng = np.random.default_rng(zlib.crc32(seed.encode()))
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype not in oracle.FLOATS:
        return rng.integers(0 if dtype == "uint8" else -20, 21, shape).astype(oracle.NUMPY[dtype])
    x = np.asarray(rng.normal(0, 3, shape))
    bits, smallest, largest = oracle.FORMATS[dtype]
    special = [
        math.nan,
        math.inf,
        -math.inf,
        0.0,
        -0.0,
        1.0,
        -1.0,
        largest,
        -largest,
        2.0**smallest,
        2.0 ** (smallest - bits + 1),
        0.5,
        2.5,
        100.0,
        -100.0,
    ]
    flat = x.reshape(-1)
    for i, v in enumerate(special):
        if flat.size > 2 * len(special):
            flat[(i * 7919) % flat.size] = v
    return rounded(x, dtype)


def tame(dtype: str, shape: tuple[int, ...], seed: str) -> Array:
    """Values without special ones, for operators that add many of them up."""
    rng = np.random.default_rng(zlib.crc32(seed.encode()))
    if dtype not in oracle.FLOATS:
        return values(dtype, shape, seed)
    return rounded(np.asarray(rng.normal(0, 1, shape)), dtype)


def rounded(x: Array, dtype: str) -> Array:
    """x with each value moved to one that the dtype has."""
    with np.errstate(all="ignore"):
        y: Array = x.astype(oracle.NUMPY[dtype])
    if dtype == "bfloat16":
        y = (y.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    return np.asarray(y)


def divisor(dtype: str, shape: tuple[int, ...], seed: str) -> Array:
    x = values(dtype, shape, seed)
    return x if dtype in oracle.FLOATS else np.where(x == 0, np.asarray(3, x.dtype), x)


def exponent(dtype: str, shape: tuple[int, ...], seed: str) -> Array:
    x = values(dtype, shape, seed)
    return x if dtype in oracle.FLOATS else (x % 7).astype(x.dtype)


# Operators whose second operand cannot be anything.
DOMAINS = {"floor_divide": divisor, "remainder": divisor, "pow": exponent}


# ---- Layouts: the same view of the same values, for NumPy and for the library


class Pair(NamedTuple):
    array: Array
    tensor: Any


def pair(base: Array, dtype: str, place: str, view: Any = None) -> Pair:
    """Values on a place, and the same view taken of both."""
    t = paddle.to_tensor(base, dtype=dtype, place=place)
    return Pair(base, t) if view is None else Pair(view(base), view(t))


def turned(x: Any) -> Any:
    return x.T


def laid_out(generate: Any, dtype: str, shape: tuple[int, ...], layout: str, place: str, seed: str) -> Pair:
    """A tensor of a shape under a layout."""
    if layout == "strided" and shape:
        wide = tuple(2 * d for d in shape)
        return pair(generate(dtype, wide, seed), dtype, place, lambda x: x[tuple(slice(None, None, 2) for _ in wide)])
    if layout == "transposed" and shape:
        return pair(generate(dtype, shape[::-1], seed), dtype, place, turned)
    if layout == "reversed" and shape:
        return pair(
            generate(dtype, shape, seed), dtype, place, lambda x: x[tuple(slice(None, None, -1) for _ in shape)]
        )
    if layout == "misaligned" and shape:
        n = math.prod(shape)
        return pair(generate(dtype, (n + 1,), seed), dtype, place, lambda x: x[1:].reshape(list(shape)))
    return pair(generate(dtype, shape, seed), dtype, place)


SHAPES = {"zero_d": (), "empty": (0, 3), "large": (70001,)}


def operands(row: dict[str, Any], case: Case, place: str, attrs: dict[str, Any]) -> list[Any]:
    """The inputs of a case: pairs, lists of pairs, or Python scalars."""
    shape = SHAPES.get(case.layout, (5, 7))
    if row["kind"] == "product":
        return matrices(case, place, attrs)
    if row["name"] == "gather":
        index = Pair(np.array([2, 0, 2]), paddle.to_tensor([2, 0, 2], place=place))
        return [laid_out(values, case.dtype, shape, case.layout, place, "x"), index]
    generic = tame if row["kind"] in ("reduce", "product") and row["name"] in ("sum", "mean", "prod") else values
    found: list[Any] = []
    for i, declared in enumerate(row["inputs"]):
        generate = DOMAINS.get(row["name"], generic) if i == 1 else generic
        dtype = "bool" if declared["name"] == "condition" else case.dtype
        own = shape
        if case.layout == "broadcast":
            own = [(5, 1), (7,), (1, 7)][i]
        if case.layout == "scalar" and declared.get("scalar") and i == len(row["inputs"]) - 1:
            found.append(True if case.dtype == "bool" else 3)
        elif declared.get("variadic"):
            found.append([laid_out(generate, dtype, own, case.layout, place, f"{i}{j}") for j in range(3)])
        else:
            found.append(laid_out(generate, dtype, own, case.layout, place, f"{row['name']}{i}"))
    if row["name"] == "clip":
        found[1:] = [0, 2]
    return found


def matrices(case: Case, place: str, attrs: dict[str, Any]) -> list[Pair]:
    """Operands of matmul that fit, with batches where the layout broadcasts."""
    rows, inner, cols = {"empty": (3, 0, 2)}.get(case.layout, (5, 37, 19))
    x: tuple[int, ...] = (rows, inner)
    y: tuple[int, ...] = (inner, cols)
    if attrs["transpose_x"]:
        x = x[::-1]
    if attrs["transpose_y"]:
        y = y[::-1]
    if case.layout == "broadcast":
        x, y = (2, 1, *x), (3, *y)
    return [laid_out(tame, case.dtype, s, case.layout, place, f"m{i}") for i, s in enumerate((x, y))]


# ---- Running and comparing


def attributes(row: dict[str, Any], given: dict[str, Any]) -> tuple[Any, ...]:
    """Attributes in the form of the call."""
    pack = {
        "bool": _call.flag, "int": _call.integer, "float": _call.number, "list of int": _call.integers,
        "dtype": _call.element_type, "bool, int or float": _call.either,
    }  # fmt: skip
    return tuple(pack[a["type"]](a["name"], given[a["name"]]) for a in row["attrs"] if given.get(a["name"]) is not None)


def run(row: dict[str, Any], inputs: list[Any], given: dict[str, Any], place: str) -> list[Any]:
    """The operator's results on the device, through the C ABI."""
    flat: list[Any] = []
    for x in inputs:
        flat.extend([p.tensor for p in x] if isinstance(x, list) else [x.tensor if isinstance(x, Pair) else x])
    if row["kind"] == "create":
        where = 0 if place == "cpu" else 1 << 32
        return [_call.call(row["id"], (), attributes(row, given), None, where)]
    return _call.call_many(row["id"], flat, attributes(row, given), 16)


def numpy_of(x: Any) -> Array:
    """The values of a tensor; bfloat16 as float32."""
    array: Array = (x.astype("float32") if x.dtype == "bfloat16" else x).numpy()
    return array


def check(case: Case, place: str) -> int:
    """Tries a case under all its settings and returns how many there were.

    Raises:
        AssertionError: a result differs in shape, dtype or value.
    """
    row = BY_NAME[case.name]
    settings = [defaults(row) | s for s in SETTINGS.get(case.name, [{}])]
    done = 0
    for given in settings:
        missing = [a["name"] for a in row["attrs"] if a.get("needed") and a["name"] not in given | {"dtype": ""}]
        assert not missing, f"SETTINGS lacks {missing} of {case.name}"
        if not possible(case, given) or (given.get("dtype") == "float64" and place != "cpu"):
            continue
        inputs = operands(row, case, place, given)
        compare(row, case, given, inputs, run(row, inputs, settle(row, case, given), place))
        done += 1
    assert done, f"{case} has no setting that applies"
    return done


def defaults(row: dict[str, Any]) -> dict[str, Any]:
    """The attributes that need not be given."""
    return {a["name"]: a["default"] for a in row["attrs"] if not a.get("needed")}


def settle(row: dict[str, Any], case: Case, given: dict[str, Any]) -> dict[str, Any]:
    """Attributes with the dtype of the case where the operator wants one."""
    if row["kind"] == "create":
        return given | {"dtype": case.dtype}
    return {k: v for k, v in given.items() if not (k == "dtype" and isinstance(v, int))}


def possible(case: Case, given: dict[str, Any]) -> bool:
    """Whether a setting makes sense for the shape of a case."""
    rank = len(SHAPES.get(case.layout, (5, 7)))
    axes = given.get("axis")
    axes = axes if isinstance(axes, list) else [axes] if isinstance(axes, int) else []
    if case.name in ("sum", "mean", "max", "min", "prod", "any", "all", "argmax", "argmin", "softmax"):
        if any(not -max(rank, 1) <= a < max(rank, 1) for a in axes) or len(axes) > max(rank, 1):
            return False
        reduced = axes or range(rank)
        if case.layout == "empty" and case.name in ("max", "min", "argmax", "argmin"):
            return not any(a % 2 == 0 for a in reduced)
    return not (case.name == "full" and case.dtype == "bool" and given["fill_value"] not in (0, 1))


def compare(row: dict[str, Any], case: Case, given: dict[str, Any], inputs: list[Any], results: list[Any]) -> None:
    arrays: list[Any] = [
        [p.array for p in x] if isinstance(x, list) else x.array if isinstance(x, Pair) else x for x in inputs
    ]
    shown = {
        k: tuple(v) if isinstance(v, list) and k == "axis" and case.name not in ("flip",) else v
        for k, v in given.items()
    }
    to = given["dtype"] if case.name == "cast" else ""
    if row["kind"] == "reduce" and case.name in ("sum", "prod"):
        arrays = [promoted(arrays[0], case)]
    expected = listed(oracle.expect(row, arrays, shown, case.dtype, to))
    assert len(results) == len(expected), f"{case} {given}: {len(results)} results; want {len(expected)}"
    flushes = METAL and case.dtype in ("float32", "bfloat16") and row["kind"] not in ("index", "create")
    for i, result in enumerate(results):
        want = np.asarray(expected[i])
        assert tuple(result.shape) == want.shape, f"{case} {given}: shape {result.shape}; want {list(want.shape)}"
        got, dtype = numpy_of(result), to or result_dtype(result)
        try:
            close(row, case, given, arrays, got, want, want, dtype)
        except AssertionError:
            if not flushes:
                raise
            also = listed(oracle.expect(row, [flushed(x) for x in arrays], shown, case.dtype, to))
            close(row, case, given, arrays, got, want, np.asarray(also[i]), dtype)


def listed(x: Any) -> list[Any]:
    return x if isinstance(x, list) else [x]


def flushed(x: Any) -> Any:
    """An operand with zeros for subnormals, for which Metal may take them and may not."""
    if isinstance(x, list):
        return [flushed(y) for y in x]
    if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
        return x
    return np.where(np.abs(x) < SMALLEST, np.copysign(x.dtype.type(0), x), x)


def promoted(x: Array, case: Case) -> Array:
    """Sums of bool and int32, and products of bool, are computed in int64."""
    wide = case.dtype == "bool" or (case.dtype == "int32" and case.name == "sum")
    return x.astype(np.int64) if wide else x


def result_dtype(t: Any) -> str:
    return str(t.dtype).removeprefix("paddle.")


def close(
    row: dict[str, Any], case: Case, given: Any, arrays: list[Any], got: Array, want: Array, also: Array, dtype: str
) -> None:
    """Asserts that got is as near to want, or to what is right too, as the operator promises."""
    if dtype not in oracle.FLOATS:
        with np.errstate(all="ignore"):
            want, also = want.astype(oracle.NUMPY[dtype]), also.astype(oracle.NUMPY[dtype])
        wrong = (got != want) & (got != also)
        assert not wrong.any(), f"{case} {given}: {first(got, want, wrong)}"
        return
    off = error(got, want, also, dtype)
    bound = np.broadcast_to(allowed(row, case, given, arrays, want, dtype), off.shape)
    bad = off > bound
    assert not bad.any(), f"{case} {given}: {first(got, want, bad)}, {np.max(off[bad]):.3g} ulp apart"
    if off.size:
        name = f"{case.name} {dtype}"
        WORST[name] = max(WORST.get(name, (0.0, 0.0)), nearest(off, bound), key=share)


# The largest errors so far, in ulps, and what was promised there, by operator and dtype.
WORST: dict[str, tuple[float, float]] = {}


def nearest(off: Array, bound: Array) -> tuple[float, float]:
    """The error that is nearest to its bound, or furthest above it, and that bound."""
    at = int(np.argmax(off / np.maximum(bound, 1e-9)))
    return float(min(off.reshape(-1)[at], 1e9)), float(bound.reshape(-1)[at])


def share(pair: tuple[float, float]) -> float:
    return pair[0] / max(pair[1], 1e-9)


def error(got: Array, want: Array, also: Array, dtype: str) -> Array:
    """How many ulps each element is away from want, or from what is right too."""
    off = oracle.difference(got, want, dtype)
    if METAL and dtype in ("float32", "bfloat16"):
        if also is not want:
            off = np.minimum(off, oracle.difference(got, also, dtype))
        # What is as small within its error may be flushed too.
        off = np.where((np.abs(want) < SMALLEST * (1 + 2.0**-18)) & (np.abs(got) < SMALLEST), 0, off)
    return off


def first(got: Array, want: Array, bad: Array) -> str:
    """The first element that differs, in words."""
    at = tuple(int(i) for i in np.argwhere(np.atleast_1d(bad))[0]) if got.ndim else ()
    return f"got {got[at]!r} at {list(at)}; want {want[at]!r}"


def allowed(row: dict[str, Any], case: Case, given: Any, arrays: list[Any], want: Array, dtype: str) -> Any:
    """How many ulps an element may be off. Where nothing is wider than float64, its oracle is as inexact as
    the operator may be."""
    own = promised(row, case, given, arrays, want, dtype)
    return own if oracle.WIDER or dtype != "float64" else 2 * own + 1


def promised(row: dict[str, Any], case: Case, given: Any, arrays: list[Any], want: Array, dtype: str) -> Any:
    """How many ulps an element may be off: what the row says, and for sums of many terms the bound of
    summation, (2 + log2 n) eps sum|x|, in units of the result."""
    half = dtype in ("float16", "bfloat16")
    own = row["ulp"]["Half" if half else "Float64" if dtype == "float64" else "Float32"]
    if METAL and dtype == "float32":
        own = max(own, row["ulp"]["Metal"])
    if case.name in ("sum", "mean", "prod"):
        axis = tuple(given["axis"]) if given["axis"] and arrays[0].ndim else None
        x = np.abs(oracle.widen(arrays[0], case.dtype)).astype(np.float64)
        n = max(x.size // max(want.size, 1), 1)
        eps = 2.0**-53 if dtype == "float64" else 2.0**-24
        scale = (
            np.abs(want).astype(np.float64) * n
            if case.name == "prod"
            else np.sum(x, axis=axis, keepdims=given["keepdim"])
        )
        bound = (2 + math.log2(n)) * eps * scale / (n if case.name == "mean" else 1)
        return own + bound / oracle.ulp(want, dtype)
    if dtype == "float64" and case.name == "softmax":  # x - max(x) is rounded, and exp turns that into a factor
        x = oracle.widen(arrays[0], dtype)
        with np.errstate(all="ignore"):
            return own + np.nan_to_num(
                np.abs(x - np.max(x, axis=given["axis"] if x.ndim else None, keepdims=True)) if x.size else x
            )
    if dtype == "float64" and case.name == "gelu":
        # 1/sqrt(2) and the product with x are rounded, which exp(-x*x/2) multiplies by x*x; the other
        # form rounds the argument of exp four times.
        x = np.abs(np.nan_to_num(arrays[0], posinf=0, neginf=0))
        inner = 2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
        return own + np.minimum(4 * inner if given["approximate"] else 1.5 * np.square(x), 2.0**52)
    if dtype == "float64" and case.name in ("sin", "cos", "tan"):
        # Go reduces arguments from 2**20 on with 64 bits of the fraction: an absolute error.
        return own + np.where(np.abs(arrays[0]) >= 2**20, 2.0**-54 * (1 + np.square(want)), 0).astype(
            np.float64
        ) / oracle.ulp(want, dtype)
    if case.name == "matmul":
        x, y = (np.abs(oracle.widen(a, case.dtype)) for a in arrays)
        terms = oracle.expect(row, [x, y], given, case.dtype)
        k = arrays[0].shape[-2 if given["transpose_x"] else -1]
        eps = 2.0**-53 if dtype == "float64" else 2.0**-24
        return own + k * eps * terms.astype(np.float64) / oracle.ulp(want, dtype)
    return own
