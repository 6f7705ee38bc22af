"""What the rows of core/op/formula/composites_detection.go should answer, in NumPy: a part of oracles.py, which says what each entry means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

rng = np.random.default_rng(59)


def floats(*shape: int) -> Any:
    return rng.standard_normal(shape)


def boxes(*shape: int) -> Any:
    """Corners whose widths and heights are above 0."""
    first = rng.uniform(-2, 5, (*shape, 2))
    return np.concatenate([first, first + rng.uniform(0.5, 6, (*shape, 2))], -1)


def chance(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def coded(
    prior: Any, variance: Any, target: Any, code: str = "encode_center_size", normalized: bool = True, axis: int = 0
) -> Any:
    """Pair by pair."""
    encodes, more = code.startswith("encode"), 0 if normalized else 1
    y = np.zeros((len(target), len(prior), 4) if encodes else target.shape)
    for i, j in np.ndindex(*y.shape[:2]):
        k = j if encodes or axis == 0 else i
        left, top, right, bottom = prior[k]
        w, h = right - left + more, bottom - top + more
        cx, cy = left + w / 2, top + h / 2
        v = np.ones(4) if variance is None else variance if variance.ndim == 1 else variance[k]
        if encodes:
            a, b, c, d = target[i]
            offset = [((a + c) / 2 - cx) / w, ((b + d) / 2 - cy) / h]
            y[i, j] = [*offset, math.log(abs((c - a + more) / w)), math.log(abs((d - b + more) / h))] / v
        else:
            a, b, c, d = target[i, j] * v
            x, z, half, high = a * w + cx, b * h + cy, math.exp(c) * w / 2, math.exp(d) * h / 2
            y[i, j] = [x - half, z - high, x + half - more, z + high - more]
    return y


def priors(
    x: Any,
    image: Any,
    least: Any,
    most: Any,
    ratios: Any,
    variance: Any,
    clip: bool = False,
    step_w: float = 0.0,
    step_h: float = 0.0,
    offset: float = 0.5,
    square_second: bool = False,
) -> Any:
    """Cell by cell, box by box."""
    (h, w), (height, width) = x.shape[2:], image.shape[2:]
    if step_w == 0 or step_h == 0:
        step_w, step_h = width / w, height / h
    sizes: list[tuple[float, float]] = []
    for i, s in enumerate(least):
        own = [(s * math.sqrt(r), s / math.sqrt(r)) for r in ratios]
        if most:
            own.insert(1 if square_second else len(own), (math.sqrt(s * most[i]),) * 2)
        sizes += own
    y = np.zeros((h, w, len(sizes), 4))
    for i, j, k in np.ndindex(h, w, len(sizes)):
        cx, cy, (a, b) = (j + offset) * step_w, (i + offset) * step_h, sizes[k]
        y[i, j, k] = [(cx - a / 2) / width, (cy - b / 2) / height, (cx + a / 2) / width, (cy + b / 2) / height]
    return (np.clip(y, 0, 1) if clip else y), np.zeros_like(y) + variance


def predicted(
    x: Any,
    sizes: Any,
    anchors: Any,
    classes: int = 1,
    least: float = 0.01,
    pixels: int = 32,
    clip: bool = True,
    scale: float = 1.0,
    overlaps: bool = False,
    power: float = 0.5,
) -> Any:
    """Anchor by anchor, cell by cell."""
    (n, _, h, w), count = x.shape, len(anchors) // 2
    found, scores = np.zeros((n, count, h, w, 4)), np.zeros((n, count, h, w, classes))
    for b, k, i, j in np.ndindex(n, count, h, w):
        first = (count if overlaps else 0) + k * (5 + classes)
        across, down, wide, high, object, *own = x[b, first : first + 5 + classes, i, j]
        score = chance(object)
        if overlaps:
            score = score ** (1 - power) * chance(x[b, k, i, j]) ** power
        if score < least:
            continue
        height, width = sizes[b]
        cx = (j + chance(across) * scale - (scale - 1) / 2) / w * width
        cy = (i + chance(down) * scale - (scale - 1) / 2) / h * height
        half_w = math.exp(wide) * anchors[2 * k] / (pixels * w) * width / 2
        half_h = math.exp(high) * anchors[2 * k + 1] / (pixels * h) * height / 2
        box = [cx - half_w, cy - half_h, cx + half_w, cy + half_h]
        if clip:
            box = [max(box[0], 0), max(box[1], 0), min(box[2], width - 1), min(box[3], height - 1)]
        found[b, k, i, j], scores[b, k, i, j] = box, score * chance(np.array(own))
    return found.reshape(n, -1, 4), scores.reshape(n, -1, classes)


def rounded(p: float) -> int:
    """Halves away from 0."""
    return math.floor(p + 0.5) if p >= 0 else math.ceil(p - 0.5)


def largest(x: Any, corners: Any, counts: Any, height: int = 1, width: int = 1, scale: float = 1.0) -> Any:
    """Bin by bin."""
    y = np.zeros((len(corners), x.shape[1], height, width))
    images = np.repeat(np.arange(len(counts)), counts)
    for b, i, j in np.ndindex(len(corners), height, width):
        left, top, right, bottom = (rounded(p * scale) for p in corners[b])
        edges = []
        for size, n, k, low, high in ((x.shape[2], height, i, top, bottom), (x.shape[3], width, j, left, right)):
            each = max(high - low + 1, 1) / n
            edges.append(slice(*np.clip([math.floor(k * each) + low, math.ceil((k + 1) * each) + low], 0, size)))
        part = x[images[b], :, edges[0], edges[1]]
        if part.size:
            y[b, :, i, j] = part.max((1, 2))
    return y


VARIANCE = [0.1, 0.1, 0.2, 0.2]
FAR = np.array([[7.6, 5.1, 20.0, 9.0], [-9.0, -9.0, -3.0, -2.0]])  # partly and wholly outside of 6 by 9

ORACLES: dict[str, tuple[Any, ...]] = {
    "box_coder": (
        coded, lambda: [boxes(3), rng.uniform(0.1, 1, 4), boxes(2)], [[], ["encode_center_size", False]],
    ),
    "box_coder/each": (coded, lambda: [boxes(3), rng.uniform(0.1, 1, (3, 4)), boxes(2)], [[]]),
    "box_coder/no_variance": (coded, lambda: [boxes(3), None, boxes(2)], [[], ["encode_center_size", False]]),
    "box_coder/decode": (
        coded, lambda: [boxes(3), rng.uniform(0.1, 1, (3, 4)), floats(3, 3, 4)],
        [["decode_center_size"], ["decode_center_size", False, 1]],
    ),
    "box_coder/decode_none": (coded, lambda: [boxes(3), None, floats(2, 3, 4) * 0.3], [["decode_center_size", False, 0]]),
    "prior_box": (
        priors, lambda: [floats(1, 2, 3, 5), floats(1, 3, 30, 40)],
        [
            [[4.0], None, [1.0], VARIANCE],
            [[4.0, 9.0], [10.0, 20.0], [1.0, 2.0, 0.5, 3.0], VARIANCE, True],
            [[4.0, 9.0], [10.0, 20.0], [1.0, 2.0], VARIANCE, False, 7.0, 9.0, 0.25, True],
        ],
        (0, 1),
    ),
    "yolo_box": (
        predicted, lambda: [floats(2, 14, 2, 3), rng.integers(20, 90, (2, 2))],
        [[[10, 13, 16, 30], 2], [[10, 13, 16, 30], 2, 0.5, 8], [[10, 13, 16, 30], 2, 0.4, 16, False, 1.2]],
        (1,),
    ),
    "yolo_box/overlaps": (
        predicted, lambda: [floats(1, 14, 2, 2), rng.integers(20, 90, (1, 2))], [[[9, 5, 6, 8], 1, 0.5, 8, True, 1.0, True, 0.3]], (1,)
    ),
    "roi_pool": (
        largest, lambda: [floats(2, 2, 6, 9), np.concatenate([boxes(3), FAR]), np.array([3, 2])],
        [[], [2, 3], [3, 2, 0.7], [7, 5, 1.5]], (1, 2),
    ),
    "roi_pool/one": (largest, lambda: [floats(1, 2, 1, 1), boxes(2), np.array([2])], [[2, 2]], (1, 2)),
}  # fmt: skip
