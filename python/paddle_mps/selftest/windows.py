"""Convolution and pooling in NumPy, window by window, as plainly as the definitions are.

Images are [batch, channels, size...], or [batch, size..., channels] with the attribute channels_last. Each function
takes the attributes of the operator by name; lists that are left out have their defaults.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

Array = Any  # of NumPy; its stubs do not know tuples of slices and ints as indices


class Window:
    """The attributes of a call for images of so many spatial axes."""

    def __init__(self, given: dict[str, Any], axes: int, kernel: Any = None) -> None:
        self.kernel = tuple(kernel if kernel is not None else given["kernel_size"])
        pool = "dilation" not in given
        self.stride = tuple(given["stride"] or (self.kernel if pool else [1] * axes))
        pads = given["padding"] or [0] * (2 * axes)
        self.before, self.behind = pads[::2], pads[1::2]
        self.dilation = tuple(given.get("dilation") or [1] * axes)
        self.given = given

    def count(self, size: tuple[int, ...]) -> tuple[int, ...]:
        """How many windows there are on each axis."""
        if self.given.get("adaptive"):
            return self.kernel
        found = []
        for i, n in enumerate(size):
            room = n + self.before[i] + self.behind[i] - self.dilation[i] * (self.kernel[i] - 1) - 1
            up = self.stride[i] - 1 if self.given.get("ceil_mode") else 0
            found.append((room + up) // self.stride[i] + 1)
        return tuple(found)

    def taps(self, at: tuple[int, ...], size: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Each element of the kernel that window `at` has over an element of the image, and that element."""
        for k in np.ndindex(self.kernel):
            where = tuple(a * s - b + d * j for a, s, b, d, j in zip(at, self.stride, self.before, self.dilation, k))
            if all(0 <= w < n for w, n in zip(where, size)):
                yield k, where

    def under(self, k: tuple[int, ...], count: tuple[int, ...], size: tuple[int, ...]) -> Any:
        """The windows whose element k of the kernel is over an element of the image, and those elements: slices."""
        windows, elements = [], []
        for i, j in enumerate(k):
            from_edge = self.dilation[i] * j - self.before[i]  # of the first window
            begin = max(-(from_edge // self.stride[i]), 0)
            end = max(min((size[i] - 1 - from_edge) // self.stride[i] + 1, count[i]), begin)
            windows.append(slice(begin, end))
            start = begin * self.stride[i] + from_edge
            elements.append(slice(start, start + (end - begin) * self.stride[i], self.stride[i]))
        return windows, elements

    def elements(self, at: tuple[int, ...], size: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The elements of the image in window `at` of a pool."""
        if not self.given.get("adaptive"):
            return [where for _, where in self.taps(at, size)]
        ranges = [range(a * n // k, -(-(a + 1) * n // k)) for a, n, k in zip(at, size, self.kernel)]
        return list(itertools.product(*ranges))

    def divisor(self, at: tuple[int, ...], size: tuple[int, ...]) -> float:
        """What the sum of a window is divided by."""
        if self.given.get("adaptive"):
            return float(len(self.elements(at, size)))
        starts = [a * s - b for a, s, b in zip(at, self.stride, self.before)]
        if not self.given["exclusive"]:  # cut where padding ends, if there were as much of it behind as in front
            ends = [n + b for n, b in zip(size, self.before)]
            return float(np.prod([min(b + k, n) - b for b, k, n in zip(starts, self.kernel, ends)]))
        # As in Paddle a window behind the end has a length below 0.
        return float(np.prod([min(b + k, n) - max(b, 0) for b, k, n in zip(starts, self.kernel, size)]))


def first(x: Array, given: dict[str, Any]) -> Array:
    """Images with their channels at axis 1."""
    return np.moveaxis(x, -1, 1) if given["channels_last"] else x


def back(y: Array, given: dict[str, Any]) -> Array:
    """Images with their channels where the call has them."""
    return np.moveaxis(y, 1, -1) if given["channels_last"] else y


def conv(x: Array, weight: Array, given: dict[str, Any]) -> Array:
    x, groups = first(x, given), given["groups"]
    size, window = x.shape[2:], Window(given, x.ndim - 2, weight.shape[2:])
    y: Array = np.zeros((len(x), len(weight), *window.count(size)), x.dtype)
    inside, outside = x.shape[1] // groups, len(weight) // groups
    for k in np.ndindex(window.kernel):
        windows, elements = window.under(k, y.shape[2:], size)
        for g in range(groups):
            rows, cols = slice(g * outside, (g + 1) * outside), slice(g * inside, (g + 1) * inside)
            under = x[(slice(None), cols, *elements)]
            y[(slice(None), rows, *windows)] += np.einsum("bi...,oi->bo...", under, weight[(rows, slice(None), *k)])
    return back(y, given)


def conv_transpose(x: Array, weight: Array, given: dict[str, Any]) -> Array:
    x, groups = first(x, given), given["groups"]
    axes = x.ndim - 2
    window, extra = Window(given, axes, weight.shape[2:]), given["output_padding"] or [0] * axes
    size = tuple(
        (n - 1) * window.stride[i]
        - window.before[i]
        - window.behind[i]
        + window.dilation[i] * (window.kernel[i] - 1)
        + 1
        + extra[i]
        for i, n in enumerate(x.shape[2:])
    )
    y: Array = np.zeros((len(x), weight.shape[1] * groups, *size), x.dtype)
    inside, outside = weight.shape[1], x.shape[1] // groups
    for at in np.ndindex(x.shape[2:]):
        for k, where in window.taps(at, size):
            for g in range(groups):
                rows, cols = slice(g * outside, (g + 1) * outside), slice(g * inside, (g + 1) * inside)
                y[(slice(None), cols, *where)] += x[(slice(None), rows, *at)] @ weight[(rows, slice(None), *k)]
    return back(y, given)


def conv_weight(x: Array, y: Array, given: dict[str, Any]) -> Array:
    x, y, groups = first(x, given), first(y, given), given["groups"]
    window = Window(given, x.ndim - 2)
    inside, outside = x.shape[1] // groups, y.shape[1] // groups
    weight: Array = np.zeros((y.shape[1], inside, *window.kernel), x.dtype)
    for at in np.ndindex(y.shape[2:]):
        for k, where in window.taps(at, x.shape[2:]):
            for g in range(groups):
                rows, cols = slice(g * outside, (g + 1) * outside), slice(g * inside, (g + 1) * inside)
                weight[(rows, slice(None), *k)] += y[(slice(None), rows, *at)].T @ x[(slice(None), cols, *where)]
    return weight


def max_pool(x: Array, given: dict[str, Any], lowest: float) -> list[Array]:
    """lowest is the largest element of nothing."""
    x = first(x, given)
    size, window = x.shape[2:], Window(given, x.ndim - 2)
    y: Array = np.full((*x.shape[:2], *window.count(size)), lowest, x.dtype)
    places: Array = np.full(y.shape, -1, np.int64)
    for at in np.ndindex(y.shape[2:]):
        elements = window.elements(at, size)
        if not elements:
            continue
        lines: Array = np.stack([x[(slice(None), slice(None), *e)] for e in elements], -1)
        best = np.argmax(lines, -1)  # the first nan, else the first of the largest
        y[(..., *at)] = np.take_along_axis(lines, best[..., None], -1)[..., 0]
        numbers = np.array([np.ravel_multi_index(e, size) for e in elements])
        places[(..., *at)] = numbers[best]
    return [back(y, given), back(places, given)]


def max_unpool(x: Array, indices: Array, given: dict[str, Any]) -> Array:
    x, indices, size = first(x, given), first(indices, given), tuple(given["size"])
    y: Array = np.zeros((*x.shape[:2], *size), x.dtype)
    for at in np.ndindex(x.shape):
        where = (*at[:2], *np.unravel_index(int(indices[at]), size))
        y[where] = x[at] + (y[where] if given["add"] else 0)
    return back(y, given)


def avg_pool(x: Array, given: dict[str, Any]) -> Array:
    x = first(x, given)
    size, window = x.shape[2:], Window(given, x.ndim - 2)
    y: Array = np.zeros((*x.shape[:2], *window.count(size)), x.dtype)
    for at in np.ndindex(y.shape[2:]):
        for e in window.elements(at, size):
            y[(..., *at)] += x[(..., *e)]
        y[(..., *at)] /= window.divisor(at, size)
    return back(y, given)


def avg_unpool(x: Array, given: dict[str, Any]) -> Array:
    x, size = first(x, given), tuple(given["size"])
    window = Window(given, x.ndim - 2)
    y: Array = np.zeros((*x.shape[:2], *size), x.dtype)
    for at in np.ndindex(x.shape[2:]):
        for e in window.elements(at, size):
            y[(..., *e)] += x[(..., *at)] / window.divisor(at, size)
    return back(y, given)


def unfold(x: Array, given: dict[str, Any]) -> Array:
    """Window by window, element by element."""
    size, window = x.shape[2:], Window(given, x.ndim - 2)
    y: Array = np.zeros((*x.shape[:2], *window.kernel, *window.count(size)), x.dtype)
    for at in np.ndindex(window.count(size)):
        for k, where in window.taps(at, size):
            y[(..., *k, *at)] = x[(..., *where)]
    return y.reshape(x.shape[0], x.shape[1] * int(np.prod(window.kernel)), -1)


def terms(arrays: list[Array], given: dict[str, Any]) -> int:
    """How many terms an element of a result has at most: those under a kernel, or those of all images."""
    if "add" in given:
        return int(arrays[0].size)
    if len(arrays) == 1:
        return int(arrays[0].size if given["adaptive"] else np.prod(given["kernel_size"]))
    if "kernel_size" in given:
        y = first(arrays[1], given)
        return int(y.size // y.shape[1])
    weight = arrays[1]
    return int(weight.size // min(weight.shape[:2]))
