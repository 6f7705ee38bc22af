"""Tensors from the random number generator of their place."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from .._arrays._creation import dims, fit, floating, like, refuse, requiring, sized, value_of
from .._calls import _operators
from .._calls._call import into, renamed
from .._core import _dtype
from .._core._caller import called
from .._core._convert import index, tensor
from .._core._dtype import DType, DTypeLike
from .._core._errors import SizeError
from .._core._objects import Tensor, graded_leaf
from .._core._place import Place
from .._devices._random import one_seed

if TYPE_CHECKING:
    from .._core._typing import PlaceLike, ShapeLike


@sized
def randn(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Normally distributed values with mean 0 and standard deviation 1.

    Args:
        shape: dimensions, from 0; they may stand as arguments of their own.
        dtype: a floating-point dtype; None: the default one.
        out: takes the result and is returned.
        device, place: where the tensor lives; None: the current place. The same seed gives the
            same values everywhere.

    Raises:
        UnsupportedError: dtype is no floating-point dtype.
    """
    refuse(pin_memory)
    kind = floating(dtype)
    return into(out, normals(shape, 0.0, 1.0, *fit(kind, place, device)))


standard_normal = randn


def normals(shape: ShapeLike, mean: float, std: float, dtype: DType, place: Place) -> Tensor:
    return _operators.normal(place.word, dims(shape), mean, std, dtype)


def normal_(x: Tensor, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> Tensor:
    """Writes normally distributed values into x; returns x."""
    graded_leaf(tensor(x, "normal_", "x"), "normal_")
    shape, kind, target = like(x, None, None, None)
    return into(x, normals(shape, mean, std, kind, target))


@sized
def rand(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Uniformly distributed values in [0, 1); see `randn`."""
    refuse(pin_memory)
    kind = floating(dtype)
    return into(out, uniforms(shape, 0.0, 1.0, *fit(kind, place, device)))


def uniforms(shape: ShapeLike, low: float, high: float, dtype: DType, place: Place) -> Tensor:
    return _operators.uniform(place.word, dims(shape), low, high, dtype)


@requiring
def uniform(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    min: float = 0,
    max: float = 1.0,
    seed: int = 0,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Uniformly distributed values in [min, max).

    Args:
        seed: not 0: these values come from a generator of their own with this seed.
    """
    kind, target = fit(floating(dtype), place, device)
    bounds = value_of(min), value_of(max)
    if seed.__class__ is int and seed == 0:
        return into(out, uniforms(shape, *bounds, kind, target))
    with one_seed(target, index("seed", seed)):
        return into(out, uniforms(shape, *bounds, kind, target))


@renamed(size="shape")
def normal(
    mean: float | Tensor = 0.0,
    std: float | Tensor = 1.0,
    shape: ShapeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
) -> Tensor:
    """Normally distributed values.

    Args:
        mean, std: numbers, or tensors that say them element by element; the result then has the
            shape that they broadcast to.
        shape: dimensions, where mean and std are numbers.

    Raises:
        TypeError: numbers without a shape.
    """
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        given = [t for t in (mean, std) if isinstance(t, Tensor)]
        centre = sum(given[1:], given[0]) * 0
        noise = normals(centre.shape, 0.0, 1.0, centre.dtype, centre.place)
        return into(out, noise * std + mean + centre)
    if shape is None:
        raise TypeError(f"[{called('normal')}] mean and std are numbers and there is no shape; want one")
    kind = _dtype.default()
    return into(out, normals(shape, float(mean), float(std), *fit(kind, place, device)))


def randint(
    low: int = 0,
    high: int | None = None,
    shape: ShapeLike = (1,),
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
) -> Tensor:
    """Uniformly distributed integers in [low, high), or in [0, low) without high.

    Args:
        dtype: an integer dtype; None: int64.

    Raises:
        ValueError: there is no integer in the range.
        IndexError: a bound is out of the range of the dtype.
    """
    bounds = (0, index("low", low)) if high is None else (index("low", low), index("high", high))
    if bounds[0] >= bounds[1]:
        raise ValueError(f"[{called('randint')}] the range is [{bounds[0]}, {bounds[1]}); want low below high")
    kind = _dtype.int64 if dtype is None else _dtype.dtype(dtype)
    if kind.is_integer:
        least, most = limits(kind)
        if bounds[0] < least or bounds[1] - 1 > most:
            raise IndexError(
                f"[{called('randint')}] the range is [{bounds[0]}, {bounds[1]}); want integers of {kind.name}"
            )
    kind, target = fit(kind, place, device)
    return _operators.randint(target.word, dims(shape), *bounds, kind)


@functools.cache
def limits(dtype: DType) -> tuple[int, int]:
    """The smallest and the largest integer of a dtype."""
    found = np.iinfo(dtype.numpy)
    return int(found.min), int(found.max)


def randint_like(
    x: Tensor, low: int = 0, high: int | None = None, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """Random integers in the shape, place and unless given the dtype of x; see `randint`."""
    shape, kind, target = like(x, dtype, None, None)
    if not kind.is_floating:
        return randint(low, high, shape, kind, place=target)
    return randint(low, high, shape, place=target).cast(kind)


@requiring
def randperm(
    n: int,
    dtype: DTypeLike = "int64",
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """The integers from 0 to n - 1 in random order.

    Raises:
        ValueError: n is negative.
    """
    refuse(pin_memory)
    count = index("n", n)
    if count < 0:
        raise SizeError(f"[randperm] n is {count}; want a number from 0")
    kind, target = fit(_dtype.dtype(dtype), place, device)
    return into(out, _operators.randperm(target.word, count, kind))


@requiring
def rand_like(
    input: Tensor,
    name: str | None = None,
    *,
    dtype: DTypeLike | None = None,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Uniformly distributed values in [0, 1), in the shape, dtype and place of the input."""
    shape, kind, target = like(input, dtype, place, device)
    return uniforms(shape, 0.0, 1.0, kind, target)


@requiring
@renamed(input="x")
def randn_like(
    x: Tensor,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Normally distributed values with mean 0 and deviation 1, in the shape, dtype and place of x."""
    shape, kind, target = like(x, dtype, place, device)
    return normals(shape, 0.0, 1.0, kind, target)


class SamplingMethods:
    """These functions as methods of tensors."""

    __slots__ = ()

    normal_ = normal_
