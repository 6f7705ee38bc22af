"""Functions that set random elements to 0 or to another value while a network is trained.

The numbers come from the generator of the place of x. The same seed drops the same elements on every device, though
not the same as in Paddle.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from .._calls import _operators
from .._calls._call import renamed
from .._calls._inplace import in_place
from .._calls._precision import rounded, working
from .._core import _dtype
from .._core._caller import axes_text
from .._core._convert import one_number, real, tensor, whole
from .._core._errors import UnsupportedError
from .._core._objects import Tensor, meta
from .._maths._elementwise import of_floats
from .._randomness._sampling import uniforms


@renamed(input="x")
def dropout(
    x: Tensor,
    p: float | Tensor = 0.5,
    axis: int | Sequence[int] | None = None,
    training: bool = True,
    inplace: bool = False,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Tensor:
    """x with elements set to 0 with probability p.

    Args:
        p: from 0 to 1; a tensor of one element is read. With 0 the result is x itself.
        axis: axes along which elements are drawn, counted from 0; along all others they are dropped together.
        training: without it nothing is dropped.
        inplace: whether the result takes the place of x, which is returned then; without axis only.
        mode: "upscale_in_train" divides what is kept by 1 - p in training, "downscale_in_infer" multiplies x by 1 - p
            without it.

    Raises:
        TypeError: p or axis is no number.
        UnsupportedError: x is not floating-point, or inplace is given with axis.
        ValueError: x is no tensor, p or axis is out of range, or there is no such mode.
    """
    if not isinstance(p, (int, float, Tensor)):
        raise TypeError(f"[dropout] p is {p!r}; want a number")
    p = float(one_number(p, "dropout", "p"))
    if p == 0:
        return tensor(x, "dropout", "x")
    if not 0 < p <= 1:
        raise ValueError(f"[dropout] p is {p}; want a number from 0 to 1")
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise ValueError(f"[dropout] mode is {mode!r}; want 'upscale_in_train' or 'downscale_in_infer'")
    of_floats(x, "dropout")
    if axis is not None and inplace:
        raise UnsupportedError("[dropout] inplace is True; want False with axis")
    if inplace:
        return in_place(dropout, x, p, None, training, False, mode)
    if not training:
        return rounded(working(x) * (1 - p), x) if mode == "downscale_in_infer" else _operators.assign(x)
    shape = meta(x).shape
    numbers = drawn(x, shape if axis is None else mask_shape(shape, axis))
    return _operators.dropout(x, numbers, p, mode == "upscale_in_train")


def drawn(x: Tensor, shape: Sequence[int]) -> Tensor:
    """Random numbers from 0 to 1, from the generator of the place of x."""
    return uniforms(list(shape), 0.0, 1.0, _dtype.float32, meta(x).place)


def mask_shape(shape: Sequence[int], axis: Any) -> list[int]:
    """The shape with 1 for all axes but those named.

    Raises:
        TypeError: axis is neither a number nor a list.
        ValueError: one is out of range, or there are more than the shape has.
    """
    if not isinstance(axis, (int, list, tuple)):
        raise TypeError(f"[dropout] axis is {axis!r}; want an int or a list of ints")
    axes = whole("axis", axis)
    if not axes or min(axes) < 0 or max(axes) >= len(shape) or len(axes) > len(shape):
        raise ValueError(f"[dropout] axis is {axis}; want some from 0 to {len(shape) - 1}")
    return [n if a in axes else 1 for a, n in enumerate(shape)]


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """`dropout` of axis 1 as a whole batch: of [n, channels, length] each channel is dropped for all examples alike.

    Args:
        input: of 2 or 3 axes; of 2, an example without its batch.
        inplace: changes nothing but for a warning, as in Paddle.

    Raises:
        RuntimeError: input has another number of axes.
        ValueError: input is no tensor, or p is not in [0, 1].
    """
    if not 0 <= real("dropout1d", "p", p) <= 1:
        raise ValueError(f"[dropout1d] p is {p}; want a number from 0 to 1")
    rank = len(meta(tensor(input, "dropout1d", "input")).shape)
    if rank not in (2, 3):
        raise RuntimeError(f"[dropout1d] input has {axes_text(rank)}; want 2 or 3")
    if inplace:
        warnings.warn("[dropout1d] inplace is True; it changes nothing", stacklevel=2)
    if rank == 3:
        return dropout(input, p, 1, training)
    return _operators.squeeze(dropout(_operators.unsqueeze(input, 0), p, 1, training), 0)


def dropout2d(
    x: Tensor, p: float = 0.5, training: bool = True, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """`dropout` of whole channels of each example of [n, channels, height, width], or of "NHWC".

    Raises:
        ValueError: x is no tensor, has not 4 axes, p is not in [0, 1] or there is no such format.
    """
    return whole_channels("dropout2d", x, p, training, data_format, ("NCHW", "NHWC"))


def dropout3d(
    x: Tensor, p: float = 0.5, training: bool = True, data_format: str = "NCDHW", name: str | None = None
) -> Tensor:
    """`dropout` of whole channels of each example of [n, channels, depth, height, width], or of "NDHWC".

    Raises:
        ValueError: x is no tensor, has not 5 axes, p is not in [0, 1] or there is no such format.
    """
    return whole_channels("dropout3d", x, p, training, data_format, ("NCDHW", "NDHWC"))


def whole_channels(
    function: str, x: Tensor, p: float, training: bool, data_format: str, formats: tuple[str, str]
) -> Tensor:
    """`dropout` of the channels of each example."""
    rank = len(meta(tensor(x, function, "x")).shape)
    if rank != len(formats[0]):
        raise ValueError(f"[{function}] x has {axes_text(rank)}; want {len(formats[0])}")
    if data_format not in formats:
        raise ValueError(f"[{function}] data_format is {data_format!r}; want one of {', '.join(formats)}")
    return dropout(x, p, [0, 1 if data_format == formats[0] else rank - 1], training)


def alpha_dropout(x: Tensor, p: float = 0.5, training: bool = True, name: str | None = None) -> Tensor:
    """a * x + b, with SELU's lower limit in the place of x with probability p; a and b keep mean 0 and variance 1.

    Raises:
        TypeError: p is no number.
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor, or p is not in [0, 1].
    """
    return saturated("alpha_dropout", x, meta(tensor(x, "alpha_dropout", "x")).shape, p, training)


def feature_alpha_dropout(x: Tensor, p: float = 0.5, training: bool = True, name: str | None = None) -> Tensor:
    """`alpha_dropout` of whole channels of each example of [n, channels, ...].

    Raises:
        TypeError: p is no number.
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor, has fewer than 2 axes while training, or p is not in [0, 1].
    """
    shape = meta(tensor(x, "feature_alpha_dropout", "x")).shape
    if training and p != 1 and len(shape) < 2:
        raise ValueError(f"[feature_alpha_dropout] x has {axes_text(len(shape))}; want 2 or more")
    return saturated("feature_alpha_dropout", x, [*shape[:2], *[1] * (len(shape) - 2)], p, training)


def saturated(function: str, x: Tensor, shape: Sequence[int], p: Any, training: bool) -> Tensor:
    """Puts SELU's lower limit in the places of a mask of a shape, and scales to mean 0 and variance 1."""
    if not isinstance(p, (int, float)):
        raise TypeError(f"[{function}] p is {p!r}; want a number")
    if not 0 <= p <= 1:
        raise ValueError(f"[{function}] p is {p}; want a number from 0 to 1")
    if not training:
        return x
    of_floats(x, function)
    if p == 1:
        nothing: Tensor = x * 0.0 + 0.0
        return nothing
    return _operators.alpha_dropout(x, drawn(x, shape), p)


__all__ = [
    "alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
]  # fmt: skip
