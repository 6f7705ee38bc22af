"""Probes of memory: copies of all sizes, views, reductions of awkward lengths, indices."""

from __future__ import annotations

import itertools

import numpy as np

import paddle_mps as paddle

from .compare import Array, same, tensor

LENGTHS = (1, 2, 31, 32, 33, 63, 65, 127, 255, 256, 257, 1000, 1023, 1025, 4095, 4097, 65535, 65537)
DTYPES = ("uint8", "int16", "float16", "int32", "float32", "int64")


def numbers(n: int, dtype: str = "int32") -> Array:
    """Small whole numbers without a short period."""
    return ((np.arange(n, dtype=np.int64) * 7919) % 127).astype(dtype)


def copies(place: str) -> None:
    """Copies of many sizes, to the device, on it by every way there is, and back."""
    for n in (1, 3, 4097, 65535, 65536, 65540, 1 << 20, (1 << 20) + 3):
        x = numbers(n, "uint8")
        t = tensor(x, place)
        same(t, x, f"{n} bytes there and back")
        work = paddle.ones([256, 256], place=place) * 2  # so that a copy has something to wait for
        into = paddle.zeros([n], dtype="uint8", place=place)
        into.copy_(t)
        same(into, x, f"copy_ of {n} bytes")
        same(t.clone(), x, f"clone of {n} bytes")
        same((work, t.cpu())[1], x, f"cpu() of {n} bytes")
        into[:] = 0
        into[:] = t
        same(into, x, f"assignment of {n} bytes")
        same(paddle.concat([t, t]), np.concatenate([x, x]), f"concat of twice {n} bytes")


def odd_offsets(place: str) -> None:
    """Views that begin at any element, in every dtype: Metal aligns what it binds."""
    for dtype in DTYPES:
        x = numbers(300, dtype)
        t = tensor(x, place)
        for first in range(1, 9):
            same(t[first:] + t[:-first], x[first:] + x[:-first], f"{dtype} from element {first}")
            same(t[first:].max(), x[first:].max(), f"max of {dtype} from element {first}")


def awkward_lengths(place: str) -> None:
    """Sums, extremes and positions of lengths around those of threadgroups."""
    for n in LENGTHS:
        x = numbers(n)
        peak = x.copy()
        peak[-1] = 500
        same(tensor(x, place).sum(), x.sum(dtype=np.int64), f"sum of {n}")
        same(tensor(peak, place).max(), 500, f"max of {n}, the last one")
        same(tensor(peak, place).argmax(), n - 1, f"argmax of {n}, the last one")
        rows = np.stack([x, peak])
        same(tensor(rows, place).sum(axis=1), rows.sum(axis=1, dtype=np.int64), f"sums of two rows of {n}")
        same(tensor(rows, place).sum(axis=0), rows.sum(axis=0, dtype=np.int64), f"sums of {n} columns")


def elementwise_lengths(place: str) -> None:
    """Elementwise operators on lengths around those of threadgroups, to the last element."""
    for n in LENGTHS:
        x = numbers(n, "float32")
        same(tensor(x, place) * 2 + 1, x * 2 + 1, f"{n} elements")
        same(tensor(x, place).astype("int64"), x.astype(np.int64), f"cast of {n} elements")


def many_axes(place: str) -> None:
    """Reductions over every choice of axes of a tensor with five, and a permutation of six."""
    x = numbers(2 * 3 * 4 * 5 * 6).reshape(2, 3, 4, 5, 6)
    t = tensor(x, place)
    for count in (1, 2, 3, 4):
        for axes in itertools.combinations(range(5), count):
            same(t.sum(axis=list(axes)), x.sum(axis=axes, dtype=np.int64), f"sum over {list(axes)}")
    y = x.reshape(2, 3, 2, 2, 5, 6)
    order = [4, 0, 5, 2, 1, 3]
    same(tensor(y, place).transpose(order) + 0, y.transpose(order), f"permutation {order}")


def broadcasts(place: str) -> None:
    """Operands that are repeated without being copied."""
    row, column = numbers(65, "float32")[None], numbers(33, "float32")[:, None]
    a, b = tensor(row, place), tensor(column, place)
    same(a + b, row + column, "a row and a column")
    wide = paddle.expand(a, [33, 65])
    same(wide * wide, (row * row).repeat(33, 0), "an expanded row with itself")
    same(wide.sum(axis=0), row[0] * 33, "sum of an expanded row")


def writes_into_views(place: str) -> None:
    """Results written into steps, columns and reversed parts leave the rest as it was."""
    x = numbers(20 * 30, "float32").reshape(20, 30)
    t = tensor(x, place)
    t[:, ::3] = -1.0
    x[:, ::3] = -1.0
    t[3:7, 1:] += 5.0
    x[3:7, 1:] += 5.0
    t[::-2, 2] = tensor(numbers(10, "float32"), place)
    x[::-2, 2] = numbers(10, "float32")
    same(t, x, "after three assignments")


def indices(place: str) -> None:
    """Elements by index, by mask and by position, in the order of the elements."""
    x = numbers(70000)
    t = tensor(x, place)
    same(paddle.nonzero(t > 120).reshape([-1]), np.flatnonzero(x > 120), "nonzero")
    same(t[t > 120], x[x > 120], "a mask")
    rows = np.array([69999, 0, 5, -1, -70000, 5])
    same(t[tensor(rows, place)], x[rows], "indices, some from the end")
    table = x[:60].reshape(6, 10)
    same(paddle.gather(tensor(table, place), tensor([5, 0, 5], place), axis=1), table[:, [5, 0, 5]], "gather")


def joined_and_cut(place: str) -> None:
    """concat, stack, split, tile and flip of views."""
    x = numbers(60).reshape(6, 10)
    t = tensor(x, place)
    same(paddle.concat([t[:, 1:4], t[:, ::2]], axis=1), np.concatenate([x[:, 1:4], x[:, ::2]], axis=1), "concat")
    same(paddle.stack([t.T, t.T * 2], axis=1), np.stack([x.T, x.T * 2], axis=1), "stack of transposes")
    same(paddle.split(t, [2, -1], axis=0)[1] + 0, x[2:], "split")
    same(paddle.tile(t[:, 1:3], [2, 3]), np.tile(x[:, 1:3], [2, 3]), "tile")
    same(paddle.flip(t[1:], [0, 1]) + 0, x[1:][::-1, ::-1], "flip")


PROBES = [
    copies, odd_offsets, awkward_lengths, elementwise_lengths, many_axes, broadcasts, writes_into_views, indices, joined_and_cut,
]  # fmt: skip
