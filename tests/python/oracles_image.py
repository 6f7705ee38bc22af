"""What the rows of core/op/composites_image.go should answer, in NumPy: for test_composite_oracles.py, which says what the parts mean."""

from __future__ import annotations

from typing import Any

import numpy as np

rng = np.random.default_rng(47)


def floats(*shape: int) -> Any:
    return rng.standard_normal(shape)


def in_front(x: Any, last: bool) -> Any:
    return np.moveaxis(x, -1, 1) if last else x


def back(x: Any, last: bool) -> Any:
    return np.moveaxis(x, 1, -1) if last else x


def shuffled(x: Any, r: int = 1, last: bool = False, blocks_first: bool = False) -> Any:
    """Pixel by pixel."""
    x = in_front(x, last)
    n, c, h, w = x.shape
    c //= r * r
    y = np.zeros((n, c, h * r, w * r))
    for k in range(c):
        for i in range(r):
            for j in range(r):
                y[:, k, i::r, j::r] = x[:, (i * r + j) * c + k if blocks_first else (k * r + i) * r + j]
    return back(y, last)


def unshuffled(x: Any, r: int = 1, last: bool = False, blocks_first: bool = False) -> Any:
    x = in_front(x, last)
    n, c, h, w = x.shape
    y = np.zeros((n, c * r * r, h // r, w // r))
    for k in range(c):
        for i in range(r):
            for j in range(r):
                y[:, (i * r + j) * c + k if blocks_first else (k * r + i) * r + j] = x[:, k, i::r, j::r]
    return back(y, last)


def dealt(x: Any, groups: int = 1, last: bool = False) -> Any:
    x = in_front(x, last)
    each = x.shape[1] // groups
    return back(np.stack([x[:, (i % groups) * each + i // groups] for i in range(x.shape[1])], 1), last)


LAYOUTS = [[2, False, False], [2, False, True], [2, True, False], [2, True, True]]

ORACLES: dict[str, tuple[Any, ...]] = {
    "pixel_shuffle": (shuffled, lambda: [floats(2, 8, 4, 8)], [[1], *LAYOUTS]),
    "pixel_unshuffle": (unshuffled, lambda: [floats(2, 4, 4, 2)], [[1], *LAYOUTS]),
    "channel_shuffle": (dealt, lambda: [floats(2, 6, 4, 6)], [[1], [2], [3, False], [3, True]]),
}
