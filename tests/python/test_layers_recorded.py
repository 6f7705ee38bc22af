"""Layers answer what PaddlePaddle 3.3.1 answered: text, state and its names, results in training and evaluation, gradients."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import layers

KNOWN: dict[str, Any] = json.loads(layers.GOLDEN.read_text(encoding="utf-8"))

# Gradients of PaddlePaddle that are wrong, so that ours are not compared with them.
DEFECTS = {
    "nn.GroupNorm(2, 4, 1e-3, weight_attr=False) | 2,4,2,2": "without a weight, those of a group do not sum to 0",
    "nn.GroupNorm(2, 4, weight_attr=False, bias_attr=False) | 2,4,2": "without a weight, those of a group do not sum to 0",
    "nn.SpectralNorm([3, 4]) | 3,4": "products of elements where the sum of them is right",
    "nn.SpectralNorm([2, 3, 2], 1, 3) | 2,3,2": "products of elements where the sum of them is right",
}


def test_every_case_is_recorded() -> None:
    assert list(KNOWN) == layers.cases()


def same(case: str, part: str, got: list[Any], want: list[Any]) -> None:
    """Shapes, and elements within the roundings of float32 sums: beside the largest element of each tensor, or, as for a gradient that is
    0 but for its roundings, beside the largest of all.
    """
    assert [shape for shape, _ in got] == [shape for shape, _ in want], (case, part)
    largest = max((abs(v) for _, theirs in want for v in theirs if np.isfinite(v)), default=0.0)
    for (shape, mine), (_, theirs) in zip(got, want):
        a, b = np.array(mine, np.float64), np.array(theirs, np.float64)
        assert np.array_equal(np.isnan(a), np.isnan(b)), (case, part, shape)
        atol = max(2e-5 * np.nanmax(np.abs(b), initial=0.0), 1e-6 * largest)
        np.testing.assert_allclose(a, b, rtol=0, atol=atol, err_msg=f"{case}: {part} {shape}")


@pytest.mark.parametrize("place", ["cpu", "mps"])
@pytest.mark.parametrize("case", layers.cases())
def test_layer(case: str, place: str) -> None:
    before = paddle.get_device()
    paddle.set_device(place)
    try:
        found = layers.answer(paddle, case)
    except Exception as error:
        assert KNOWN[case] == {"raises": type(error).__name__}, error
        return
    finally:
        paddle.set_device(before)
    want = KNOWN[case]
    for part in ("repr", "state", "parameters"):
        assert found[part] == want[part], case
    for part in sorted(set(want) - {"repr", "state", "parameters"}):
        if case in DEFECTS and "gradients" in part:
            continue
        same(case, part, found[part], want[part])
    assert set(found) == set(want), case
