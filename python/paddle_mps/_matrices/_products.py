"""Products, distances, differences and what is made of them.

They are compositions of matmul, elementwise operators and reductions on the place of their operands. Half
precision is computed in float32 and rounded once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays._array import reshaped, stack, unbind
from .._arrays._array import slice as cut
from .._calls import _complex, _grad, _operators
from .._calls._call import into, mixed, renamed
from .._calls._inplace import in_place
from .._calls._precision import fractional, rounded
from .._core._caller import dimensions_text
from .._core._convert import axis_of, index, of_one_dtype, one_number, real, said, scalar, tensor
from .._core._errors import errors_of
from .._core._objects import Tensor, meta
from .._maths._arithmetic import cast
from .._maths._elementwise import conj
from ._statistics import magnitudes

if TYPE_CHECKING:
    from .._core._typing import Scalar

__all__ = [
    "addmm",
    "addmm_",
    "baddbmm",
    "baddbmm_",
    "cdist",
    "cross",
    "cumulative_trapezoid",
    "diff",
    "dist",
    "dot",
    "ger",
    "inner",
    "kron",
    "mm",
    "mv",
    "outer",
    "pdist",
    "tensordot",
    "trapezoid",
    "vecdot",
]


@errors_of("matmul")
def mm(input: Tensor, mat2: Tensor, name: str | None = None) -> Tensor:
    """The matrix product of two matrices; further axes and vectors are treated as by `matmul`.

    Raises:
        ValueError: an operand is no tensor, dtypes differ, or the shapes do not fit.
    """
    of_one_dtype("mm", tensor(input, "mm", "input"), tensor(mat2, "mm", "mat2"))
    return _operators.matmul(input, mat2)


def mv(x: Tensor, vec: Tensor, name: str | None = None) -> Tensor:
    """The product of a matrix [m, n] and a vector [n].

    Raises:
        ValueError: an operand is no tensor, dtypes differ, or the shapes are others.
    """
    shapes = [meta(tensor(a, "mv", n)).shape for a, n in ((x, "x"), (vec, "vec"))]
    if len(shapes[0]) != 2 or len(shapes[1]) != 1:
        raise ValueError(f"[mv] shapes are {list(shapes[0])} and {list(shapes[1])}; want [m, n] and [n]")
    of_one_dtype("mv", x, vec)
    return _operators.matmul(x, vec)


@renamed(input="x", tensor="y")
def dot(x: Tensor, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inner product of two vectors, or of each row of two matrices, in the dtype of x.

    Args:
        out: takes the result and is returned.

    Raises:
        ValueError: an operand is no tensor, or dtypes differ.
        RuntimeError: the shapes differ, or have other than one or two dimensions.
    """
    shapes = [meta(tensor(a, "dot", n)).shape for a, n in ((x, "x"), (y, "y"))]
    of_one_dtype("dot", x, y)
    if shapes[0] != shapes[1] or len(shapes[0]) not in (1, 2):
        raise RuntimeError(f"[dot] shapes are {list(shapes[0])} and {list(shapes[1])}; want two of [n] or [m, n]")
    return into(out, _operators.dot(x, y))


def inner(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The sums of products over the last axes; the product with x or y if that is a single number.

    Raises:
        ValueError: an operand is no tensor, dtypes differ, or the last axes have other lengths.
    """
    x, y = tensor(x, "inner", "x"), tensor(y, "inner", "y")
    if meta(x).numel == 1 or meta(y).numel == 1:
        return _operators.multiply(x, y)
    left, right = meta(x).shape, meta(y).shape
    if not left or not right or left[-1] != right[-1]:
        raise ValueError(f"[inner] shapes are {list(left)} and {list(right)}; want last axes of one length")
    of_one_dtype("inner", x, y)
    return _operators.inner(x, y)


@renamed(input="x", vec2="y")
def outer(x: Tensor, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The products of all elements of x with all of y, of shape [x.size, y.size].

    Args:
        out: takes the result and is returned.

    Raises:
        ValueError: an operand is no tensor.
        TypeError: the dtypes do not promote to one.
    """
    x, y = tensor(x, "outer", "x"), tensor(y, "outer", "y")
    return into(out, _operators.outer(x, y))


ger = outer


@renamed(dim="axis")
def cross(x: Tensor, y: Tensor, axis: int | None = 9, name: str | None = None) -> Tensor:
    """The cross products of vectors of three elements.

    Args:
        axis: where the three elements are; 9 or None: the first axis of length 3.

    Raises:
        ValueError: an operand is no tensor, the shapes differ, or there is no axis of length 3.
        IndexError: the axis is out of range.
        TypeError: the dtypes differ.
    """
    shape, other = meta(tensor(x, "cross", "x")).shape, meta(tensor(y, "cross", "y")).shape
    if shape != other:
        raise ValueError(f"[cross] shapes are {list(shape)} and {list(other)}; want them equal")
    if meta(x).dtype is not meta(y).dtype:
        raise TypeError(f"[cross] dtypes are {meta(x).dtype.name} and {meta(y).dtype.name}; want one dtype")
    axis = shape.index(3) if axis in (None, 9) and 3 in shape else axis
    if axis is None or (axis == 9 and len(shape) <= 9):
        raise ValueError(f"[cross] the shape is {list(shape)}; want an axis of length 3")
    axis = axis_of("cross", axis, len(shape), IndexError)
    if shape[axis] != 3:
        raise ValueError(f"[cross] axis {axis} has length {shape[axis]}; want 3")
    return _operators.cross(x, y, axis)


def kron(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Kronecker's product: blocks x[i] * y, along all axes.

    Raises:
        ValueError: an operand is no tensor, or dtypes differ.
    """
    of_one_dtype("kron", tensor(x, "kron", "x"), tensor(y, "kron", "y"))
    return _operators.kron(x, y)


def tensordot(x: Tensor, y: Tensor, axes: Any = 2, name: str | None = None) -> Tensor:
    """The sums of products of x and y over pairs of axes.

    Args:
        axes: a number n for the last n axes of x and the first n of y; a list of axes of both; or
            two lists, axes of x and axes of y, of which the longer one says what the other lacks.
            It may be a tensor. An axis of one element broadcasts.

    Returns:
        A tensor with the other axes of x, then the other axes of y.

    Raises:
        ValueError: an operand is no tensor, or dtypes differ.
        AssertionError: a number of axes is negative, or paired axes have other lengths.
        IndexError: an axis is out of range.
    """
    x, y = tensor(x, "tensordot", "x"), tensor(y, "tensordot", "y")
    of_one_dtype("tensordot", x, y)
    ranks = len(meta(x).shape), len(meta(y).shape)
    mine, its = paired_axes(axes, ranks[0])
    mine, its = ([axis_of("tensordot", a, rank, IndexError) for a in given] for given, rank in zip((mine, its), ranks))
    for a, b in zip(mine, its):
        x, y = matched(x, a, y, b)
    free_x = [a for a in range(ranks[0]) if a not in mine]
    free_y = [a for a in range(ranks[1]) if a not in its]
    shape_x, shape_y = meta(x).shape, meta(y).shape
    terms = math.prod(shape_x[a] for a in mine)
    kept_x, kept_y = [shape_x[a] for a in free_x], [shape_y[a] for a in free_y]
    rows = reshaped(_operators.transpose(x, [*free_x, *mine]), [math.prod(kept_x), terms])
    columns = reshaped(_operators.transpose(y, [*its, *free_y]), [terms, math.prod(kept_y)])
    return reshaped(_operators.matmul(rows, columns), [*kept_x, *kept_y])


def paired_axes(axes: Any, rank: int) -> tuple[list[int], list[int]]:
    """The axes of x and those of y that tensordot pairs."""
    if isinstance(axes, (Tensor, np.ndarray)):
        axes = axes.tolist()
    if isinstance(axes, (int, np.integer)):
        if axes < 0:
            raise AssertionError(f"[tensordot] axes is {axes}; want a number from 0")
        return list(range(rank - int(axes), rank)), list(range(int(axes)))
    if not isinstance(axes, (list, tuple)):
        raise TypeError(f"[tensordot] axes is {axes!r}; want an int, lists of ints or a Tensor")
    for a in axes:
        if not isinstance(a, (int, np.integer, list, tuple, Tensor, np.ndarray)):
            raise TypeError(f"[tensordot] axes is {said(axes)}; want an int, lists of ints or a Tensor")
    if not axes or isinstance(axes[0], (int, np.integer)):
        axes = [axes, axes]
    lists = [a.tolist() if isinstance(a, (Tensor, np.ndarray)) else list(a) for a in axes[:2]]
    first, second = lists if len(lists) == 2 else (lists[0], [])
    first, second = first + second[len(first) :], second + first[len(second) :]
    return [index("axes", a) for a in first], [index("axes", a) for a in second]


def matched(x: Tensor, a: int, y: Tensor, b: int) -> tuple[Tensor, Tensor]:
    """x and y, of which the one whose partner's axis has one element is summed along its own."""
    n, m = meta(x).shape[a], meta(y).shape[b]
    if n == m:
        return x, y
    if n == 1:
        return x, _operators.sum(y, b, meta(y).dtype, True)
    if m == 1:
        return _operators.sum(x, a, meta(x).dtype, True), y
    raise AssertionError(f"[tensordot] axis {a} of x has length {n} and axis {b} of y {m}; want them equal")


def addmm(
    input: Tensor, x: Tensor, y: Tensor, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Tensor:
    """beta * input + alpha * (x @ y) of matrices; input broadcasts, and is not read if beta is 0.

    Raises:
        ValueError: an operand is no tensor, dtypes differ, or the shapes do not fit.
    """
    return product_plus("addmm", input, x, y, beta, alpha)


def baddbmm(
    input: Tensor, x: Tensor, y: Tensor, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Tensor:
    """beta * input + alpha * (x @ y) of batches [b, m, k] and [b, k, n].

    Args:
        input: of three dimensions, which broadcast; or [b, n] or [b, 1], a row for each batch.

    Raises:
        ValueError: an operand is no tensor, dtypes differ, or the shapes do not fit.
    """
    shape, batches = meta(tensor(input, "baddbmm", "input")).shape, meta(tensor(x, "baddbmm", "x")).shape
    if len(shape) == 2 and shape[0] == batches[0]:
        return product_plus("baddbmm", _operators.unsqueeze(input, 1), x, y, beta, alpha)
    return product_plus("baddbmm", input, x, y, beta, alpha)


def product_plus(name: str, input: Tensor, x: Tensor, y: Tensor, beta: float, alpha: float) -> Tensor:
    """beta * input + alpha * (x @ y), after checks of the shapes."""
    rank = 2 if name == "addmm" else 3
    shapes = [meta(tensor(a, name, n)).shape for a, n in ((input, "input"), (x, "x"), (y, "y"))]
    of_one_dtype(name, input, x, y)
    added, left, right = shapes
    if len(left) != rank or len(right) != rank or left[-1] != right[-2] or left[:-2] != right[:-2]:
        want = "[m, k] and [k, n]" if rank == 2 else "[b, m, k] and [b, k, n]"
        raise ValueError(f"[{name}] x and y have shapes {list(left)} and {list(right)}; want {want}")
    shape = [*left[:-1], right[-1]]
    aligned = shape[rank - len(added) :] if len(added) <= rank else []
    if len(added) not in ((1, 2) if rank == 2 else (3,)) or any(n not in (1, m) for n, m in zip(added, aligned)):
        raise ValueError(f"[{name}] input has shape {list(added)}; want one that broadcasts to {shape}")
    if meta(input).dtype.is_floating:
        row = _operators.addmm if rank == 2 else _operators.baddbmm
        return row(input, x, y, float(one_number(beta, name, "beta")), float(one_number(alpha, name, "alpha")))
    product = times(_operators.matmul(x, y), alpha)
    return _operators.add(product, times(input, beta)) if beta else _grad.regardless(product, input)


def times(x: Tensor, factor: float) -> Tensor:
    """factor * x in the dtype of x."""
    if factor == 1:
        return x
    return cast(mixed(_operators.multiply_expression, x, factor), meta(x).dtype)


def addmm_(
    input: Tensor, x: Tensor, y: Tensor, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Tensor:
    """`addmm`, whose result takes the place of input; returns input."""
    return in_place(addmm, input, x, y, beta, alpha)


def baddbmm_(
    input: Tensor, x: Tensor, y: Tensor, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Tensor:
    """`baddbmm`, whose result takes the place of input; returns input."""
    return in_place(baddbmm, input, x, y, beta, alpha)


def vecdot(x: Tensor, y: Tensor | Scalar, axis: int = -1, name: str | None = None) -> Tensor:
    """The sums of products along an axis, for tensors that broadcast; those of int32 are int64.

    The conjugates of a complex x are multiplied.

    Args:
        y: a tensor, or a number.

    Raises:
        ValueError: an operand is no tensor, the shapes do not broadcast, or the axis is out of range.
        TypeError: the dtypes do not promote to one.
    """
    x = tensor(x, "vecdot", "x")
    if scalar(y) is not None:
        return _operators.sum(
            mixed(_operators.multiply_expression, conj(x) if meta(x).dtype.is_complex else x, y), axis
        )
    return rounded(_operators.vecdot(x, tensor(y, "vecdot", "y"), axis), x)


def complex_vecdot(x: Tensor, y: Tensor, axis: int) -> Tensor:
    """The same of complex numbers, which rows of formulas do not take."""
    return _operators.sum(_operators.multiply(conj(x), y), axis)


_complex.COMPOSITES.update(vecdot=complex_vecdot)


MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
MANY_ROWS = 25  # from which on the first mode multiplies matrices


def cdist(
    x: Tensor,
    y: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
    name: str | None = None,
) -> Tensor:
    """The p-norms of the differences of all rows of x and all rows of y: [..., n, c], [..., m, c] to [..., n, m].

    Args:
        p: the norm; see `paddle.linalg.vector_norm`.
        compute_mode: whether the Euclidean distance is computed by a product of matrices, which is faster
            and loses digits of distances that are small beside the vectors: never, always, or if
            there are more than 25 rows.

    Raises:
        ValueError: x or y is no tensor, or there is no such mode.
        AssertionError: a tensor has less than two dimensions, last axes have other lengths, or p is negative.
    """
    if compute_mode not in MODES:
        raise ValueError(f"[cdist] compute_mode is {compute_mode!r}; want one of {', '.join(MODES)}")
    left, right = meta(tensor(x, "cdist", "x")).shape, meta(tensor(y, "cdist", "y")).shape
    if len(left) < 2 or len(right) < 2 or left[-1] != right[-1]:
        raise AssertionError(f"[cdist] shapes are {list(left)} and {list(right)}; want [..., n, c] and [..., m, c]")
    p = float(one_number(p, "cdist", "p"))
    if not p >= 0:
        raise AssertionError(f"[cdist] p is {p}; want a number from 0")
    a, b = (v if meta(v).dtype.is_complex else fractional(v) for v in (x, y))
    many = left[-2] > MANY_ROWS or right[-2] > MANY_ROWS
    by_product = p == 2 and (compute_mode == MODES[1] or (many and compute_mode == MODES[0]))
    return rounded(_operators.cdist(a, b, p, by_product), x)


def pdist(x: Tensor, p: float = 2.0, name: str | None = None) -> Tensor:
    """The p-norms of the differences of all pairs of rows of x, those of the first row first.

    Raises:
        ValueError: x is no tensor.
        AssertionError: x has other than two dimensions.
    """
    shape = meta(tensor(x, "pdist", "x")).shape
    if len(shape) != 2:
        raise AssertionError(f"[pdist] x has {dimensions_text(len(shape))}; want 2")
    return rounded(_operators.pdist(fractional(x), float(one_number(p, "pdist", "p"))), x)


def dist(x: Tensor, y: Tensor, p: float = 2, name: str | None = None) -> Tensor:
    """The p-norm of x - y over all elements, for tensors that broadcast.

    Raises:
        ValueError: x or y is no tensor, dtypes differ, or the shapes do not broadcast.
    """
    of_one_dtype("dist", tensor(x, "dist", "x"), tensor(y, "dist", "y"))
    return rounded(_operators.dist(fractional(x), fractional(y), float(one_number(p, "dist", "p"))), x)


def trapezoid(
    y: Tensor, x: Tensor | None = None, dx: float | None = None, axis: int = -1, name: str | None = None
) -> Tensor:
    """The integral of y along an axis by the trapezoidal rule.

    Args:
        x: where the values are, of the shape of y or a vector along the axis.
        dx: the distance of all values; None: 1.

    Raises:
        ValueError: y is no tensor, x and dx are both given, or shapes do not broadcast.
        TypeError: the values are no floats.
        IndexError: the axis is out of range.
    """
    return _operators.trapezoid(*places_of("trapezoid", y, x, dx, axis))


def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, dx: float | None = None, axis: int = -1, name: str | None = None
) -> Tensor:
    """The integrals of y by the trapezoidal rule from the first value along an axis to each other one.

    Args:
        x, dx: as of `trapezoid`.

    Returns:
        A tensor of the shape of y, with one element fewer along the axis.

    Raises:
        ValueError: y is no tensor, x and dx are both given, or shapes do not broadcast.
        TypeError: the values are no floats.
        IndexError: the axis is out of range.
    """
    return _operators.cumulative_trapezoid(*places_of("cumulative_trapezoid", y, x, dx, axis))


def places_of(name: str, y: Tensor, x: Tensor | None, dx: Any, axis: int) -> tuple[Any, ...]:
    """The operands and attributes of `trapezoid`."""
    if x is not None and dx is not None:
        raise ValueError(f"[{name}] got x and dx; want one of them")
    shape = meta(tensor(y, name, "y")).shape
    for given in (y,) if x is None else (y, tensor(x, name, "x")):
        if not meta(given).dtype.is_floating:
            raise TypeError(f"[{name}] the dtype is {meta(given).dtype.name}; want a floating-point dtype")
    at = axis_of(name, axis, len(shape), IndexError)
    if isinstance(dx, Tensor):
        return y, x, dx, 1.0, at
    return y, x, None, 1.0 if dx is None else float(real(name, "dx", dx)), at


@renamed(input="x", dim="axis")
def diff(
    x: Tensor,
    n: int = 1,
    axis: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The differences of neighbours along an axis, n times over; of bools, whether they differ.

    Args:
        prepend, append: values before and after x along the axis.
        out: takes the result and is returned.

    Raises:
        ValueError: x is no tensor, n is below 1, or what is joined to x has another dtype or shape.
        IndexError: the axis is out of range.
    """
    if index("n", n) < 1:
        raise ValueError(f"[diff] n is {n}; want at least 1")
    axis = axis_of("diff", axis, len(meta(tensor(x, "diff", "x")).shape), IndexError)
    parts = [part for part in (prepend, x, append) if part is not None]
    joined = _operators.concat(parts, axis) if len(parts) > 1 else x
    for _ in range(min(n, max(meta(joined).shape[axis], 1))):  # by then nothing is left, and n may be any number
        joined = _operators.diff(joined, axis)
    return into(out, joined)


# The same of complex numbers, which rows of formulas do not take.


def complex_dot(x: Tensor, y: Tensor) -> Tensor:
    return _operators.sum(_operators.multiply(x, y), -1)


def complex_outer(x: Tensor, y: Tensor) -> Tensor:
    return _operators.multiply(reshaped(x, [meta(x).numel, 1]), reshaped(y, [1, meta(y).numel]))


def complex_inner(x: Tensor, y: Tensor) -> Tensor:
    left, right = meta(x).shape, meta(y).shape
    rows, columns = reshaped(x, [math.prod(left[:-1]), left[-1]]), reshaped(y, [math.prod(right[:-1]), right[-1]])
    return reshaped(_operators.matmul(rows, columns, False, True), [*left[:-1], *right[:-1]])


def complex_kron(x: Tensor, y: Tensor) -> Tensor:
    left, right = meta(x).shape, meta(y).shape
    rank = max(len(left), len(right))
    left, right = (1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right
    blocks = reshaped(x, [d for n in left for d in (n, 1)])
    within = reshaped(y, [d for n in right for d in (1, n)])
    return reshaped(_operators.multiply(blocks, within), [n * m for n, m in zip(left, right)])


def complex_cross(x: Tensor, y: Tensor, axis: int) -> Tensor:
    a, b = unbind(x, axis), unbind(y, axis)
    return stack([a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)], axis)


def complex_cdist(x: Tensor, y: Tensor, p: float, by_product: Any) -> Tensor:
    between = _operators.subtract(_operators.unsqueeze(x, -2), _operators.unsqueeze(y, -3))
    return _operators.p_norm(magnitudes(between), p, -1, False)


def complex_diff(x: Tensor, axis: int) -> Tensor:
    n = meta(x).shape[axis]
    return _operators.subtract(cut(x, [axis], [1], [max(n, 1)]), cut(x, [axis], [0], [max(n - 1, 0)]))


_complex.COMPOSITES.update(
    dot=complex_dot,
    inner=complex_inner,
    kron=complex_kron,
    outer=complex_outer,
    cross=complex_cross,
    cdist=complex_cdist,
    diff=complex_diff,
)


class ProductMethods:
    """These functions as methods of tensors."""

    __slots__ = ()

    addmm = addmm
    addmm_ = addmm_
    baddbmm = baddbmm
    baddbmm_ = baddbmm_
    cdist = cdist
    cross = cross
    cumulative_trapezoid = cumulative_trapezoid
    diff = diff
    dist = dist
    dot = dot
    inner = inner
    kron = kron
    mm = mm
    mv = mv
    outer = outer
    tensordot = tensordot
    trapezoid = trapezoid
