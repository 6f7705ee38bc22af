"""The gradients of the operators of complex tensors that NumPy computes: see `_complex`.

The gradient of a complex number has the derivative with respect to its real part as its real part, and that with respect to
its imaginary part as its imaginary part. So the gradient of x, for a y that is an analytic function f of x, is that of y times the
conjugate of f'(x); a real operand gets the real part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, Callable

from .._arrays._array import flip, transpose
from .._calls import _complex, _operators
from .._calls._derivative import has_gradient, recorded
from .._core._errors import UnsupportedError
from .._core._objects import Tensor, meta
from ._elementwise import conj
from ._parts import complex as of_parts

Grads = list[Any]
NAMES = ("x", "y", "z")


def conjugate(x: Any) -> Any:
    """The conjugate of an operand, which may be a number."""
    return conj(x) if isinstance(x, Tensor) else x.conjugate() if isinstance(x, complex) else x


def analytic(slope: Callable[[Any, Any], Any]) -> Any:
    """The rule of a function of one number, whose derivative is slope(x, y) for the result y."""

    def rule(d: Grads, made: Grads, given: Any) -> Grads:
        return [d[0] * conjugate(slope(given.x, made[0]))]

    return rule


def multiply(d: Grads, made: Grads, given: Any) -> Grads:
    return [d[0] * conjugate(given.y), d[0] * conjugate(given.x)]


def divide(d: Grads, made: Grads, given: Any) -> Grads:
    over = d[0] / conjugate(given.y)
    return [over, -over * conjugate(made[0])]


def power(d: Grads, made: Grads, given: Any) -> Grads:
    x, y = given.x, given.y
    dx = d[0] * conjugate(y * _operators.pow(x, y - 1)) if isinstance(x, Tensor) else None
    if not isinstance(y, Tensor):
        return [dx, None]
    base = _operators.log(
        x + 0j if isinstance(x, Tensor) else _operators.full(meta(y).place.word, [], x, meta(made[0]).dtype)
    )
    return [dx, d[0] * conjugate(made[0] * base)]


def absolute(d: Grads, made: Grads, given: Any) -> Grads:
    return [d[0] * _operators.sign(given.x)]


def direction(d: Grads, made: Grads, given: Any) -> Grads:
    """Of x / abs(x): what changes its length does not count. 0 at 0."""
    size = _operators.abs(given.x)
    along = (d[0] * conjugate(made[0])).real()
    return [(d[0] - made[0] * along) / _operators.where(size == 0, math.inf, size)]


def angle(d: Grads, made: Grads, given: Any) -> Grads:
    real, imag = given.x.real(), given.x.imag()
    size = real * real + imag * imag
    return [of_parts(-d[0] * imag / size, d[0] * real / size)]


def choice(d: Grads, made: Grads, given: Any) -> Grads:
    return [None, _operators.where(given.x, d[0], 0j), _operators.where(given.x, 0j, d[0])]


def spread(d: Tensor, x: Tensor, attributes: dict[str, Any]) -> Tensor:
    """The gradient of a sum over axes, for each element."""
    shape = meta(x).shape
    axes = attributes.get("axis") or range(len(shape))
    kept = [1 if i in [a % len(shape) for a in axes] else n for i, n in enumerate(shape)]
    return _operators.expand(_operators.reshape(d, kept), list(shape))


def total(d: Grads, made: Grads, given: Any) -> Grads:
    return [spread(d[0], given.x, given.attributes)]


def average(d: Grads, made: Grads, given: Any) -> Grads:
    count = meta(given.x).numel // max(meta(made[0]).numel, 1)
    return [spread(d[0], given.x, given.attributes) / max(count, 1)]


def running(d: Grads, made: Grads, given: Any) -> Grads:
    axis = given.attributes.get("axis")
    along = flip(_operators.cumsum(flip(d[0], [axis or 0]), axis or 0), [axis or 0])
    return [_operators.reshape(along, list(meta(given.x).shape))]


def product(d: Grads, made: Grads, given: Any) -> Grads:
    x, y, dz = given.x, given.y, d[0]
    turned_x, turned_y = (bool(given.attributes.get(n)) for n in ("transpose_x", "transpose_y"))
    vector_x, vector_y = len(meta(x).shape) == 1, len(meta(y).shape) == 1
    x, dz = (_operators.unsqueeze(x, 0), _operators.unsqueeze(dz, -1 if vector_y else -2)) if vector_x else (x, dz)
    y, dz = (_operators.unsqueeze(y, 1), _operators.unsqueeze(dz, -1)) if vector_y else (y, dz)
    turned_x, turned_y = turned_x and not vector_x, turned_y and not vector_y
    dx = _operators.matmul(dz, conj(y), False, not turned_y)
    dy = _operators.matmul(conj(x), dz, not turned_x, False)
    dx, dy = transpose(dx, -2, -1) if turned_x else dx, transpose(dy, -2, -1) if turned_y else dy
    return [_operators.squeeze(dx, -2) if vector_x else dx, _operators.squeeze(dy, -1) if vector_y else dy]


def sigmoid(x: Tensor, y: Tensor) -> Tensor:
    slope: Tensor = y * (1 - y)
    return slope


def silu(x: Tensor, y: Tensor) -> Tensor:
    s = _operators.sigmoid(x)
    slope: Tensor = s + y * (1 - s)
    return slope


def over(x: Any) -> Any:
    """1 / x."""
    return 1 / x


RULES: dict[str, Any] = {
    "add": lambda d, made, given: [d[0], d[0]],
    "subtract": lambda d, made, given: [d[0], -d[0]],
    "multiply": multiply, "divide": divide, "pow": power, "matmul": product, "where": choice,
    "abs": absolute, "sign": direction, "angle": angle,
    "conj": lambda d, made, given: [conj(d[0])],
    "neg": lambda d, made, given: [-d[0]],
    "round": lambda d, made, given: [None],
    "sum": total, "mean": average, "cumsum": running,
    "square": analytic(lambda x, y: 2 * x),
    "sqrt": analytic(lambda x, y: 0.5 / y),
    "reciprocal": analytic(lambda x, y: -y * y),
    "exp": analytic(lambda x, y: y),
    "expm1": analytic(lambda x, y: y + 1),
    "log": analytic(lambda x, y: 1 / x),
    "log1p": analytic(lambda x, y: 1 / (1 + x)),
    "log2": analytic(lambda x, y: 1 / (math.log(2) * x)),
    "log10": analytic(lambda x, y: 1 / (math.log(10) * x)),
    "sin": analytic(lambda x, y: _operators.cos(x)),
    "cos": analytic(lambda x, y: -_operators.sin(x)),
    "tan": analytic(lambda x, y: 1 + y * y),
    "sinh": analytic(lambda x, y: _operators.cosh(x)),
    "cosh": analytic(lambda x, y: _operators.sinh(x)),
    "tanh": analytic(lambda x, y: 1 - y * y),
    "asin": analytic(lambda x, y: over(_operators.sqrt(1 - x * x))),
    "acos": analytic(lambda x, y: -over(_operators.sqrt(1 - x * x))),
    "atan": analytic(lambda x, y: 1 / (1 + x * x)),
    "asinh": analytic(lambda x, y: over(_operators.sqrt(x * x + 1))),
    "acosh": analytic(lambda x, y: over(_operators.multiply(_operators.sqrt(x + 1), _operators.sqrt(x - 1)))),
    "atanh": analytic(lambda x, y: 1 / (1 - x * x)),
    "sigmoid": analytic(sigmoid), "silu": analytic(silu),
}  # fmt: skip


def record(name: str, operands: Sequence[Any], attributes: dict[str, Any], made: Tensor) -> None:
    """Makes a result that of a call with a gradient.

    Raises:
        UnsupportedError: the operator has no rule for complex tensors.
    """
    if not has_gradient(made):
        return
    if name not in RULES:
        raise UnsupportedError(
            f"[{name}] has no gradient yet for complex tensors; want detached operands, or no_grad()"
        )
    names = NAMES[: len(operands)]

    def again(attributes: dict[str, Any], **given: Any) -> Any:
        return _complex.answer(name, [given[n] for n in names], dict(attributes))

    def rule(d: Grads, results: Grads, given: SimpleNamespace) -> Sequence[Any]:
        found: Sequence[Any] = RULES[name](d, results, given)
        return found

    recorded(name, again, rule, names, {**dict(zip(names, operands)), "attributes": attributes}, made)


_complex.recorders.append(record)
