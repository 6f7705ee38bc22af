"""The conformance suite: every operator of the table, in every dtype, on every kind of layout.

`cases` lists what there is to try and `check` tries one case on one place; neither knows pytest, so
that the same suite can run where there is none. The operators come from table.json, which is written
from the operator table: a new row is tried without a change here. Its values, attributes and tolerance are data
of the row; this file knows kinds of operators and none by its name.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import paddle_mps as paddle

from .._calls import _call
from .._core import _convert
from . import aliases, oracle, tolerance
from .domains import GENERATORS, ordinary
from .oracle import Array

TABLE: list[dict[str, Any]] = json.loads((Path(__file__).parent / "table.json").read_text())
BY_NAME = {row["name"]: row for row in TABLE}

BROADCAST = ("binary", "compare", "select")
ELEMENTWISE = (*BROADCAST, "unary", "convert")
FOLDS = ("reduce", "scan")  # work along axes
LAYOUTS = (
    "same", "broadcast", "scalar", "zero_d", "empty", "strided", "transposed", "reversed", "misaligned", "large", "aliased",
)  # fmt: skip

# The Apple GPU, or the mock of Metal, is held to the limits of its shading language.
METAL = paddle.mps.is_available() and paddle.mps.get_device_properties().backend == "metal"


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
        for dtype in row["dtypes"]:
            if dtype not in dtypes:
                continue
            for layout in LAYOUTS:
                if applies(row, layout) and (layout == "aliased" or compares(row, dtype)):
                    yield Case(row["name"], dtype, layout)


def lacking(case: Case) -> bool:
    """Whether the Apple GPU has no kernel for a case, as the row says; without elements none is needed."""
    return METAL and case.layout != "empty" and case.dtype in BY_NAME[case.name].get("lacks", {}).get("metal", ())


def compares(row: dict[str, Any], dtype: str) -> bool:
    """Whether this suite has an oracle for an operator in a dtype."""
    return not row.get("elsewhere") and oracle.judges(row, dtype)


def applies(row: dict[str, Any], layout: str) -> bool:
    """Whether a layout says something about an operator."""
    kind, inputs = row["kind"], row["inputs"]
    if layout == "aliased":
        return aliases.applies(row)
    if kind == "create":
        return layout == "same"
    if layout == "scalar":  # beside a condition a number keeps the dtype it has, int64 or float32
        return any(i.get("scalar") for i in inputs) and all(i["domain"] != "condition" for i in inputs)
    if layout == "broadcast":
        return kind == "product" or (kind in BROADCAST and all(i["fixed"] is None for i in inputs))
    if layout in ("zero_d", "empty", "large"):
        return kind in ELEMENTWISE or kind in FOLDS or (layout == "empty" and kind == "product")
    return True


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


SHAPES = {"zero_d": (), "empty": (0, 3), "large": (70001,), "aliased": (40, 50)}


def operands(row: dict[str, Any], case: Case, place: str, attrs: dict[str, Any]) -> list[Any]:
    """The inputs of a case: pairs, lists of pairs, or Python scalars."""
    if row["kind"] == "product":
        return matrices(case, place, attrs)
    if "operands" in attrs:
        return [
            places(tuple(s), attrs["size"], place)
            if d["domain"] == "position"
            else operand(d, case, tuple(s), place, f"{row['name']}{i}")
            for i, (d, s) in enumerate(zip(row["inputs"], attrs["operands"]))
        ]
    shape = SHAPES.get(case.layout, (5, 7))
    last = row["inputs"][-1] if row["inputs"] else {"domain": "unrestricted"}
    if case.layout == "aliased" and any(i["domain"] == "position" and not i.get("variadic") for i in row["inputs"]):
        shape = shape[:1]  # as many axes as there are index tensors, so that all operands have one shape
    found: list[Any] = []
    for i, declared in enumerate(row["inputs"]):
        own = [(5, 1), (7,), (1, 7)][i] if case.layout == "broadcast" else shape
        if declared["fixed"] is not None:
            found.append(declared["fixed"])
        elif declared["domain"] == "position":
            found.extend(positions(case, place, own))
        elif case.layout == "scalar" and declared.get("scalar") and declared is last:
            found.append(True if case.dtype == "bool" else 3)
        elif declared.get("variadic"):
            found.append([operand(declared, case, own, place, f"{i}{j}") for j in range(3)])
        else:
            found.append(operand(declared, case, own, place, f"{row['name']}{i}"))
    return found


def operand(declared: dict[str, Any], case: Case, shape: tuple[int, ...], place: str, seed: str) -> Pair:
    """A tensor with values of an input's domain; without extremes where two calls are compared."""
    domain = declared["domain"]
    if case.layout == "aliased" and case.dtype in oracle.FLOATS and domain != "condition":
        domain = "ordinary"
    dtype = "bool" if domain == "condition" else case.dtype
    return laid_out(GENERATORS[domain], dtype, shape, case.layout, place, seed)


def positions(case: Case, place: str, shape: tuple[int, ...]) -> list[Any]:
    """Index tensors for the operands of a case."""
    if case.layout == "aliased":
        return aliases.indices(case.dtype, place, *shape)
    index = np.array([2, 0, 2])
    return [Pair(index, paddle.to_tensor(index, place=place))]


def places(shape: tuple[int, ...], size: list[int], place: str) -> Pair:
    """Indices into planes of a size, some of which name one place."""
    index = 7 * np.arange(math.prod(shape)).reshape(shape) % (math.prod(size) - 1)
    return Pair(index, paddle.to_tensor(index, place=place))


def matrices(case: Case, place: str, attrs: dict[str, Any]) -> list[Pair]:
    """Operands of a product that fit, with batches where the layout broadcasts."""
    rows, inner, cols = {"empty": (3, 0, 2), "aliased": (20, 20, 20)}.get(case.layout, (5, 37, 19))
    x: tuple[int, ...] = (rows, inner)
    y: tuple[int, ...] = (inner, cols)
    if attrs.get("transpose_x"):
        x = x[::-1]
    if attrs.get("transpose_y"):
        y = y[::-1]
    if case.layout == "broadcast":
        x, y = (2, 1, *x), (3, *y)
    return [laid_out(ordinary, case.dtype, s, case.layout, place, f"m{i}") for i, s in enumerate((x, y))]


# ---- Running and comparing


def attributes(row: dict[str, Any], given: dict[str, Any]) -> tuple[Any, ...]:
    """Attributes in the form of the call."""
    pack = {
        "bool": _call.flag, "int": _call.integer, "float": _call.number, "list of int": _call.integers,
        "list of float": _convert.numbers, "dtype": _call.element_type, "bool, int or float": _call.either, "string": _convert.text,
    }  # fmt: skip
    return tuple(pack[a["type"]](a["name"], given[a["name"]]) for a in row["attrs"] if given.get(a["name"]) is not None)


def flattened(inputs: list[Any]) -> list[Any]:
    """The operands of a call."""
    flat: list[Any] = []
    for x in inputs:
        flat.extend([p.tensor for p in x] if isinstance(x, list) else [x.tensor if isinstance(x, Pair) else x])
    return flat


def run(row: dict[str, Any], inputs: list[Any], given: dict[str, Any], place: str) -> list[Any]:
    """The operator's results on the device, through the C ABI."""
    if row["kind"] == "create":
        where = 0 if place == "cpu" else 1 << 32
        return [_call.call(row["id"], (), attributes(row, given), None, where)]
    return _call.call_many(row["id"], flattened(inputs), attributes(row, given), 16)


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
    done = 0
    for given in settings(row):
        if not possible(row, case, given) or (given.get("dtype") == "float64" and place != "cpu"):
            continue
        inputs = operands(row, case, place, given)
        if case.layout == "aliased":
            aliases.check(row, flattened(inputs), attributes(row, settle(row, case, given)), repeats(row, case, given))
        else:
            compare(row, case, given, inputs, run(row, inputs, settle(row, case, given), place))
        done += 1
    assert done, f"{case} has no setting that applies"
    return done


def settings(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The attributes that are tried, by name, with the defaults of those that a setting does not name."""
    return [defaults(row) | s for s in row.get("settings") or [{}]]


def defaults(row: dict[str, Any]) -> dict[str, Any]:
    """The attributes that need not be given."""
    return {a["name"]: a["default"] for a in row["attrs"] if not a.get("needed")}


def settle(row: dict[str, Any], case: Case, given: dict[str, Any]) -> dict[str, Any]:
    """Attributes with the dtype of the case where the operator wants one."""
    if row["kind"] == "create":
        return given | {"dtype": case.dtype}
    return {k: v for k, v in given.items() if not (k == "dtype" and isinstance(v, int))}


def possible(row: dict[str, Any], case: Case, given: dict[str, Any]) -> bool:
    """Whether a setting makes sense for the shape of a case."""
    if row["kind"] not in FOLDS:
        return True
    shape = SHAPES.get(case.layout, (5, 7))
    rank, axis = max(len(shape), 1), given["axis"]
    axes = axis if isinstance(axis, list) else list(range(len(shape))) if axis is None else [axis]
    if any(not -rank <= a < rank for a in axes) or len(axes) > rank:
        return False
    return row["inputs"][0]["domain"] != "nonempty" or all(shape[a] for a in axes if shape)


def compare(row: dict[str, Any], case: Case, given: dict[str, Any], inputs: list[Any], results: list[Any]) -> None:
    """Asserts that results have the shapes and, within the row's tolerance, the values that NumPy has."""
    arrays: list[Any] = [
        [p.array for p in x] if isinstance(x, list) else x.array if isinstance(x, Pair) else x for x in inputs
    ]
    expected = listed(oracle.expect(row, arrays, given, case.dtype))
    assert len(results) == len(expected), f"{case} {given}: {len(results)} results; want {len(expected)}"
    flushes = METAL and case.dtype in ("float32", "bfloat16") and row["kind"] not in ("index", "create")
    for i, result in enumerate(results):
        want = np.asarray(expected[i])
        assert tuple(result.shape) == want.shape, f"{case} {given}: shape {result.shape}; want {list(want.shape)}"
        got, dtype = numpy_of(result), target(row, given) or result_dtype(result)
        try:
            close(row, case, given, arrays, got, want, want, dtype)
        except AssertionError:
            if not flushes:
                raise
            also = listed(oracle.expect(row, [tolerance.flushed(x) for x in arrays], given, case.dtype))
            close(row, case, given, arrays, got, want, np.asarray(also[i]), dtype)


def listed(x: Any) -> list[Any]:
    return x if isinstance(x, list) else [x]


def target(row: dict[str, Any], given: dict[str, Any]) -> str:
    """The dtype that a conversion goes to; empty for all other operators."""
    return given.get("dtype", "") if row["kind"] == "convert" else ""


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
    off = tolerance.error(got, want, also, dtype, METAL)
    bound = tolerance.allowed(row, case.dtype, given, arrays, want, dtype, METAL)
    bad = ~(off <= bound)
    assert not bad.any(), f"{case} {given}: {first(got, want, bad)}, {far(off, bound, bad)}"
    tolerance.note(f"{case.name} {dtype}", off, bound)


def repeats(row: dict[str, Any], case: Case, given: Any) -> aliases.Agree:
    """Asserts that two results of one call are at most twice as far apart as the operator promises: a device
    may round them in different ways."""

    def apart(arrays: list[Any], got: Array, want: Array, dtype: str) -> Any:
        off = tolerance.error(got, want, want, dtype, METAL)
        return ~(off <= 2 * tolerance.allowed(row, case.dtype, given, arrays, want, dtype, METAL))

    def agree(where: str, arrays: list[Any], got: Array, want: Array, dtype: str) -> None:
        bad = got != want
        if dtype in oracle.FLOATS:  # in units of the larger one: below a power of two they are half as long
            bad = apart(arrays, got, want, dtype) & apart(arrays, want, got, dtype)
        assert not bad.any(), f"{case} {given}: {where}: {first(got, want, bad)}"

    return agree


def far(off: Array, bound: Array, bad: Array) -> str:
    """How far apart these two are, and how far the row lets them be."""
    return f"{off[bad][0]:.3g} ulp apart; the tolerance of the row is {bound[bad][0]:.3g}"


def first(got: Array, want: Array, bad: Array) -> str:
    """The first element that differs, in words."""
    at = tuple(int(i) for i in np.argwhere(np.atleast_1d(bad))[0]) if got.ndim else ()
    return f"got {got[at]!r} at {list(at)}; want {want[at]!r}"
