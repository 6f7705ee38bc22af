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


def mirrored(p: float, low: float, high: float) -> float:
    """p reflected at both ends until it is between them."""
    if high <= low:
        return 0.0
    while not low <= p <= high:
        p = 2 * low - p if p < low else 2 * high - p
    return p


def keys(d: float, a: float = -0.75) -> float:
    d = abs(d)
    if d < 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0


def triangle(d: float) -> float:
    return max(1 - abs(d), 0.0)


def sampled(
    x: Any, grid: Any, mode: str = "bilinear", outside: str = "zeros", corners: bool = True, padded: bool = False
) -> Any:
    """Point by point, pixel by pixel."""
    sizes = x.shape[2:]
    padded = padded or mode == "bicubic"
    y = np.zeros((*x.shape[:2], *grid.shape[1:-1]))

    def moved(p: float, n: int) -> float:
        if outside == "reflection":
            p = mirrored(p, 0 if corners else -0.5, n - 1 if corners else n - 0.5)
        return p if outside == "zeros" else min(max(p, 0), n - 1)

    for at in np.ndindex(*grid.shape[:-1]):
        taps: list[list[tuple[float, float]]] = []
        for n, g in zip(sizes, grid[at][::-1]):
            p = (g + 1) * (n - 1) / 2 if corners else ((g + 1) * n - 1) / 2
            p = p if padded else moved(p, n)
            if mode == "nearest":
                pixels = [(float(np.rint(p)), 1.0)]
            else:
                near = np.floor(p) + (np.arange(-1, 3) if mode == "bicubic" else np.arange(2))
                pixels = [(float(i), (keys if mode == "bicubic" else triangle)(p - i)) for i in near]
            taps.append([(moved(i, n) if padded else i, w) for i, w in pixels])
        for which in np.ndindex(*[len(t) for t in taps]):
            pixel = [t[i] for t, i in zip(taps, which)]
            if all(0 <= i < n for (i, _), n in zip(pixel, sizes)):
                place = tuple(int(i) for i, _ in pixel)
                y[(at[0], slice(None), *at[1:])] += np.prod([w for _, w in pixel]) * x[(at[0], slice(None), *place)]
    return y


def mapped(theta: Any, size: Any, corners: bool = True, centered: bool = False) -> Any:
    y = np.zeros((len(theta), *size[2:], len(size) - 2))
    for at in np.ndindex(*size[2:]):
        point = [
            (0.0 if n == 1 and centered else 2 * i / (n - 1) - 1) if corners else (2 * i + 1) / n - 1
            for i, n in zip(at, size[2:])
        ]
        y[(slice(None), *at)] = theta @ np.array([*point[::-1], 1.0])
    return y


def images_and_grid() -> list[Any]:
    """Of two axes, of three, or of one."""
    sizes, points = [((3, 4), (2, 3)), ((3, 2, 2), (1, 2, 2)), ((5,), (4,))][rng.choice(3, p=[0.6, 0.2, 0.2])]
    return [floats(2, 2, *sizes), floats(2, *points, len(sizes))]


SAMPLES = [
    [],
    ["bilinear", "border", False],
    ["bilinear", "reflection", False],
    ["bilinear", "reflection", True, True],
    ["bilinear", "zeros", False, True],
    ["nearest", "zeros", False],
    ["nearest", "border", True, True],
    ["nearest", "reflection", False],
    ["nearest", "reflection", False, True],
    ["bicubic", "zeros", True],
    ["bicubic", "border", False],
    ["bicubic", "reflection", False],
]

LAYOUTS = [[2, False, False], [2, False, True], [2, True, False], [2, True, True]]

ORACLES: dict[str, tuple[Any, ...]] = {
    "pixel_shuffle": (shuffled, lambda: [floats(2, 8, 4, 8)], [[1], *LAYOUTS]),
    "pixel_unshuffle": (unshuffled, lambda: [floats(2, 4, 4, 2)], [[1], *LAYOUTS]),
    "channel_shuffle": (dealt, lambda: [floats(2, 6, 4, 6)], [[1], [2], [3, False], [3, True]]),
    "grid_sample": (sampled, images_and_grid, SAMPLES),
    "affine_grid": (
        mapped, lambda: [floats(2, 2, 3)], [[[2, 1, 3, 4]], [[2, 1, 3, 4], False], [[2, 1, 1, 4], True, True], [[2, 1, 1, 4], False]]
    ),
}  # fmt: skip
