"""Functions of paddle.nn.functional that only move elements: padding, shuffles and masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays._array import reshaped
from .._arrays._creation import filled, value_of
from .._arrays._indexing import put_into
from .._calls import _complex, _operators
from .._core import _dtype
from .._core._caller import axes_text, called
from .._core._convert import index, numeric, one_number, tensor, whole
from .._core._errors import UnsupportedError, errors_of
from .._core._objects import Tensor, meta

if TYPE_CHECKING:
    from .._core._dtype import DTypeLike
    from .._core._typing import Scalar

# By the number of axes the formats with channels in front, and those with channels last.
FORMATS = {3: ("NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}
MODES = ("constant", "reflect", "replicate", "circular")


@errors_of("index_put")
def one_hot(x: Tensor, num_classes: int | Tensor = -1, name: str | None = None) -> Tensor:
    """For each integer a float32 row of zeros with a one at that index.

    Args:
        num_classes: the length of a row; -1: one more than the largest integer.

    Raises:
        UnsupportedError: x is neither int32 nor int64.
        ValueError: an integer is below 0 or from num_classes on, or num_classes is -1 and there is none.
    """
    m = meta(tensor(x, "one_hot", "x"))
    if m.dtype not in (_dtype.int32, _dtype.int64):
        raise UnsupportedError(f"[{called('one_hot')}] x is {m.dtype.name}; want int32 or int64")
    count = index("num_classes", value_of(num_classes))
    if count == -1:
        if not m.numel:
            raise ValueError(f"[{called('one_hot')}] x has no elements; want some, or num_classes")
        count = int(_operators.max(x).item()) + 1
    if count < 0 or (m.numel and not count):
        raise ValueError(f"[{called('one_hot')}] num_classes is {count}; want -1 or a number above each integer")
    made = filled((m.numel, count), 0, _dtype.float32, m.place)
    if not m.numel:
        return reshaped(made, [*m.shape, count])
    line = reshaped(x, [m.numel])
    # An index below 0 would count from the end: it becomes one that is out of range.
    line = _operators.where(line < 0, filled((), count, m.dtype, m.place), line)
    rows = _operators.range(m.place.word, 0, 1, m.numel, _dtype.int64)
    put_into(made, made, filled((), 1, _dtype.float32, m.place), [rows, line])
    return reshaped(made, [*m.shape, count])


def sequence_mask(
    x: Tensor, maxlen: int | Tensor | None = None, dtype: DTypeLike = "int64", name: str | None = None
) -> Tensor:
    """For each length a row of that many ones, then zeros.

    Args:
        maxlen: the length of a row; None: the largest length.
        dtype: of the result.

    Raises:
        ValueError: maxlen is negative, or None where there is no length.
    """
    x = tensor(x, "sequence_mask", "x")
    length = int(_operators.max(x).item()) if maxlen is None else int(one_number(maxlen, "sequence_mask", "maxlen"))
    if length < 0:
        raise ValueError(f"[sequence_mask] maxlen is {length}; want a number from 0")
    return _operators.sequence_mask(x, length, dtype)


def pad(
    x: Tensor,
    pad: Any,
    mode: str = "constant",
    value: Scalar | Tensor = 0.0,
    data_format: str | None = None,
    pad_from_left_axis: bool = True,
    name: str | None = None,
) -> Tensor:
    """x with elements added before and behind along its axes.

    Args:
        pad: two numbers an axis, [before, behind, ...]. With as many as x has axes twice they are in the order
            of the axes, or backwards without pad_from_left_axis; with fewer they are for the last axis, the one
            before it and so on, of those that are not batch and channels where data_format says which those are.
            Negative ones cut.
        mode: what is added: "constant" value, "reflect" what lies behind the edge on its other side,
            "replicate" the edge, "circular" what lies at the other end.
        data_format: "NCL", "NLC", "NCHW", "NHWC", "NCDHW" or "NDHWC".

    Raises:
        AssertionError: the mode or the format does not exist, or not for so many axes.
        TypeError: pad is no list of ints.
        ValueError: pad has a wrong length or a wrong number.
    """
    m = meta(tensor(x, "pad", "x"))
    shape = m.shape
    if mode not in MODES:
        raise AssertionError(f"[{called('pad')}] mode is {mode!r}; want one of {', '.join(MODES)}")
    if not isinstance(pad, (list, tuple, Tensor, np.ndarray)):
        raise TypeError(f"[{called('pad')}] pad is {pad!r}; want a list of ints")
    amounts = list(whole("pad", pad))
    pairs = padded_axes(shape, amounts, mode, data_format, pad_from_left_axis)
    for n, (before, behind) in zip(shape, pairs):
        if mode == "reflect" and max(before, behind) >= max(n, 1):
            raise ValueError(
                f"[{called('pad')}] {before} and {behind} elements of an axis of {n}; want fewer than it has"
            )
    number = numeric("pad", "value", value_of(value))
    pads = [n for pair in pairs for n in pair]
    if isinstance(number, _complex.NUMBERS):
        if m.dtype.is_complex and mode == "constant":
            return complex_pad(x, pads, complex(number))
        number = number.real
    return _operators.pad(x, pads, mode, number)


def complex_pad(x: Tensor, pads: list[int], value: complex) -> Tensor:
    """`pad` with a complex number, which attributes of rows are not: edges are joined."""
    m = meta(x)
    made = _operators.pad(x, [min(n, 0) for n in pads], "constant", 0)
    for axis in range(len(m.shape)):
        shape = list(meta(made).shape)
        edges = [
            filled((*shape[:axis], max(n, 0), *shape[axis + 1 :]), value, m.dtype, m.place)
            for n in pads[2 * axis : 2 * axis + 2]
        ]
        made = _operators.concat([edges[0], made, edges[1]], axis)
    return made


def padded_axes(
    shape: Sequence[int], amounts: list[int], mode: str, data_format: str | None, from_left: bool
) -> list[tuple[int, int]]:
    """How much is added before and behind each axis."""
    rank = len(shape)
    given = [*amounts, *[0] * (len(amounts) % 2)]
    pairs = list(zip(given[::2], given[1::2]))
    if mode == "constant" and len(pairs) >= rank:
        refuse_cuts(amounts)
        return pairs[:rank] if from_left else pairs[:rank][::-1]
    if rank not in FORMATS:
        if mode != "constant":
            raise AssertionError(f"[{called('pad')}] x has {axes_text(rank)}; want 3, 4 or 5")
        refuse_cuts(amounts)
        return [(0, 0)] * (rank - len(pairs)) + pairs[::-1]
    first, last = FORMATS[rank]
    if data_format not in (None, first, last):
        raise AssertionError(
            f"[{called('pad')}] data_format is {data_format!r}; want {first} or {last} for {axes_text(rank)}"
        )
    if mode != "constant" and len(pairs) != rank - 2:
        raise ValueError(f"[{called('pad')}] pad has {len(amounts)} numbers; want {2 * (rank - 2)}")
    behind = 1 if data_format == last else 0
    return [(0, 0)] * (rank - behind - len(pairs)) + pairs[::-1] + [(0, 0)] * behind


def refuse_cuts(amounts: Sequence[int]) -> None:
    if any(n < 0 for n in amounts):
        raise ValueError(f"[{called('pad')}] pad is {list(amounts)}; want numbers from 0")


def zeropad2d(x: Tensor, padding: Any, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """`pad` with zeros: [left, right, top, bottom]."""
    return pad(x, padding, "constant", 0, data_format)


def channels_last(function: str, x: Any, factor: Any, data_format: str, what: str) -> bool:
    """Whether the format has channels last.

    Raises:
        TypeError: the factor is no int.
        ValueError: x has another number of axes than 4, or there is no such format.
    """
    shape = meta(tensor(x, function, "x")).shape
    if not isinstance(factor, int) or isinstance(factor, bool):
        raise TypeError(f"[{function}] {what} is {factor!r}; want an int")
    if len(shape) != 4 or factor <= 0:
        raise ValueError(
            f"[{function}] x has {axes_text(len(shape))} and {what} is {factor}; want 4 axes and a number from 1"
        )
    if data_format not in FORMATS[4]:
        raise ValueError(f"[{function}] data_format is {data_format!r}; want 'NCHW' or 'NHWC'")
    return data_format == "NHWC"


def pixel_shuffle(x: Tensor, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """[n, c * r * r, h, w] as [n, c, h * r, w * r]: channels become squares of r by r pixels.

    Raises:
        TypeError: upscale_factor is no int.
        ValueError: the channels are no multiple of its square, or x has another number of axes than 4.
    """
    last = channels_last("pixel_shuffle", x, upscale_factor, data_format, "upscale_factor")
    return _operators.pixel_shuffle(x, upscale_factor, last, False)


def pixel_unshuffle(x: Tensor, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """The reverse of `pixel_shuffle`: squares of r by r pixels become channels.

    Raises:
        TypeError: downscale_factor is no int.
        ValueError: height or width is no multiple of it, or x has another number of axes than 4.
    """
    last = channels_last("pixel_unshuffle", x, downscale_factor, data_format, "downscale_factor")
    return _operators.pixel_unshuffle(x, downscale_factor, last, False)


def channel_shuffle(x: Tensor, groups: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """The channels of x, dealt from groups in turn.

    Raises:
        TypeError: groups is no int.
        ValueError: the channels are no multiple of it, or x has another number of axes than 4.
    """
    return _operators.channel_shuffle(x, groups, channels_last("channel_shuffle", x, groups, data_format, "groups"))


__all__ = [
    "channel_shuffle",
    "one_hot",
    "pad",
    "pixel_shuffle",
    "pixel_unshuffle",
    "sequence_mask",
    "zeropad2d",
]
