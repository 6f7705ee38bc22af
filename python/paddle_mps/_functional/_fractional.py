"""Fractional pools of paddle.nn.functional: the largest elements of windows whose sizes vary by one.

Window i of n along an axis of `size` elements begins at floor((i + u) * a) - floor(u * a). Without a kernel it ends where
window i + 1 begins, and a is size / n; with one it has so many elements, and a is (size - kernel) / (n - 1). These are
PaddlePaddle's formulas, in float32, whose rounding decides to which window an element belongs.
"""

from __future__ import annotations

import math
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from .._arrays._creation import arange, full, full_like, to_tensor
from .._calls._grad import no_grad
from .._core._convert import described
from .._core._objects import Tensor, meta
from .._maths._elementwise import of_floats
from .._randomness._sampling import rand
from ._window import numbers, shape_of

if TYPE_CHECKING:
    from ._pool import Pooled, Size

    Numbers = Union[np.ndarray[Any, Any], Tensor]

LOWEST = float(np.finfo(np.float32).min)  # of every dtype: elements that are no larger are not found


def fractional_max_pool(
    axes: int, x: Any, output_size: Any, kernel_size: Any, random_u: float | None, return_mask: bool
) -> Pooled:
    """The largest elements along so many spatial axes."""
    function = f"fractional_max_pool{axes}d"
    size = shape_of(function, described(of_floats(x, function), function, "x"), axes)[2:]
    out = counts(function, size, output_size)
    kernel = [0] * axes if kernel_size is None else numbers(kernel_size, axes, "kernel_size")
    for n, k, m in zip(size, kernel, out):
        if m < 1 or k < 0 or n < m - 1 + k:
            raise ValueError(
                f"[{function}] {m} windows of {k} elements along an axis of {n}; want {m - 1 + k} elements or more"
            )
    if random_u is not None and not 0 < random_u < 1:
        raise ValueError(f"[{function}] random_u is {random_u!r}; want a number between 0 and 1")
    if 0 in meta(x).shape:
        shape = [*meta(x).shape[:2], *out]
        y = full(shape, math.nan, meta(x).dtype, place=meta(x).place)
        return (y, full(shape, 0, "int32", place=meta(x).place)) if return_mask else y
    u = rand([], "float32", place=meta(x).place) if random_u is None else np.float32(random_u)
    y, places = largest(x, *elements(size, out, kernel, u), out)
    return (y, places.astype("int32")) if return_mask else y


def counts(function: str, size: tuple[int, ...], output_size: Any) -> list[int]:
    """How many windows there are along each axis, where None is the size of x."""
    if isinstance(output_size, Tensor):
        output_size = output_size.tolist()
    if isinstance(output_size, (list, tuple)) and len(output_size) == len(size):
        output_size = [n if m is None else m for n, m in zip(size, output_size)]
    return numbers(output_size, len(size), "output_size")


def elements(size: tuple[int, ...], out: list[int], kernel: list[int], u: Any) -> tuple[Numbers, Numbers]:
    """The number in the plane of each element of each window, [windows, elements], 0 where a window has fewer; and whether
    it has one there. Both are tensors where u is."""
    places, inside, stride = [], [], math.prod(size)
    for axis, (n, m, k) in enumerate(zip(size, out, kernel)):
        at, has = along(n, m, k, u)
        shape = [1] * (2 * len(size))
        shape[axis], shape[axis + len(size)] = at.shape
        stride //= n
        places.append(at.reshape(shape) * stride)
        inside.append(has.reshape(shape))
    valid = reduce(and_, inside)
    number = sum(places[1:], places[0]) * valid.astype("int64")
    flat = [math.prod(out), math.prod(valid.shape) // math.prod(out)]
    return number.reshape(flat), valid.reshape(flat)


def along(size: int, count: int, kernel: int, u: Any) -> tuple[Numbers, Numbers]:
    """`elements` along one axis: the places and whether they are in the window."""
    fixed = kernel > 0
    a: Any = np.float32(size - kernel) / np.float32(max(count - fixed, 1))
    numbers: Any = np.arange(count, dtype=np.float32)
    if not fixed:
        most = min(
            np.float32(size // count + 2) / a - np.float32(1),
            np.float32(size + 1 - size // count) / a - np.float32(count - 1),
        )
        u = u * (float(most) if isinstance(u, Tensor) else most)
    if isinstance(u, Tensor):
        a, numbers = float(a), arange(count, dtype="float32", device=u.place)
    before = (u * a).astype("int64")
    first = ((numbers + u) * a).astype("int64") - before
    behind = first + kernel if fixed else ((numbers + 1 + u) * a).astype("int64") - before
    longest = kernel if fixed else math.ceil(a) + 1 if isinstance(u, Tensor) else max(int((behind - first).max()), 1)
    steps = arange(longest, device=u.place) if isinstance(u, Tensor) else np.arange(longest)
    at = first.reshape([count, 1]) + steps
    return at, (at < behind.reshape([count, 1])) & (at < size)


def largest(x: Tensor, number: Any, valid: Any, out: list[int]) -> tuple[Tensor, Tensor]:
    """The largest element of each window and its number in the plane; LOWEST and -1 where none is larger than that."""
    place = meta(x).place
    number, valid = (y if isinstance(y, Tensor) else to_tensor(y, place=place) for y in (number, valid))
    flat = x.flatten(2)
    with no_grad():
        found = flat.detach().gather(number.flatten(), 2).reshape([0, 0, *number.shape])
        larger = (found > LOWEST) & valid
        best = larger.where(found, full_like(found, -math.inf)).argmax(-1, True)
        some = larger.any(-1)
        places = number.unsqueeze([0, 1]).take_along_axis(best, -1).squeeze(-1)
    y = some.where(flat.take_along_axis(places, 2), full([1], LOWEST, meta(x).dtype, place=place))
    places = some.where(places, full([1], -1, "int64", place=place))
    return y.reshape([0, 0, *out]), places.reshape([0, 0, *out])


def fractional_max_pool2d(
    x: Tensor,
    output_size: Size,
    kernel_size: Size | None = None,
    random_u: float | None = None,
    return_mask: bool = False,
    name: str | None = None,
) -> Pooled:
    """The largest elements of windows at fractional distances (Graham, Fractional Max-Pooling, 2015).

    Args:
        x: a floating-point tensor [N, C, H, W].
        output_size: how many windows there are, an int, or one an axis; None stands for the size of x.
        kernel_size: the size of a window, likewise; None: windows that do not overlap.
        random_u: a number between 0 and 1, from which follows where windows begin; None: a random one of each call.
        return_mask: whether to return also, as int32, where each element was: its number in the plane [H, W].

    Returns:
        A tensor [N, C, windows...] or, with return_mask, two. A window without an element above -3.4e38, the smallest
        finite float32, has that number and index -1, and no gradient. nan is never the largest.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: the numbers do not fit x, or random_u is out of range.
    """
    return fractional_max_pool(2, x, output_size, kernel_size, random_u, return_mask)


def fractional_max_pool3d(
    x: Tensor,
    output_size: Size,
    kernel_size: Size | None = None,
    random_u: float | None = None,
    return_mask: bool = False,
    name: str | None = None,
) -> Pooled:
    """`fractional_max_pool2d` along three axes: x is [N, C, D, H, W]."""
    return fractional_max_pool(3, x, output_size, kernel_size, random_u, return_mask)


__all__ = ["fractional_max_pool2d", "fractional_max_pool3d"]
