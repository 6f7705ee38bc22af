"""Random programs whose gradients are compared with finite differences of the same program in NumPy, in float64.

The values are real numbers of at most some units, of smooth functions, so that differences of four points are good to 1e-7. Where
a function has a kink, as the larger one of two numbers, a program has it only with numbers that are not near it. What is
differentiated is the sum of all values, each with a weight of its own, with respect to all that are created. A place without
float64 computes in float32.
"""

from __future__ import annotations

import math
import random
from typing import Any, Callable

import numpy as np
from programs import Array, Operator, Statement, broadcasts, slices

import paddle_mps as paddle

STEP = 1e-3
GAP = 0.05  # from a kink, which no step reaches
MOST = 60  # elements of a value
TOLERANCE = {"float64": 1e-6, "float32": 1e-3}  # beside the largest element of the gradient, or 1

DTYPE_OF: dict[str, str] = {}  # by place


def dtype_of(place: str) -> str:
    """The widest dtype of a place."""
    if place not in DTYPE_OF:
        try:
            paddle.to_tensor(np.zeros(1), place=place)
            DTYPE_OF[place] = "float64"
        except (paddle.UnsupportedError, TypeError, ValueError):
            DTYPE_OF[place] = "float32"
    return DTYPE_OF[place]


def constant(shape: tuple[int, ...], seed: int) -> Array:
    return np.random.default_rng(seed).uniform(-1.5, 1.5, shape)


def both(name: str, oracle: str | None = None) -> Operator:
    return Operator(getattr(paddle, name), getattr(np, oracle or name))


def flat(name: str) -> Operator:
    """A function whose results may be large, made small again."""
    return Operator(lambda *x: paddle.tanh(getattr(paddle, name)(*x)), lambda *x: np.tanh(getattr(np, name)(*x)))


def reduction(name: str) -> Operator:
    return Operator(
        lambda x, axis, keep: getattr(paddle, name)(x, axis=axis, keepdim=keep),
        lambda x, axis, keep: getattr(np, name)(x, axis=axis, keepdims=keep),
    )


def put(x: Any, y: Any, parts: list[Any]) -> Any:
    """A copy with a part of it replaced."""
    made = x.clone()
    made[slices(parts)] = y
    return made


def oracle_put(x: Array, y: Array, parts: list[Any]) -> Array:
    made = x.copy()
    made[slices(parts)] = y
    return made


OPERATORS: dict[str, Operator] = {
    "create": Operator(
        lambda shape, seed, place: paddle.to_tensor(constant(shape, seed).astype(dtype_of(place)), place=place),
        lambda shape, seed, place: constant(shape, seed),
    ),
    **{name: both(name) for name in ("add", "subtract", "sin", "cos", "tanh", "maximum", "minimum", "abs")},
    **{name: flat(name) for name in ("multiply", "matmul", "square", "exp")},
    "sigmoid": Operator(lambda x: paddle.sigmoid(x), lambda x: 1 / (1 + np.exp(-x))),
    "sqrt": Operator(lambda x: paddle.sqrt(x * x + 1), lambda x: np.sqrt(x * x + 1)),
    "divide": Operator(lambda x, y: x / (y * y + 1), lambda x, y: x / (y * y + 1)),
    "softmax": Operator(
        lambda x, axis: paddle.nn.functional.softmax(x, axis),
        lambda x, axis: np.exp(x) / np.exp(x).sum(axis, keepdims=True),
    ),
    "logsumexp": Operator(
        lambda x, axis: paddle.logsumexp(x, axis), lambda x, axis: np.asarray(np.log(np.exp(x).sum(axis)))
    ),
    **{name: reduction(name) for name in ("sum", "mean", "max", "min", "prod")},
    "cumsum": Operator(lambda x, axis: paddle.cumsum(x, axis), lambda x, axis: np.cumsum(x, axis)),
    "slice": Operator(lambda x, parts: x[slices(parts)], lambda x, parts: x[(*slices(parts), ...)]),
    "transpose": Operator(lambda x, perm: paddle.transpose(x, perm), lambda x, perm: np.transpose(x, perm)),
    "reshape": Operator(lambda x, shape: paddle.reshape(x, shape), lambda x, shape: np.reshape(x, shape)),
    "expand": Operator(lambda x, shape: paddle.expand(x, shape), lambda x, shape: np.broadcast_to(x, shape)),
    "concat": Operator(lambda *x, axis: paddle.concat(list(x), axis), lambda *x, axis: np.concatenate(x, axis)),
    "stack": Operator(lambda *x, axis: paddle.stack(list(x), axis), lambda *x, axis: np.stack(x, axis)),
    "tile": Operator(lambda x, times: paddle.tile(x, times), lambda x, times: np.tile(x, times)),
    "flip": Operator(lambda x, axis: paddle.flip(x, axis), lambda x, axis: np.flip(x, axis)),
    "take": Operator(lambda x, index: x[index], lambda x, index: x[index]),
    "where": Operator(
        lambda x, y, mask: paddle.where(paddle.to_tensor(mask, place=x.place), x, y),
        lambda x, y, mask: np.where(mask, x, y),
    ),
    "put": Operator(put, oracle_put),
}


def near_a_kink(name: str, operands: list[Array], given: dict[str, Any]) -> bool:
    """Whether a step might reach a kink of a function."""
    if name in ("maximum", "minimum"):
        return bool(np.min(np.abs(operands[0] - operands[1]), initial=1.0) < GAP)
    if name == "abs":
        return bool(np.min(np.abs(operands[0]), initial=1.0) < GAP)
    if name in ("max", "min"):
        x = operands[0]
        lines = (
            x.reshape(1, -1)
            if given["axis"] is None
            else np.moveaxis(x, given["axis"], -1).reshape(-1, x.shape[given["axis"]])
        )
        ordered = np.sort(lines if name == "max" else -lines, -1)
        return bool(ordered.shape[-1] > 1 and np.min(ordered[:, -1] - ordered[:, -2], initial=1.0) < GAP)
    return False


class Maker:
    """Makes one random program, with the oracle run beside it. All on one place."""

    def __init__(self, seed: int, place: str) -> None:
        self.rng = random.Random(seed)
        self.place = place
        self.statements: list[Statement] = []
        self.values: list[Array] = []

    def make(self) -> list[Statement]:
        for _ in range(self.rng.randint(1, 2)):
            self.create(tuple(self.rng.choices((1, 2, 3, 4), k=self.rng.choice((1, 2, 2, 3)))))
        for _ in range(self.rng.randint(4, 16)):
            getattr(self, self.rng.choice(STEPS))()
        return self.statements

    def emit(self, name: str, operands: list[int], **given: Any) -> None:
        given_to = [self.values[i] for i in operands]
        if near_a_kink(name, given_to, given):
            return
        value = np.asarray(OPERATORS[name].oracle(*given_to, **given))
        if value.size > MOST or np.max(np.abs(value), initial=0.0) > 20:
            return
        self.statements.append(Statement(name, operands, given, self.place))
        self.values.append(value)

    def create(self, shape: tuple[int, ...]) -> int:
        self.emit("create", [], shape=shape, seed=self.rng.randrange(10**6), place=self.place)
        return len(self.values) - 1

    def one(self, rank: int = 0) -> int:
        fit = [i for i, v in enumerate(self.values) if v.ndim >= rank and v.size]
        return self.rng.choice(fit[-5:]) if fit else self.create((2, 3)[:rank])

    def partner(self, i: int) -> int:
        """A value that broadcasts with the i-th: an earlier one or a new one."""
        x = self.values[i]
        fit = [j for j, v in enumerate(self.values) if v.size and broadcasts(v.shape, x.shape)]
        if self.rng.random() < 0.8:
            return self.rng.choice(fit)
        shape = [n if self.rng.random() < 0.7 else 1 for n in x.shape]
        return self.create(tuple(shape[self.rng.randint(0, len(shape)) :]))

    # ---- Steps.

    def binary(self) -> None:
        i = self.one()
        self.emit(
            self.rng.choice(("add", "subtract", "multiply", "divide", "maximum", "minimum")), [i, self.partner(i)]
        )

    def unary(self) -> None:
        names = ("sin", "cos", "tanh", "sigmoid", "square", "exp", "sqrt", "abs")
        self.emit(self.rng.choice(names), [self.one()])

    def select(self) -> None:
        i = self.one()
        j = self.partner(i)
        shape = np.broadcast_shapes(self.values[i].shape, self.values[j].shape)
        count = math.prod(shape)
        mask = np.array([self.rng.random() < 0.5 for _ in range(count)]).reshape(shape)
        self.emit("where", [i, j], mask=mask)

    def matmul(self) -> None:
        i = self.one(rank=1)
        n = self.values[i].shape[-1]
        if n > MOST // 3:
            return
        self.emit("matmul", [i, self.create((n, self.rng.randint(1, 3)))])

    def reduce(self) -> None:
        i = self.one(rank=1)
        axis = self.rng.randrange(self.values[i].ndim)
        name = self.rng.choice(("sum", "mean", "max", "min", "prod", "cumsum", "softmax", "logsumexp"))
        keep = {} if name in ("cumsum", "softmax", "logsumexp") else {"keep": self.rng.random() < 0.3}
        self.emit(name, [i], axis=None if keep and self.rng.random() < 0.2 else axis, **keep)

    def parts(self, shape: tuple[int, ...]) -> list[Any]:
        """Slices with steps of either sign."""
        return [
            (self.rng.choice((None, self.rng.randint(-n, n))), None, self.rng.choice((None, 1, 2, -1)))
            for n in shape[: self.rng.randint(1, len(shape))]
        ]

    def view(self) -> None:
        i = self.one(rank=1)
        x = self.values[i]
        which = self.rng.choice(("slice", "transpose", "reshape"))
        if which == "slice":
            self.emit("slice", [i], parts=self.parts(x.shape))
        elif which == "transpose":
            self.emit("transpose", [i], perm=self.rng.sample(range(x.ndim), x.ndim))
        else:
            self.emit("reshape", [i], shape=self.rng.choice(([x.size], [1, x.size], [*x.shape, 1])))

    def copy(self) -> None:
        i = self.one(rank=1)
        x = self.values[i]
        axis = self.rng.randrange(x.ndim)
        which = self.rng.choice(("expand", "concat", "stack", "tile", "flip", "take"))
        if which == "expand":
            self.emit("expand", [i], shape=[2, *x.shape])
        elif which in ("concat", "stack"):
            self.emit(which, [i, i], axis=axis)
        elif which == "tile":
            self.emit("tile", [i], times=[self.rng.randint(1, 2) for _ in x.shape])
        elif which == "flip":
            self.emit("flip", [i], axis=[axis])
        else:
            self.emit("take", [i], index=self.rng.choices(range(-x.shape[0], x.shape[0]), k=self.rng.randint(1, 4)))

    def write(self) -> None:
        i = self.one(rank=1)
        x = self.values[i]
        parts = self.parts(x.shape)
        self.emit("put", [i, self.create(x[slices(parts)].shape)], parts=parts)


STEPS = ("binary", "binary", "binary", "unary", "unary", "select", "matmul", "reduce", "reduce", "view", "view", "copy", "write")  # fmt: skip


def total(
    statements: list[Statement],
    created: list[Any],
    run: Callable[[Operator], Callable[..., Any]],
    weigh: Callable[[Any], Any],
) -> Any:
    """The sum of all values, each element with a weight."""
    rest, values = iter(created), list[Any]()
    for s in statements:
        given = [values[i] for i in s.operands]
        values.append(next(rest) if s.name == "create" else run(OPERATORS[s.name])(*given, **s.given))
    found = [weigh(v) for v in values]
    result = found[0]
    for v in found[1:]:
        result = result + v
    return result


def weights(shape: Any) -> Array:
    return np.cos(np.arange(1, math.prod(shape) + 1)).reshape(shape)


def oracle(statements: list[Statement]) -> list[Array]:
    """The gradients by differences of four points."""
    created = [constant(s.given["shape"], s.given["seed"]) for s in statements if s.name == "create"]

    def value() -> float:
        return float(total(statements, created, lambda o: o.oracle, lambda v: np.sum(v * weights(np.shape(v)))))

    found = []
    for x in created:
        slope = np.zeros_like(x)
        for i in np.ndindex(x.shape):
            kept = x[i]
            for factor, steps in ((8, 1), (-8, -1), (-1, 2), (1, -2)):
                x[i] = kept + steps * STEP
                slope[i] += factor * value()
            x[i] = kept
        found.append(slope / (12 * STEP))
    return found


def ours(statements: list[Statement], traced: str) -> list[Array]:
    """The gradients by this package.

    Args:
        traced: "" for none, "function" for a traced function that is differentiated, "pass" for a traced function that
            differentiates.
    """
    created = [OPERATORS["create"].ours(**s.given) for s in statements if s.name == "create"]

    def weigh(v: Any) -> Any:
        return (
            v * paddle.to_tensor(weights(tuple(v.shape)).astype(dtype_of(statements[0].place)), place=v.place)
        ).sum()

    def function(*given: Any) -> Any:
        return total(statements, list(given), lambda o: o.ours, weigh)

    if traced == "pass":
        compiled = paddle.jit.to_static(paddle.func.grad(function, tuple(range(len(created)))), full_graph=True)
        return [g.numpy() for g in compiled(*created)]
    for x in created:
        x.stop_gradient = False
    called = paddle.jit.to_static(function, full_graph=True) if traced else function
    called(*created).backward()
    return [np.zeros(tuple(x.shape)) if x.grad is None else x.grad.numpy() for x in created]


def difference(statements: list[Statement], traced: bool) -> str:
    """What is different between our gradients and the oracle's, or nothing. An exception of ours is a difference."""
    want = oracle(statements)
    dtype = dtype_of(statements[0].place)
    for way in ("function", "pass") if traced else ("",):
        try:
            got = ours(statements, way)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        for i, (w, g) in enumerate(zip(want, got)):
            margin = TOLERANCE[dtype] * max(1.0, float(np.max(np.abs(w), initial=0.0)))
            if w.shape != g.shape or not np.allclose(g, w, rtol=0, atol=margin):
                return f"gradient {i}{' of a traced ' + way if way else ''}: want\n{w}\ngot\n{g}"
    return ""
