"""What the arguments of convolutions and pools mean: sizes, padding and formats, as numbers for each spatial axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core._caller import axes_text, called
from .._core._meta import Meta

FORMATS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def numbers(value: Any, count: int, what: str) -> list[int]:
    """A whole number for each of `count` axes; one stands for all.

    Raises:
        ValueError: it is something else.
    """
    if isinstance(value, (list, tuple)) and len(value) == count and all(whole(v) for v in value):
        return [int(v) for v in value]
    if whole(value):
        return [int(value)] * count
    raise ValueError(f"[{called(what)}] {what} is {value!r}; want an int or {count}")


def whole(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def last(function: str, data_format: str, axes: int) -> bool:
    """Whether a format has its channels last.

    Raises:
        ValueError: there is no such format for so many axes.
    """
    if data_format not in FORMATS[axes]:
        raise ValueError(f"[{function}] data_format is {data_format!r}; want {' or '.join(FORMATS[axes])}")
    return data_format == FORMATS[axes][1]


def shape_of(function: str, m: Meta, axes: int, name: str = "x") -> tuple[int, ...]:
    """The shape of images, or of weights, with so many spatial axes.

    Raises:
        ValueError: it has another number of axes.
    """
    if len(m.shape) != axes + 2:
        raise ValueError(f"[{function}] {name} has {axes_text(len(m.shape))}; want {axes + 2}")
    return m.shape


def spatial(shape: Sequence[int], channels_last: bool) -> list[int]:
    """The sizes of the spatial axes."""
    return list(shape[1:-1] if channels_last else shape[2:])


def padding_of(
    function: str, padding: Any, size: Sequence[int], kernel: Sequence[int], stride: Sequence[int], channels_last: bool
) -> list[int]:
    """How many elements are added before and behind each axis: two numbers an axis.

    Args:
        padding: "SAME", as much as makes a window for each `stride` elements; "VALID", nothing; an int, for all sides;
            an int an axis, for both of its sides; two ints an axis; or pairs of ints, with [0, 0] for batch and
            channels.

    Raises:
        ValueError: it is something else.
    """
    axes = len(size)
    if isinstance(padding, str):
        return named(function, padding, size, kernel, stride)
    if isinstance(padding, (list, tuple)):
        if len(padding) == axes + 2 and isinstance(padding[0], (list, tuple)):
            pairs = [numbers(list(p), 2, "padding") for p in padding]
            batch, channels = pairs.pop(0), pairs.pop(-1 if channels_last else 0)
            if any(batch + channels):
                raise ValueError(f"[{function}] padding is {padding}; want [0, 0] for batch and channels")
            return [n for p in pairs for n in p]
        if len(padding) == 2 * axes and all(whole(n) for n in padding):
            return numbers(padding, 2 * axes, "padding")
        if len(padding) != axes or not all(whole(n) for n in padding):
            raise ValueError(f"[{function}] padding is {padding}; want {axes} or {2 * axes} ints, or {axes + 2} pairs")
    return [n for n in numbers(padding, axes, "padding") for _ in range(2)]


def named(function: str, padding: str, size: Sequence[int], kernel: Sequence[int], stride: Sequence[int]) -> list[int]:
    """The padding that a word stands for. What is odd goes behind."""
    if padding.upper() not in ("SAME", "VALID"):
        raise ValueError(f"[{function}] padding is {padding!r}; want 'SAME' or 'VALID'")
    amounts = []
    for n, k, s in zip(size, kernel, stride):
        total = max((-(-n // s) - 1) * s + k - n, 0) if padding.upper() == "SAME" and s > 0 else 0
        amounts += [total // 2, total - total // 2]
    return amounts


def same(padding: Any) -> bool:
    return isinstance(padding, str) and padding.upper() == "SAME"
