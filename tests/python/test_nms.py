"""Non-maximum suppression: the row against a loop in NumPy, on each place."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps._calls import _operators as ops

pytestmark = pytest.mark.parametrize("place", ["cpu", "mps"])

rng = np.random.default_rng(11)


def corners(boxes, center):
    a, b = boxes[..., :2], boxes[..., 2:]
    if center:
        a, b = a - b / 2, a + b / 2
    return np.minimum(a, b), np.maximum(a, b)


def overlap(low, high, i, j):
    """The intersection over union of boxes i and j; 0 where one of them has no area."""
    sides = np.maximum(np.minimum(high[i], high[j]) - np.maximum(low[i], low[j]), 0)
    common = np.prod(sides)
    return common / (np.prod(high[i] - low[i]) + np.prod(high[j] - low[j]) - common) if common > 0 else 0


def chosen(boxes, scores, most, limit, least=-np.inf, center=False):
    """What the row computes, a box at a time."""
    found = np.full((*scores.shape[:2], min(most, scores.shape[2])), -1)
    for batch, classes in enumerate(scores):
        low, high = corners(boxes[batch], center)
        for kind, line in enumerate(classes):
            kept: list[int] = []
            for i in np.argsort(-line, kind="stable"):
                if np.isnan(line[i]) or not (line[i] > least or least == -np.inf) or len(kept) == most:
                    continue
                if all(overlap(low, high, i, j) <= limit for j in kept):
                    kept.append(int(i))
            found[batch, kind, : len(kept)] = kept
    return found


def check(place, boxes, scores, *attributes):
    x, y = (paddle.to_tensor(v, place=place) for v in (boxes, scores))
    np.testing.assert_array_equal(ops.nms(x, y, *attributes), chosen(boxes, scores, *attributes))


def detections(batch, classes, count):
    """Boxes of eighths in a few heaps, so that overlaps are exact, and scores of which some are equal."""
    boxes = rng.integers(0, 64, (batch, count, 4)).astype("float32") / 8
    return boxes, rng.integers(-8, 24, (batch, classes, count)).astype("float32") / 16


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("limit", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("least", [-np.inf, 0.25, 2.0])
def test_choice(place, limit, least, center):
    boxes, scores = detections(2, 3, 57)
    for most in (0, 1, 5, 57, 1000):
        check(place, boxes, scores, most, limit, least, center)


@pytest.mark.parametrize("shape", [(0, 3, 5), (2, 0, 5), (2, 3, 0), (1, 1, 1)])
def test_sizes(place, shape):
    check(place, *detections(*shape), 4, 0.5, -np.inf, False)


def test_strided_operands(place):
    boxes, scores = detections(1, 4, 33)
    x = paddle.to_tensor(np.ascontiguousarray(boxes.transpose(0, 2, 1)), place=place).transpose([0, 2, 1])
    y = paddle.to_tensor(np.repeat(scores, 2, axis=2), place=place)[:, :, ::2]
    np.testing.assert_array_equal(ops.nms(x, y, 9, 0.3, -np.inf, False), chosen(boxes, scores, 9, 0.3))


def test_special_scores(place):
    boxes, scores = detections(1, 1, 6)
    scores[0, 0, :4] = [np.nan, np.inf, -np.inf, 0.0]
    check(place, boxes, scores, 6, 0.9, 0.0, False)
    check(place, boxes, scores, 6, 0.9, -np.inf, False)


def test_no_area_overlaps_nothing(place):
    boxes = np.array([[[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 2, 2]]], "float32")
    check(place, boxes, np.array([[[3, 2, 1]]], "float32"), 3, 0.0, -np.inf, False)


def test_errors(place):
    boxes, scores = (paddle.to_tensor(v, place=place) for v in detections(2, 3, 5))
    for x, y in [(boxes[0], scores), (boxes, scores[:1]), (boxes[:, :4], scores), (boxes[:, :, :3], scores)]:
        with pytest.raises(ValueError, match=r"\[nms\] boxes have shape .*; want \[batch, n, 4\]"):
            ops.nms(x, y, 5, 0.5, -np.inf, False)
    with pytest.raises(ValueError, match="max_output_size is -1; want 0 or more"):
        ops.nms(boxes, scores, -1, 0.5, -np.inf, False)
