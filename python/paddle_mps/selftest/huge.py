"""Probes of sizes at which 32 bits overflow somewhere. They want memory, and time: --quick leaves them out."""

from __future__ import annotations

import numpy as np

import paddle_mps as paddle

from .._core._place import place as place_of
from .._devices._device import properties_of
from .compare import same, tensor
from .recorder import Skip

GIB = 1 << 30


def need(place: str, gib: int) -> None:
    """Skips a probe where a process should not take so much memory."""
    if properties_of(place_of(place)).recommended_memory < gib * GIB:
        raise Skip(f"the device has less than {gib} GiB for a process")


def wide_products(place: str) -> None:
    """A matrix product whose operands pass 2**31 bytes as some kernels count them: (m + 2 k) n 4."""
    need(place, 8)
    rng = np.random.default_rng(0)
    x = rng.integers(-1, 2, (16, 33000)).astype(np.float32)
    row = rng.integers(-1, 2, (1, 8192)).astype(np.float32)
    y = paddle.expand(tensor(row, place), [33000, 8192]) + 0
    same(tensor(x, place) @ y, x.sum(axis=1, keepdims=True) * row, "16 x 33000 x 8192")


def copies_beyond_four_gib(place: str) -> None:
    """A copy and a sum of more bytes than 32 bits count."""
    need(place, 16)
    n = (1 << 32) + (1 << 16) + 4
    x = paddle.zeros([n], dtype="uint8", place=place)
    for at in (0, 1 << 31, (1 << 32) - 1, 1 << 32, n - 1):
        x[at] = 1
    y = x.clone()
    for at in (0, 1 << 31, (1 << 32) - 1, 1 << 32, n - 1):
        same(y[at], 1, f"byte {at} of the copy")
    same((y[n - 5 :].astype("int64")).sum(), 1, "the last five bytes")


PROBES = [wide_products, copies_beyond_four_gib]
