"""Interpolation of images: sizes and modes of Paddle as those of the row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from .._arrays._creation import room, value_of
from .._calls import _operators, _tracing
from .._calls._call import renamed
from .._core._caller import axes_text, called
from .._core._convert import said, tensor
from .._core._dtype import float32
from .._core._errors import UnsupportedError
from .._core._objects import Tensor, meta
from ._pool import adaptive_avg

if TYPE_CHECKING:
    from collections.abc import Sequence

    Sizes = Union[int, Sequence[int], Tensor]
    Scales = Union[float, Sequence[float], Tensor]

LAYOUTS = {3: ("NCW", "NWC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}
RANKS = {"linear": (3,), "nearest": (4, 5), "bilinear": (4,), "bicubic": (4,), "trilinear": (5,), "area": (3, 4, 5)}


# Paddle's modes as those of the row.
METHODS = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}
LINEAR = ("linear", "bilinear", "trilinear")
SMOOTH = ("bilinear", "bicubic")


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
    shape = list(known.shape)
    for axis, m in zip(axes, sizes):
        shape[axis] = m
        _tracing.closed(
            "interpolate", "which elements it reads follows from both sizes of an axis", known.shape[axis], m
        )
    room("interpolate", shape, float32 if mode != "nearest" and known.dtype.itemsize < 4 else known.dtype, known.place)
    coordinates = "align_corners" if align_corners else "half_pixel"
    if mode == "nearest" or (mode in LINEAR and align_mode == 1 and not align_corners):
        coordinates = "asymmetric"
    # Antialiased images have another kernel, and no weights outside.
    return _operators.interpolate(
        x, axes, sizes, scales, None, METHODS[mode], coordinates, "floor", -0.5 if antialias else -0.75, antialias, antialias, 0.0, True
    )  # fmt: skip


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
