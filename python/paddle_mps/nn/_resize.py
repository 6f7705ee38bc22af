"""Interpolation of images: each axis by itself, as a sum of elements at some indices times weights.

Indices and weights are computed here, from sizes alone, in the precision in which Paddle computes them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from .._arrays._array import reshaped
from .._arrays._creation import room, value_of
from .._calls import _operators, _tracing
from .._calls._call import renamed
from .._core._caller import axes_text, called
from .._core._convert import said, tensor
from .._core._dtype import float32
from .._core._errors import UnsupportedError
from .._core._objects import Tensor, from_array, meta
from ._pool import adaptive_avg

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    Numbers = npt.NDArray[Any]
    Sizes = Union[int, Sequence[int], Tensor]
    Scales = Union[float, Sequence[float], Tensor]

Taps = "list[tuple[Numbers, Numbers]]"

LAYOUTS = {3: ("NCW", "NWC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}
RANKS = {"linear": (3,), "nearest": (4, 5), "bilinear": (4,), "bicubic": (4,), "trilinear": (5,), "area": (3, 4, 5)}


def ratio(n: int, m: int, scale: float, align_corners: bool) -> np.float32:
    """The distance of neighbours of the result in elements of x."""
    if m <= 1:
        return np.float32(0)
    if align_corners:
        return np.float32(n - 1) / np.float32(m - 1)
    return np.float32(1 / np.float32(scale)) if scale > 0 else np.float32(n) / np.float32(m)


def nearest(n: int, m: int, step: np.float32, align_corners: bool, align_mode: int) -> list[tuple[Numbers, Numbers]]:
    at = (step * np.arange(m, dtype=np.float32)).astype(np.int64)
    return [(at.clip(0, n - 1), np.ones(0))]


def two_neighbours(
    n: int, m: int, step: np.float32, align_corners: bool, align_mode: int
) -> list[tuple[Numbers, Numbers]]:
    """Two neighbours. What lies before the first element is the first, and behind the last the last."""
    at: Numbers = np.arange(m, dtype=np.float32)
    centred = align_mode == 0 and not align_corners
    at = np.maximum(step * (at + np.float32(0.5)) - np.float32(0.5), 0) if centred else step * at
    low = np.minimum(np.floor(at).astype(np.int64), n - 1)
    share = (at - low).astype(np.float32)
    return [(low, 1 - share), (np.minimum(low + 1, n - 1), share)]


def cubic(n: int, m: int, step: np.float32, align_corners: bool, align_mode: int) -> list[tuple[Numbers, Numbers]]:
    """Four neighbours by Keys' kernel with a = -0.75; those outside are the nearest element."""
    at: Numbers = np.arange(m, dtype=np.float64)
    at = (float(step) * (at if align_corners else at + 0.5) - (0 if align_corners else 0.5)).astype(np.float32)
    low = np.floor(at)
    t = at - low
    a = np.float32(-0.75)

    def near(d: Numbers) -> Numbers:
        return np.asarray(((a + 2) * d - (a + 3)) * d * d + 1)

    def far(d: Numbers) -> Numbers:
        return np.asarray(((a * d - 5 * a) * d + 8 * a) * d - 4 * a)

    weights = [far(t + 1), near(t), near(1 - t), far(2 - t)]
    return [((low.astype(np.int64) + i - 1).clip(0, n - 1), w) for i, w in enumerate(weights)]


def triangle(d: Numbers) -> Numbers:
    return np.asarray(np.maximum(1 - np.abs(d), 0))


def keys(d: Numbers) -> Numbers:
    """Keys' kernel with a = -0.5, where antialiased images have it."""
    d = np.abs(d)
    return np.where(d < 1, (1.5 * d - 2.5) * d * d + 1, np.where(d < 2, ((2.5 - 0.5 * d) * d - 4) * d + 2, 0))


def antialiased(n: int, m: int, step: float, reach: int, kernel: Callable[[Numbers], Numbers]) -> Any:
    """All elements within `reach`, wider by the step where an image becomes smaller; the weights sum to 1."""
    wide = max(step, 1)
    centre = step * (np.arange(m) + 0.5)
    first = np.maximum((centre - reach * wide + 0.5).astype(np.int64), 0)
    behind = np.minimum((centre + reach * wide + 0.5).astype(np.int64), n)
    at = first[:, None] + np.arange((behind - first).max())
    weights = np.where(at < behind[:, None], kernel((at - centre[:, None] + 0.5) / wide), 0)
    weights /= weights.sum(1, keepdims=True)
    return list(zip(at.clip(0, n - 1).T, weights.T))


METHODS = {
    "nearest": nearest,
    "linear": two_neighbours,
    "bilinear": two_neighbours,
    "trilinear": two_neighbours,
    "bicubic": cubic,
}
SMOOTH = {"bilinear": (1, triangle), "bicubic": (2, keys)}


def along(x: Tensor, axis: int, taps: list[tuple[Numbers, Numbers]]) -> Tensor:
    """The sums of elements at the indices of an axis, times the weights."""
    known, total = meta(x), None
    shape = [1] * len(known.shape)
    shape[axis] = -1
    for at, weights in taps:
        term = _operators.gather(x, from_array(at, known.place), axis)
        if weights.size:
            factors = from_array(np.asarray(weights, np.float32), known.place)
            term = term * reshaped(_operators.cast(factors, known.dtype), shape)
        total = term if total is None else total + term
    assert total is not None
    return total


def wanted(x: Any, size: Any, scale_factor: Any, recompute: Any, places: list[int]) -> tuple[list[int], list[float]]:
    """The size of the result, and the factors that were given, else zeros.

    Raises:
        AssertionError: a size is below 1.
        TypeError: an argument is no list of numbers.
        ValueError: there are not as many as spatial axes, or a factor is not above 0.
    """
    shape = meta(x).shape
    have = [shape[i] for i in places]
    if size is not None:
        if scale_factor is not None:
            raise ValueError(f"[{called('interpolate')}] got size and scale_factor; want one of them")
        if recompute:
            raise ValueError(f"[{called('interpolate')}] got size and recompute_scale_factor; want one of them")
        if isinstance(size, (Tensor, np.ndarray)):
            size = size.tolist()
        if not isinstance(size, (list, tuple)):
            raise TypeError(f"[{called('interpolate')}] size is {size!r}; want a list of ints")
        sizes = [int(value_of(n)) for n in size]
        if len(sizes) != len(have):
            raise ValueError(f"[{called('interpolate')}] size has {len(sizes)} numbers; want {len(have)}")
        if any(n < 1 for n in sizes):
            raise AssertionError(f"[{called('interpolate')}] size is {sizes}; want numbers from 1")
        return sizes, [0.0] * len(have)
    if isinstance(scale_factor, (Tensor, np.ndarray)):
        scale_factor = scale_factor.tolist()
    if isinstance(scale_factor, (int, float)):
        scale_factor = [scale_factor] * len(have)
    if not isinstance(scale_factor, (list, tuple)):
        raise TypeError(f"[{called('interpolate')}] scale_factor is {scale_factor!r}; want numbers")
    scales = [float(value_of(s)) for s in scale_factor]
    if len(scales) != len(have) or any(s <= 0 for s in scales):
        raise ValueError(f"[{called('interpolate')}] scale_factor is {scales}; want {len(have)} numbers above 0")
    if recompute:
        return [math.floor(n * s) for n, s in zip(have, scales)], [0.0] * len(have)
    return [int(np.float32(n) * np.float32(s)) for n, s in zip(have, scales)], scales


def checked(x: Any, mode: str, align_corners: Any, align_mode: int, antialias: Any, data_format: Any) -> list[int]:
    """The spatial axes of x, for a mode that x has the axes for.

    Raises:
        TypeError: align_corners or antialias is no bool.
        ValueError: an argument is none of the allowed ones.
    """
    rank = len(meta(tensor(x, "interpolate", "x")).shape)
    if rank not in LAYOUTS:
        raise ValueError(f"[{called('interpolate')}] x has {axes_text(rank)}; want 3, 4 or 5")
    if not isinstance(mode, str) or mode not in RANKS or rank not in RANKS[mode]:
        raise ValueError(
            f"[{called('interpolate')}] mode is {mode!r} for {axes_text(rank)}; want one of {', '.join(RANKS)}"
        )
    if not isinstance(align_corners, bool) or not isinstance(antialias, bool):
        raise TypeError(
            f"[{called('interpolate')}] align_corners is {align_corners!r} and antialias {antialias!r}; want bools"
        )
    if align_mode not in (0, 1):
        raise ValueError(f"[{called('interpolate')}] align_mode is {align_mode}; want 0 or 1")
    if align_corners and mode == "nearest":
        raise ValueError(f"[{called('interpolate')}] align_corners is set for 'nearest'; want another mode")
    if antialias and mode not in SMOOTH:
        raise ValueError(f"[{called('interpolate')}] antialias is set for {mode!r}; want 'bilinear' or 'bicubic'")
    if data_format not in LAYOUTS[rank]:
        raise ValueError(f"[{called('interpolate')}] data_format is {data_format!r}; want {' or '.join(LAYOUTS[rank])}")
    return list(range(1, rank - 1)) if data_format == LAYOUTS[rank][1] else list(range(2, rank))


def resized(
    x: Tensor,
    size: Sizes | None = None,
    scale_factor: Scales | None = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """See `interpolate`, whose arguments these are."""
    for name, word in (("mode", mode), ("data_format", data_format)):
        if not isinstance(word, str) and (word is not None or name == "mode"):
            raise TypeError(f"[{called('interpolate')}] {name} is {said(word)}; want a str")
    mode, rank = mode.lower(), len(meta(tensor(x, "interpolate", "x")).shape)
    given = LAYOUTS.get(rank, ("",))[0] if data_format is None else data_format.upper()
    axes = checked(x, mode, align_corners, align_mode, antialias, given)
    if size is None and scale_factor is None:
        raise ValueError(f"[{called('interpolate')}] got neither size nor scale_factor; want one of them")
    if mode == "area":
        if size is None:
            raise ValueError(f"[{called('interpolate')}] mode is 'area' without size; want one")
        return adaptive_avg(rank - 2, x, size, {3: "NCL", 4: "NCHW", 5: "NCDHW"}[rank])
    sizes, scales = wanted(x, size, scale_factor, recompute_scale_factor, axes)
    known = meta(x)
    if not known.dtype.is_floating and mode != "nearest" and known.dtype.name != "uint8":
        raise UnsupportedError(
            f"[{called('interpolate')}] x is {known.dtype.name}; want a floating-point tensor for {mode!r}"
        )
    if any(n < 1 for n in sizes):
        raise ValueError(f"[{called('interpolate')}] the result would have size {sizes}; want numbers from 1")
    narrow = mode != "nearest" and known.dtype.itemsize < 4
    y = _operators.cast(x, float32) if narrow else x
    shape = list(known.shape)
    for axis, m in zip(axes, sizes):
        shape[axis] = m
    room("interpolate", shape, meta(y).dtype, known.place)
    for axis, m, scale in zip(axes, sizes, scales):
        n = known.shape[axis]
        _tracing.closed("interpolate", "which elements it reads follows from both sizes of an axis", n, m)
        if antialias:
            step = (
                0 if align_corners and m == 1 else (n - 1) / (m - 1) if align_corners else 1 / scale if scale else n / m
            )
            taps = antialiased(n, m, step, *SMOOTH[mode])
        else:
            taps = METHODS[mode](n, m, ratio(n, m, scale, align_corners), align_corners, align_mode)
        y = along(y, axis, taps)
    return _operators.cast(y, known.dtype) if narrow else y


@renamed(input="x")
def interpolate(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """interpolate(x, size=None, scale_factor=None, mode="nearest", align_corners=False, align_mode=0,
    data_format=None, recompute_scale_factor=None, antialias=False, name=None): images of another size.

    Args:
        x: a tensor [N, C, W], [N, C, H, W] or [N, C, D, H, W].
        size: the size of the result, a number an axis.
        scale_factor: how many times as large it is instead, a number or one an axis.
        mode: "nearest" (4 or 5 axes of x), "linear" (3), "bilinear" (4), "trilinear" (5), "bicubic" (4), or "area",
            which is `adaptive_avg_pool2d`.
        align_corners: whether the first and the last elements of x and the result lie on each other.
        align_mode: of the linear modes without align_corners: 0 if the centres of elements lie at i + 0.5, 1 if at i.
        data_format: "NCW", "NWC", "NCHW", "NHWC", "NCDHW" or "NDHWC"; None: channels in front.
        recompute_scale_factor: whether the factor is that of the sizes, which are whole; also the argument behind
            align_corners if that is no int, as in PyTorch.
        antialias: whether "bilinear" and "bicubic" weigh all elements that one of a smaller result stands for.

    Raises:
        TypeError, ValueError: an argument is none of those.
        UnsupportedError: x is an integer tensor in another mode than "nearest" (uint8: rounded towards zero).
    """
    if len(args) >= 5 and type(args[4]) is not int:
        for word, value in zip(("recompute_scale_factor", "antialias"), args[4:]):
            if word in kwargs:
                raise TypeError(f"[{called('interpolate')}] got {word} twice; want it once")
            kwargs[word] = value
        args = args[:4]
    return resized(x, *args, **kwargs)


def upsample(
    x: Tensor,
    size: Sizes | None = None,
    scale_factor: Scales | None = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """`interpolate`."""
    return resized(x, size, scale_factor, mode, align_corners, align_mode, data_format)


__all__ = ["interpolate", "upsample"]
