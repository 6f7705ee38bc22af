"""Random programs over tensors, and the two interpreters that run them.

A program is a list of statements, each of which makes a value of earlier ones or changes one in place. All values are
small whole numbers, in every dtype, so that no operator rounds and each answer is equal or wrong: what grows is clipped.
What shares memory with what is part of the answer: views are written through, and all values are compared at the end.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

import paddle_mps as paddle

Array = np.ndarray[Any, Any]

DTYPES = ("float32", "int32", "int64", "bool")
LARGEST = 20  # of any number, by clip; products of two such, summed over an axis, are exact in float32
MOST = 400  # elements of a value that is computed


@dataclass
class Statement:
    """`name` applied to earlier values.

    Attributes:
        name: a key of OPERATORS.
        operands: numbers of the values that it reads; of one that writes, the first is written.
        given: its other arguments.
        place, stream: where a new value is made or moved to, and on which of two streams the statement runs.
    """

    name: str
    operands: list[int]
    given: dict[str, Any] = field(default_factory=dict)
    place: str = "cpu"
    stream: int = 0

    def __str__(self) -> str:
        arguments = [f"v{i}" for i in self.operands] + [f"{k}={v!r}" for k, v in self.given.items()]
        return f"{self.name}({', '.join(arguments)}) on {self.place}, stream {self.stream}"


def constant(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    """Values of a creation."""
    values = np.random.default_rng(seed).integers(-5, 6, shape)
    return np.asarray(values > 0 if dtype == "bool" else values.astype(dtype))


def slices(parts: list[Any]) -> tuple[Any, ...]:
    return tuple(slice(*p) if isinstance(p, tuple) else p for p in parts)


def clipped(x: Any, module: Any) -> Any:
    """What may have grown, back among the small numbers."""
    return module.clip(x, -LARGEST, LARGEST).astype(x.dtype)


def numpy_tile(x: Array, times: list[int]) -> Array:
    return np.tile(x, times)


@dataclass(frozen=True)
class Operator:
    """How both libraries say it. `writes`: the first operand is changed, and there is no new value."""

    ours: Callable[..., Any]
    oracle: Callable[..., Any]
    writes: bool = False

    def answer(self, operands: list[Array], given: dict[str, Any]) -> Array:
        """NumPy's value. A copy is row-major, as ours are: NumPy's has the order of the operands, which would decide
        whether a reshape of it shares memory."""
        value = np.asarray(self.oracle(*operands, **given))
        shared = any(np.may_share_memory(value, x) for x in operands)
        return value if shared else np.asarray(value, order="C")


def assign(x: Any, y: Any, parts: list[Any]) -> None:
    x[slices(parts)] = y


def assign_scalar(x: Any, parts: list[Any], value: int) -> None:
    x[slices(parts)] = value


def assign_at(x: Any, index: list[int], value: int) -> None:
    """An index list; the first axis."""
    x[index] = value


def oracle_assign(x: Array, y: Array, parts: list[Any]) -> None:
    x[slices(parts)] = y.copy()


def update(name: str) -> tuple[Callable[..., None], Callable[..., None]]:
    """x.add_(y) and its like, clipped in place."""

    def ours(x: Any, y: Any) -> None:
        getattr(x, name + "_")(y)
        if x.dtype != "bool":
            x.clip_(-LARGEST, LARGEST)

    def oracle(x: Array, y: Array) -> None:
        x[...] = clipped(np.asarray(getattr(np, name)(x, y)), np)

    return ours, oracle


def fresh(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy whose result shares no memory, as Paddle's does not."""
    return lambda *operands, **given: np.array(function(*operands, **given))


def grown(name: str) -> Operator:
    return Operator(
        lambda *x, **given: clipped(getattr(paddle, name)(*x, **given), paddle),
        lambda *x, **given: clipped(np.asarray(getattr(np, name)(*x, **given)), np),
    )


def plain(name: str, oracle: str | None = None) -> Operator:
    return Operator(getattr(paddle, name), fresh(getattr(np, oracle or name)))


OPERATORS = {
    "create": Operator(
        lambda shape, dtype, seed, place: paddle.to_tensor(constant(shape, dtype, seed), place=place),
        lambda shape, dtype, seed, place: constant(shape, dtype, seed),
    ),
    "to": Operator(lambda x, place: x.to(place), fresh(lambda x, place: x)),
    "cast": Operator(lambda x, dtype: x.astype(dtype), lambda x, dtype: x.astype(dtype, copy=False)),
    **{name: grown(name) for name in ("add", "subtract", "multiply", "matmul")},
    **{
        name: plain(name) for name in ("maximum", "minimum", "equal", "not_equal", "logical_and", "logical_or", "where")
    },
    "less_than": plain("less_than", "less"),
    "greater_equal": plain("greater_equal"),
    "abs": plain("abs"),
    "neg": plain("neg", "negative"),
    "floor_divide": Operator(lambda x, by: x // by, lambda x, by: np.array((x // by).astype(x.dtype))),
    "remainder": Operator(lambda x, by: x % by, lambda x, by: np.array((x % by).astype(x.dtype))),
    "sum": Operator(
        lambda x, axis, keep: clipped(paddle.sum(x, axis=axis, keepdim=keep), paddle),
        lambda x, axis, keep: clipped(
            np.asarray(x.sum(axis=axis, keepdims=keep, dtype="int64" if x.dtype != "float32" else None)), np
        ),
    ),
    **{
        name: Operator(
            lambda x, axis, keep, name=name: getattr(paddle, name)(x, axis=axis, keepdim=keep),
            lambda x, axis, keep, name=name: np.array(getattr(np, name)(x, axis=axis, keepdims=keep)),
        )
        for name in ("max", "min", "any", "all")
    },
    "argmax": Operator(lambda x, axis: paddle.argmax(x, axis=axis), lambda x, axis: np.array(np.argmax(x, axis=axis))),
    "cumsum": Operator(
        lambda x, axis: clipped(paddle.cumsum(x, axis=axis), paddle),
        lambda x, axis: clipped(np.cumsum(x, axis=axis, dtype="int64" if x.dtype != "float32" else None), np),
    ),
    # Views: both share memory with the operand.
    "slice": Operator(lambda x, parts: x[slices(parts)], lambda x, parts: x[(*slices(parts), ...)]),  # also 0-d a view
    "transpose": Operator(lambda x, perm: paddle.transpose(x, perm), lambda x, perm: np.transpose(x, perm)),
    "unsqueeze": Operator(lambda x, axis: paddle.unsqueeze(x, axis), lambda x, axis: np.expand_dims(x, axis)),
    "squeeze": Operator(lambda x, axis: paddle.squeeze(x, axis), lambda x, axis: np.squeeze(x, axis)),
    # A reshape of a tensor that is not contiguous may copy or not, so that it is made contiguous first.
    "reshape": Operator(lambda x, shape: paddle.reshape(x, shape), lambda x, shape: np.reshape(x, shape)),
    # Copies.
    "clone": Operator(lambda x: x.clone(), lambda x: x.copy()),
    "expand": Operator(lambda x, shape: paddle.expand(x, shape), fresh(lambda x, shape: np.broadcast_to(x, shape))),
    "concat": Operator(lambda *x, axis: paddle.concat(list(x), axis), lambda *x, axis: np.concatenate(x, axis)),
    "stack": Operator(lambda *x, axis: paddle.stack(list(x), axis), lambda *x, axis: np.stack(x, axis)),
    "tile": Operator(lambda x, times: paddle.tile(x, times), fresh(numpy_tile)),
    "flip": Operator(lambda x, axis: paddle.flip(x, axis), fresh(lambda x, axis: np.flip(x, axis))),
    "take": Operator(lambda x, index: x[index], fresh(lambda x, index: x[index])),
    "mask": Operator(lambda x, m: x[m], fresh(lambda x, m: x[m])),
    "nonzero": Operator(lambda x: paddle.nonzero(x), lambda x: np.argwhere(x)),
    # In place.
    "assign": Operator(assign, oracle_assign, writes=True),
    "assign_scalar": Operator(assign_scalar, assign_scalar, writes=True),
    "assign_at": Operator(assign_at, assign_at, writes=True),
    "fill_": Operator(lambda x, value: x.fill_(value), lambda x, value: x.fill(value), writes=True),
    **{name + "_": Operator(*update(name), writes=True) for name in ("add", "multiply")},
}


class Maker:
    """Makes one random program, with the oracle run beside it: shapes and dtypes of values are the oracle's."""

    def __init__(self, seed: int, places: tuple[str, ...], traced: bool = False) -> None:
        self.rng = random.Random(seed)
        self.traced = traced  # leaves out what a traced function refuses: sizes that depend on elements
        self.places = places
        self.statements: list[Statement] = []
        self.values: list[Array] = []
        self.at: list[str] = []  # the place of each

    def make(self) -> list[Statement]:
        for _ in range(self.rng.randint(2, 3)):
            self.create(self.shape())
        for _ in range(self.rng.randint(5, 30)):
            getattr(self, self.rng.choice(STEPS))()
        return self.statements

    def shape(self) -> tuple[int, ...]:
        sizes = self.rng.choices((1, 2, 3, 4, 5, 7, 0), (3, 3, 3, 3, 2, 2, 1), k=self.rng.choice((0, 1, 2, 2, 3, 3, 4)))
        return tuple(sizes)

    def emit(self, name: str, operands: list[int], **given: Any) -> None:
        """Adds a statement, and its value as the oracle has it."""
        place = given["place"] if "place" in given else self.at[operands[0]]
        stream = self.rng.randrange(2)
        operator = OPERATORS[name]
        value = operator.answer([self.values[i] for i in operands], given)
        if name != "create" and not operator.writes and np.size(value) > MOST:
            return
        self.statements.append(Statement(name, operands, given, place, stream))
        if not operator.writes:
            self.values.append(value)
            self.at.append(place)

    def create(self, shape: tuple[int, ...], dtype: str = "", place: str = "") -> int:
        given = {"shape": shape, "dtype": dtype or self.rng.choice(DTYPES), "seed": self.rng.randrange(10**6)}
        self.emit("create", [], **given, place=place or self.rng.choice(self.places))
        return len(self.values) - 1

    def one(self, rank: int = 0, numbers: bool = False, some: bool = False) -> int:
        """A value with at least so many axes; of numbers, not bools; with elements. A new one if there is none."""
        fit = [
            i
            for i, v in enumerate(self.values)
            if v.ndim >= rank and not (numbers and v.dtype == bool) and (v.size or not some)
        ]
        if fit:
            return self.rng.choice(fit[-6:])
        return self.create((2, 3, 1, 2)[:rank], self.rng.choice(DTYPES[:3]))

    def axis(self, i: int) -> int:
        rank = self.values[i].ndim
        return self.rng.randrange(-rank, rank)

    def partner(self, i: int, dtype: str = "") -> int:
        """A value of that dtype and place that broadcasts with the i-th: an earlier one or a new one."""
        x = self.values[i]
        dtype = dtype or str(x.dtype)
        fit = [
            j
            for j, v in enumerate(self.values)
            if str(v.dtype) == dtype and self.at[j] == self.at[i] and broadcasts(v.shape, x.shape)
        ]
        if fit and self.rng.random() < 0.7:
            return self.rng.choice(fit)
        shape = [n if self.rng.random() < 0.7 else 1 for n in x.shape]
        return self.create(tuple(shape[self.rng.randint(0, len(shape)) :]), dtype, self.at[i])

    # ---- Steps. Each adds a statement or two.

    def binary(self) -> None:
        i = self.one(numbers=True)
        names = (
            "add",
            "subtract",
            "multiply",
            "maximum",
            "minimum",
            "equal",
            "not_equal",
            "less_than",
            "greater_equal",
        )
        self.emit(self.rng.choice(names), [i, self.partner(i)])

    def logical(self) -> None:
        i = self.one()
        self.emit(self.rng.choice(("logical_and", "logical_or")), [i, self.partner(i)])

    def select(self) -> None:
        i = self.one()
        operands = [self.partner(i, "bool"), i, self.partner(i)]
        if broadcasts(*(self.values[j].shape for j in operands)):
            self.emit("where", operands)

    def unary(self) -> None:
        i = self.one(numbers=True)
        name = self.rng.choice(("abs", "neg", "floor_divide", "remainder"))
        by = {"by": self.rng.choice((2, 3, -3))} if name in ("floor_divide", "remainder") else {}
        self.emit(name, [i], **by)

    def convert(self) -> None:
        self.emit("cast", [self.one()], dtype=self.rng.choice(DTYPES))

    def move(self) -> None:
        i = self.one()
        place = self.rng.choice(self.places)
        if place != self.at[i]:
            self.emit("to", [i], place=place)

    def product(self) -> None:
        i = self.one(rank=2, numbers=True)
        n = self.values[i].shape[-1]
        j = self.create((n, self.rng.randint(1, 4)), str(self.values[i].dtype), self.at[i])
        if self.values[i].dtype == np.float32:  # Paddle has no product of integers on the GPU
            self.emit("matmul", [i, j])

    def reduce(self) -> None:
        name = self.rng.choice(("sum", "max", "min", "any", "all"))
        i = self.one(rank=1, numbers=name in ("max", "min"), some=name in ("max", "min"))
        axis = self.axis(i) if self.rng.random() < 0.8 else None
        self.emit(name, [i], axis=axis, keep=self.rng.random() < 0.3)

    def scan(self) -> None:
        i = self.one(rank=1, numbers=True, some=True)
        self.emit(self.rng.choice(("cumsum", "argmax")), [i], axis=self.axis(i))

    def view(self) -> None:
        i = self.one()
        x = self.values[i]
        ones = [a for a, n in enumerate(x.shape) if n == 1]
        which = self.rng.choice(("slice", "slice", "transpose", "unsqueeze", "squeeze", "reshape"))
        if which == "slice" and x.ndim:
            self.emit("slice", [i], parts=self.parts(x.shape))
        elif which == "transpose":
            self.emit("transpose", [i], perm=self.rng.sample(range(x.ndim), x.ndim))
        elif which == "unsqueeze" and x.ndim < 5:
            self.emit("unsqueeze", [i], axis=self.rng.randint(0, x.ndim))
        elif which == "squeeze" and ones:
            self.emit("squeeze", [i], axis=self.rng.choice(ones))
        elif which == "reshape" and x.flags["C_CONTIGUOUS"]:
            self.emit("reshape", [i], shape=self.rng.choice(([x.size], [1, x.size], [*x.shape, 1])))

    def parts(self, shape: tuple[int, ...]) -> list[Any]:
        """Slices with steps of either sign, and now and then an int."""
        parts: list[Any] = []
        for n in shape[: self.rng.randint(1, len(shape))]:
            if n and self.rng.random() < 0.2:
                parts.append(self.rng.randrange(-n, n))
                continue
            bounds = [self.rng.choice((None, self.rng.randint(-n - 1, n + 1))) for _ in range(2)]
            parts.append((*bounds, self.rng.choice((None, 1, 2, 3, -1, -2))))
        return parts

    def copy(self) -> None:
        i = self.one(rank=1)
        x = self.values[i]
        which = self.rng.choice(("clone", "expand", "concat", "stack", "tile", "flip", "take", "mask", "nonzero"))
        if which == "expand":
            self.emit("expand", [i], shape=[2, *x.shape])
        elif which in ("concat", "stack"):
            self.emit(which, [i, i] if which == "stack" else [i, i, i], axis=self.axis(i))
        elif which == "tile":
            self.emit("tile", [i], times=[self.rng.randint(1, 3) for _ in range(self.rng.randint(1, x.ndim))])
        elif which == "flip":
            self.emit("flip", [i], axis=[self.axis(i)])
        elif which == "take" and x.shape[0]:
            self.emit("take", [i], index=self.rng.choices(range(-x.shape[0], x.shape[0]), k=self.rng.randint(1, 5)))
        elif which == "mask" and not self.traced:
            self.emit("mask", [i, self.create(x.shape, "bool", self.at[i])])
        elif which == "clone" or (which == "nonzero" and not self.traced):
            self.emit(which, [i])

    def write(self) -> None:
        i = self.one(rank=1)
        x = self.values[i]
        value = int(x.dtype != bool) * self.rng.randint(-5, 5)
        which = self.rng.choice(("assign", "assign", "assign_scalar", "assign_at", "fill_", "add_", "multiply_"))
        if which == "assign":
            parts = self.parts(x.shape)
            shape = x[slices(parts)].shape
            fit = [
                j
                for j, v in enumerate(self.values)
                if v.dtype == x.dtype and v.shape == shape and self.at[j] == self.at[i]
            ]
            j = (
                self.rng.choice(fit)
                if fit and self.rng.random() < 0.6
                else self.create(shape, str(x.dtype), self.at[i])
            )
            self.emit("assign", [i, j], parts=parts)
        elif which == "assign_scalar":
            self.emit("assign_scalar", [i], parts=self.parts(x.shape), value=value)
        elif which == "assign_at" and x.shape[0]:
            self.emit("assign_at", [i], index=self.rng.choices(range(x.shape[0]), k=2), value=value)
        elif which == "fill_":
            self.emit("fill_", [i], value=value)
        elif which in ("add_", "multiply_") and x.dtype != bool:
            j = self.partner(i)
            if np.broadcast_shapes(self.values[j].shape, x.shape) == x.shape and not overlaps_itself(x):
                self.emit(which, [i, j])


STEPS = ("binary", "binary", "binary", "logical", "select", "unary", "convert", "move", "product", "reduce", "reduce", "scan", "view", "view", "view", "copy", "copy", "write", "write", "write")  # fmt: skip


def broadcasts(*shapes: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True


def overlaps_itself(x: Array) -> bool:
    return any(n > 1 and s == 0 for n, s in zip(x.shape, x.strides))


def oracle(statements: list[Statement]) -> list[Array]:
    """The values of a program by NumPy."""
    values: list[Array] = []
    for s in statements:
        value = OPERATORS[s.name].answer([values[i] for i in s.operands], s.given)
        if not OPERATORS[s.name].writes:
            values.append(value)
    return values


def ours(statements: list[Statement], streams: dict[str, list[Any]]) -> list[Any]:
    """The values by this package, each statement on one of two streams of its place."""
    values: list[Any] = []
    for s in statements:
        where = streams.get(s.place)
        with paddle.device.stream_guard(where[s.stream]) if where else contextlib.nullcontext():
            value = OPERATORS[s.name].ours(*[values[i] for i in s.operands], **s.given)
        if not OPERATORS[s.name].writes:
            values.append(value)
    return values


def traced(statements: list[Statement]) -> list[Array]:
    """The values by a traced function that returns all. Of those that are created, the first one is an argument, the second one made
    in the function, the third one captured, and so on.

    It runs twice: what the second run, which is not traced, computes has to be the same.
    """
    creations = [s for s in statements if s.name == "create"]
    captured = [OPERATORS["create"].ours(**s.given) for s in creations[2::3]]

    def function(*given: Any) -> list[Any]:
        ways = itertools.cycle((iter(given), None, iter(captured)))
        values: list[Any] = []
        for s in statements:
            way = next(ways) if s.name == "create" else None
            value = next(way) if way else OPERATORS[s.name].ours(*[values[i] for i in s.operands], **s.given)
            if not OPERATORS[s.name].writes:
                values.append(value)
        return values

    compiled = paddle.jit.to_static(function, full_graph=True)
    runs = []
    for _ in range(2):
        for x, s in zip(captured, creations[2::3]):  # which the run before may have changed
            x.set_value(OPERATORS["create"].ours(**s.given))
        made = compiled(*[OPERATORS["create"].ours(**s.given) for s in creations[::3]])
        runs.append([v.numpy() for v in made])
    for first, second in zip(*runs):
        if first.tobytes() != second.tobytes():
            raise AssertionError(f"the first run computes\n{first}\nand the second\n{second}")
    return runs[0]


def difference(statements: list[Statement], streams: dict[str, list[Any]] | None) -> str:
    """What is different between the two, or nothing; by a traced function where there are no streams.

    An exception of ours is a difference: all programs are valid.
    """
    want = oracle(statements)
    try:
        got = traced(statements) if streams is None else [v.numpy() for v in ours(statements, streams)]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    for i, (w, g) in enumerate(zip(want, got)):
        if w.dtype != g.dtype or w.shape != g.shape:
            return f"v{i}: want {w.dtype} {list(w.shape)}, got {g.dtype} {list(g.shape)}"
        if not np.array_equal(w, g):
            return f"v{i}: want\n{w}\ngot\n{g}"
    return ""
