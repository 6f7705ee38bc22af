"""Windows of signals: general_cosine, beside NumPy's windows, which are not periodic, and by its definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps._calls import _operators as ops
from paddle_mps._core._objects import meta

WINDOWS: dict[str, tuple[list[float], Any]] = {
    "hann": ([0.5, 0.5], np.hanning),
    "hamming": ([0.54, 0.46], np.hamming),
    "blackman": ([0.42, 0.5, 0.08], np.blackman),
}


@pytest.fixture(params=["cpu", "mps:0"])
def place(request: Any) -> str:
    if request.param != "cpu" and not paddle.device.mps.device_count():
        pytest.skip("no mps device")
    return str(request.param)


def made(place: str, *attributes: Any) -> Any:
    return ops.general_cosine(meta(paddle.zeros([1]).to(place)).place.word, *attributes)


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("size", [0, 2, 5, 8, 1001])
def test_windows(name: str, size: int, place: str) -> None:
    coefficients, window = WINDOWS[name]
    for dtype, bound in (("float32", 2e-7), ("float16", 1e-3), ("float64", 1e-14)):
        if dtype == "float64" and place != "cpu":
            continue
        whole = made(place, size, coefficients, False, getattr(paddle, dtype))
        assert whole.dtype == getattr(paddle, dtype) and whole.shape == [size]
        np.testing.assert_allclose(whole.numpy(), window(size), atol=bound)
        periodic = made(place, size, coefficients, True, getattr(paddle, dtype))
        np.testing.assert_allclose(periodic.numpy(), window(size + 1)[:-1], atol=bound)


def test_any_number_of_coefficients(place: str) -> None:
    coefficients = [0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368]  # of a window with a flat top
    turns = 2 * np.pi * np.arange(16) / 16
    want = sum((-1) ** k * a * np.cos(k * turns) for k, a in enumerate(coefficients))
    np.testing.assert_allclose(made(place, 16, coefficients, True, paddle.float32).numpy(), want, atol=1e-6)
    np.testing.assert_array_equal(made(place, 3, [], True, paddle.float32).numpy(), [0, 0, 0])
    np.testing.assert_array_equal(made(place, 3, [2.75], False, paddle.int32).numpy(), [2, 2, 2])


def test_sizes_that_are_none(place: str) -> None:
    for size in (-1, 1 << 40):
        with pytest.raises(ValueError, match=r"\[general_cosine\] the size is .*; want 0 to 16777216"):
            made(place, size, [1.0], True, paddle.float32)
