"""What the rows of core/op/formula/composites_image.go should answer, in NumPy: a part of oracles.py, which says what each entry means."""

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
                to: Any = (at[0], slice(None), *at[1:])
                y[to] += np.prod([w for _, w in pixel]) * x[(at[0], slice(None), *place)]
    return y


def mapped(theta: Any, size: Any, corners: bool = True, centered: bool = False) -> Any:
    y = np.zeros((len(theta), *size[2:], len(size) - 2))
    for at in np.ndindex(*size[2:]):
        point = [
            (0.0 if n == 1 and centered else 2 * i / (n - 1) - 1) if corners else (2 * i + 1) / n - 1
            for i, n in zip(at, size[2:])
        ]
        to: Any = (slice(None), *at)
        y[to] = theta @ np.array([*point[::-1], 1.0])
    return y


def images_and_grid() -> list[Any]:
    """Of two axes, of three, or of one."""
    sizes, points = [((3, 4), (2, 3)), ((3, 2, 2), (1, 2, 2)), ((5,), (4,))][rng.choice(3, p=[0.6, 0.2, 0.2])]
    return [floats(2, 2, *sizes), floats(2, *points, len(sizes))]


def coordinate(o: int, n: int, m: int, scale: float, start: float, end: float, word: str) -> float:
    """Where element o of m lies among n, in the words of ONNX."""
    whole = scale * n
    if word == "align_corners":
        return 0.0 if whole == 1 else o * (n - 1) / (whole - 1)
    if word == "tf_crop_and_resize":
        span = (end - start) * (n - 1)
        return start * (n - 1) + o * span / (m - 1) if m > 1 else 0.5 * (start + end) * (n - 1)
    if word == "pytorch_half_pixel" and m == 1:
        return 0.0
    centre = {"asymmetric": o / scale, "tf_half_pixel_for_nn": (o + 0.5) / scale}.get(word, (o + 0.5) / scale - 0.5)
    return centre + (n / 2 * (1 - m / whole) if word == "half_pixel_symmetric" else 0)


ROUNDED: dict[str, Any] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "round_prefer_floor": lambda p: np.ceil(p - 0.5),
    "round_prefer_ceil": lambda p: np.floor(p + 0.5),
}


def resized(
    x: Any,
    axes: Any,
    sizes: Any = None,
    scales: Any = None,
    region: Any = None,
    mode: str = "nearest",
    word: str = "half_pixel",
    rounding: str = "round_prefer_floor",
    a: float = -0.75,
    exclude: bool = False,
    antialias: bool = False,
    beyond: float = 0.0,
    single: bool = False,
) -> Any:
    """A product with a matrix for each axis. Settings with single are such that float32 is exact."""
    for i, axis in enumerate(axes):
        n = x.shape[axis]
        start, end = (region[i], region[len(axes) + i]) if region else (0.0, 1.0)
        scale = scales[i] if scales else sizes[i] / n
        m = sizes[i] if sizes else int(np.floor(n * scale * (end - start)))
        matrix, outside = np.zeros((m, n)), np.zeros(m, bool)
        narrow = min(scale, 1.0) if antialias else 1.0
        for o in range(m):
            p = coordinate(o, n, m, scale, start, end, word)
            outside[o] = word == "tf_crop_and_resize" and not 0 <= p <= n - 1
            if mode == "nearest":
                matrix[o, int(np.clip(ROUNDED[rounding](p), 0, n - 1))] = 1
                continue
            reach = int(np.ceil(2 / narrow)) + 1
            for at in range(int(np.floor(p)) - reach, int(np.floor(p)) + reach + 1):
                d = (at - p) * narrow
                if not exclude or 0 <= at < n:
                    matrix[o, int(np.clip(at, 0, n - 1))] += triangle(d) if mode == "linear" else keys(d, a)
            matrix[o] /= matrix[o].sum()
        x = np.moveaxis(np.tensordot(x, matrix, (axis, 1)), -1, axis)
        x = np.where(along(outside, x.ndim, axis), beyond, x)
    return x


def along(w: Any, rank: int, axis: int) -> Any:
    return w.reshape([-1 if i == axis % rank else 1 for i in range(rank)])


def response(
    x: Any, size: int = 5, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0, axis: int = 1, behind: bool = False
) -> Any:
    """Channel by channel."""
    squares = np.moveaxis(x, axis, 0) ** 2
    first = -((size - 1) // 2) if behind else -(size // 2)
    near = [
        sum(squares[i] for i in range(max(c + first, 0), min(c + first + size, len(squares))))
        for c in range(len(squares))
    ]
    return x / (k + alpha * np.moveaxis(np.array(near), 0, axis) / size) ** beta


def taps(p: float, n: int, outside: bool) -> list[tuple[int, float]]:
    """The elements of an axis around a point, and their weights; those that are not there read 0 where outside is True."""
    low = int(np.floor(p))
    both = [(low, 1 - (p - low)), (low + 1, p - low)]
    return [(i, w) for i, w in both if 0 <= i < n] if outside else [(min(i, n - 1), w) for i, w in both]


def aligned_regions(
    x: Any,
    boxes: Any,
    images: Any,
    height: int = 1,
    width: int = 1,
    scale: float = 1.0,
    each: int = 1,
    half: bool = True,
    mode: str = "avg",
) -> Any:
    """Bin by bin, point by point."""
    y = np.zeros((len(boxes), x.shape[1], height, width))
    for b, corners in enumerate(boxes * scale - (0.5 if half else 0)):
        length = corners[2:] - corners[:2] if half else np.maximum(corners[2:] - corners[:2], 1)
        for i in range(height):
            for j in range(width):
                found = []
                for a in range(each):
                    for c in range(each):
                        at = corners[1] + length[1] * (i + (a + 0.5) / each) / height
                        across = corners[0] + length[0] * (j + (c + 0.5) / each) / width
                        seen = -1 <= at <= x.shape[2] and -1 <= across <= x.shape[3]
                        rows = taps(np.clip(at, 0, x.shape[2] - 1), x.shape[2], False)
                        columns = taps(np.clip(across, 0, x.shape[3] - 1), x.shape[3], False)
                        terms = [seen * v * w * x[images[b], :, r, k] for r, v in rows for k, w in columns]
                        found += terms if mode == "max" else [sum(terms)]
                y[b, :, i, j] = (np.max if mode == "max" else np.mean)(found, 0)
    return y


def deformed(
    x: Any,
    offset: Any,
    weight: Any,
    bias: Any,
    mask: Any,
    stride: Any = None,
    padding: Any = None,
    dilation: Any = None,
    groups: int = 1,
    parts: int = 1,
) -> Any:
    """Element by element, of two axes."""
    (n, c, h, w), (o, each, kh, kw), (rows, columns) = x.shape, weight.shape, offset.shape[2:]
    stride, padding, dilation = stride or [1, 1], padding or [0, 0, 0, 0], dilation or [1, 1]
    offset = offset.reshape(n, parts, kh, kw, 2, rows, columns)
    mask = np.ones((n, parts, kh, kw, rows, columns)) if mask is None else mask.reshape(n, parts, kh, kw, rows, columns)
    y = np.zeros((n, o, rows, columns))
    for b, f, k, i, j, r, q in np.ndindex(n, o, each, kh, kw, rows, columns):
        channel = f // (o // groups) * each + k
        part = channel // (c // parts)
        move = offset[b, part, i, j, :, r, q]
        down = taps(r * stride[0] + i * dilation[0] - padding[0] + move[0], h, True)
        right = taps(q * stride[1] + j * dilation[1] - padding[2] + move[1], w, True)
        read = sum(v * u * x[b, channel, a, d] for a, v in down for d, u in right)
        y[b, f, r, q] += read * mask[b, part, i, j, r, q] * weight[f, k, i, j]
    return y if bias is None else y + bias[:, None, None]


def pooled(
    x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, counts: Any, mode: str = "max", exclusive: bool = True, places: bool = False
) -> Any:
    """Window by window, of two axes."""
    (n, c, h, w), y = x.shape, np.zeros((*x.shape[:2], *counts))
    for b, k, i, j in np.ndindex(*y.shape):
        at = [(i * stride[0] + u * dilation[0] - padding[0], j * stride[1] + v * dilation[1] - padding[2]) for u, v in np.ndindex(*kernel)]
        there = [(u, v) for u, v in at if 0 <= u < h and 0 <= v < w]
        values = [x[b, k, u, v] for u, v in there]
        padded = sum(-padding[0] <= u < h + padding[1] and -padding[2] <= v < w + padding[3] for u, v in at)
        if places:
            u, v = there[int(np.argmax(values))]
            y[b, k, i, j] = u * w + v
        else:
            total = {"max": np.max, "sum": np.sum, "mean": np.sum}[mode](values)
            y[b, k, i, j] = total / (len(there) if exclusive else padded) if mode == "mean" else total
    return y


WINDOWS = [[[2, 3], [1, 2], [0, 0, 1, 0], [2, 1], [3, 3]], [[2, 2], [2, 2], [0, 0, 0, 1], [1, 2], [3, 2]]]

SIZES: list[list[Any]] = [
    [[2, 3], [5, 3]],
    [[2, 3], [5, 3], None, None, "nearest", "asymmetric", "floor"],
    [[-1], [7], None, None, "nearest", "half_pixel", "round_prefer_ceil"],
    [[2], None, [0.6], None, "nearest", "tf_half_pixel_for_nn", "ceil"],
    [[2, -1], None, [1.7, 0.6], None, "linear"],
    [[0, 2], [3, 1], None, None, "linear", "align_corners"],
    [[2], [1], None, None, "linear", "pytorch_half_pixel"],
    [[2, 3], None, [0.8, 0.6], None, "cubic", "half_pixel_symmetric"],
    [[2, 3], [3, 7], None, None, "cubic", "half_pixel", "floor", -0.5, True],
    [[2, 3], [2, 3], None, None, "linear", "half_pixel", "floor", -0.75, False, True],
    [[2, 3], [2, 3], None, None, "cubic", "half_pixel", "floor", -0.5, True, True],
    [[2, 3], [3, 3], None, [0.4, 0.6, 0.6, 1.8], "linear", "tf_crop_and_resize", "floor", -0.75, False, False, 3.0],
    [[2, 3], [8, 4], None, None, "linear", "half_pixel", "floor", -0.75, False, False, 0.0, True],
    [[2, 3], [7, 4], None, None, "linear", "align_corners", "floor", -0.75, False, False, 0.0, True],
    [[2], None, [2.0], None, "cubic", "half_pixel", "floor", -0.75, False, False, 0.0, True],
    [[2], None, [2.0], None, "nearest", "asymmetric", "floor", -0.75, False, False, 0.0, True],
]


def folded(x: Any, size: Any, kernel: Any, stride: Any = None, padding: Any = None, dilation: Any = None) -> Any:
    """Window by window, element by element."""
    axes = len(size)
    stride, padding, dilation = stride or [1] * axes, padding or [0] * 2 * axes, dilation or [1] * axes
    counts = [
        (n + padding[2 * i] + padding[2 * i + 1] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1
        for i, n in enumerate(size)
    ]
    y = np.zeros((len(x), x.shape[1] // int(np.prod(kernel)), *size))
    x = x.reshape(*y.shape[:2], *kernel, *counts)
    for k in np.ndindex(*kernel):
        for w in np.ndindex(*counts):
            where = [a * s + b * d - p for a, s, b, d, p in zip(w, stride, k, dilation, padding[::2])]
            if all(0 <= i < n for i, n in zip(where, size)):
                to: Any = (slice(None), slice(None), *where)
                y[to] += x[(slice(None), slice(None), *k, *w)]
    return y


def powers_pooled(
    x: Any,
    p: float = 2.0,
    kernel: Any = None,
    stride: Any = None,
    padding: Any = None,
    ceil: bool = False,
    last: bool = False,
) -> Any:
    """Window by window. What rounding up adds to the number of windows reaches beyond the image."""
    x = in_front(x, last)
    axes = x.ndim - 2
    stride, padding = stride or kernel, padding or [0] * 2 * axes
    room = [n + padding[2 * i] + padding[2 * i + 1] - kernel[i] for i, n in enumerate(x.shape[2:])]
    counts = [(r + (s - 1 if ceil else 0)) // s + 1 for r, s in zip(room, stride)]
    y = np.zeros((*x.shape[:2], *counts))
    for w in np.ndindex(*counts):
        to: Any = (slice(None), slice(None), *w)
        inside: Any = tuple(
            slice(max(a * s - b, 0), a * s - b + k) for a, s, b, k in zip(w, stride, padding[::2], kernel)
        )
        window = x[(slice(None), slice(None), *inside)]
        spatial = tuple(range(2, 2 + axes))
        y[to] = window.max(spatial) if p == np.inf else (window**p).sum(spatial) ** (1 / p)
    return back(y, last)


def moved_in_time(x: Any, frames: int = 1, ratio: float = 0.25, last: bool = False) -> Any:
    x = in_front(x, last)
    y = np.zeros_like(x)
    channels = x.shape[1]
    first, second = int(channels * ratio), int(channels * 2 * ratio)
    for i in range(len(x)):
        if i % frames:
            y[i, :first] = x[i - 1, :first]
        if (i + 1) % frames:
            y[i, first:second] = x[i + 1, first:second]
        y[i, second:] = x[i, second:]
    return back(y, last)


FOLDS = {
    (2, 12, 12): [
        [[4, 5], [2, 2]],
        [[3, 10], [1, 4], [1, 2], None, None],
        [[11, 5], [2, 2], [3, 2], [1, 2, 0, 1], [3, 1]],
    ],
    (2, 6, 8): [[[10, 8], [3, 2], [2, 3], [1, 0, 1, 0], [2, 3]], [[3, 3, 1], [2, 3, 1], None, [0, 0, 1, 0, 0, 1]]],
    (1, 8, 1): [[[7], [4], [9], None, [2]], [[4], [4], [2]], [[11], [2], [5], [0, 1], [11]]],
    (1, 70, 5): [[[74], [70]], [[210], [70], [3], [10, 1], [3]], [[70], [70], None, [2, 2]]],
}

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
    "interpolate": (resized, lambda: [floats(2, 2, 4, 4)], SIZES),
    "local_response_norm": (
        response, lambda: [floats(2, 5, 3, 2)], [[], [3, 0.5, 0.75, 2.0], [4, 1.0, 0.5, 1.0, -1], [4, 0.5, 0.75, 1.0, 1, True], [20, 0.5]]
    ),
    **{
        f"fold/{i}" if i else "fold": (folded, lambda shape=shape: [floats(*shape)], settings)
        for i, (shape, settings) in enumerate(FOLDS.items())
    },
    "lp_pool": (
        powers_pooled, lambda: [abs(floats(2, 3, 5, 4)) + 0.1],
        [[2.0, [2, 2]], [1.5, [2, 3], [1, 2], [1, 1, 1, 1]], [3.0, [2, 2], [2, 1], None, False, True], [-2.0, [3, 2], [2, 2]], [np.inf, [2, 3], [1, 1]]],
    ),
    "lp_pool/1": (powers_pooled, lambda: [floats(2, 3, 7)], [[2.0, [3], [2], [1, 1]], [4.0, [2], None, None]]),
    "temporal_shift": (moved_in_time, lambda: [floats(4, 5, 2, 8)], [[], [2], [4, 0.4], [2, 0.26, True], [2, 0.01], [1, 0.3]]),
    "window_pool": (
        pooled, lambda: [floats(1, 2, 5, 5)], [[*WINDOWS[0]], [*WINDOWS[1], "sum"], [*WINDOWS[0], "mean"], [*WINDOWS[0], "mean", False]],
    ),
    "window_pool_places": (lambda x, *given: pooled(x, *given, places=True), lambda: [floats(1, 2, 5, 5)], WINDOWS, (0,), "int64"),
    "roi_align": (
        aligned_regions,
        lambda: [floats(2, 3, 5, 6), np.array([[0.3, 0.7, 4.1, 3.9], [-2.2, 1.1, 7.3, 6.2]]) + rng.uniform(0, 0.1, (2, 4)), np.array([1, 0])],
        [[], [2, 3, 1.0, 2], [2, 2, 0.5, 3, False], [2, 2, 1.0, 2, True, "max"]],
        (2,),
    ),
    "deform_conv": (
        deformed,
        lambda: [floats(1, 4, 4, 5), rng.uniform(0.1, 0.9, (1, 16, 3, 4)) - 1.0, floats(2, 2, 2, 2), floats(2), rng.uniform(0.1, 1, (1, 8, 3, 4))],
        [[None, None, None, 2, 2], [[1, 1], [0, 0, 0, 0], [1, 1], 2, 2], [[1, 1], [1, 0, 1, 0], [2, 2], 2, 2]],
    ),
    "affine_grid": (
        mapped, lambda: [floats(2, 2, 3)], [[[2, 1, 3, 4]], [[2, 1, 3, 4], False], [[2, 1, 1, 4], True, True], [[2, 1, 1, 4], False]]
    ),
}  # fmt: skip
