"""The operator log_softmax, on every device: by the host's kernel, and in terms of other operators, as float64 and other devices have it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
import paddle_mps.nn.functional as F
from paddle_mps._calls import _operators
from paddle_mps.jit import to_static

PLACES = ["cpu"] + ["mps:0"] * (paddle.mps.device_count() > 0)
CASES = [("cpu", "float32"), ("cpu", "float64")] + [("mps:0", "float32")] * (paddle.mps.device_count() > 0)
RNG = np.random.default_rng(12)
EPS = {"float32": 2.0**-24, "float64": 2.0**-53}
Array = Any


def log_softmax(x: Array, axis: int) -> tuple[Array, Array]:
    """The results in long double, and what the error of a composed one is proportional to, without the rounding unit.

    Rounding x - max(x) is an error of that many units, for the element and, as a factor of the power, for the sum. exp and log have
    4 ulp at most, which are 8 units, and the sum has a rounding for each term.
    """
    x = x.astype(np.longdouble)
    with np.errstate(invalid="ignore"):
        d = x - x.max(axis, keepdims=True)
        e = np.exp(d)
        others = e.sum(axis, keepdims=True)
        log = np.log(others)
        size = np.where(np.isinf(d), 0, -d)
        mean = (e * size).sum(axis, keepdims=True) / others
        return d - log, size + mean + x.shape[axis] + 8 + 8 * log + np.where(np.isinf(d), 0, log - d)


def near_top(x: Array) -> Array:
    """The results of rows of two elements in long double, also where they are nearly 0."""
    d = x.astype(np.longdouble) - x.max(-1, keepdims=True).astype(np.longdouble)
    return d - np.log1p(np.exp(d.min(-1, keepdims=True)))


@pytest.mark.parametrize("place, dtype", CASES)
@pytest.mark.parametrize(
    "shape, axis", [((7, 10), -1), ((3, 64), 1), ((65, 5), 0), ((2, 33, 4), 1), ((1,), 0), ((2, 1100), -1)]
)
def test_values(place: str, dtype: str, shape: tuple[int, ...], axis: int) -> None:
    for scale in (0.1, 3.0, 60.0):
        x = (scale * RNG.standard_normal(shape)).astype(dtype)
        x.reshape(-1)[0] = -np.inf if x.shape[axis] > 1 else 1
        want, size = log_softmax(x, axis)
        t = paddle.to_tensor(x, place=place)
        for y in (F.log_softmax(t, axis), to_static(lambda v: F.log_softmax(v, axis))(t)):
            assert y.shape == list(shape) and y.dtype == t.dtype
            got = y.numpy().astype(np.longdouble)
            finite = np.isfinite(want)
            assert np.array_equal(np.isfinite(got), finite)
            assert (np.abs(got[finite] - want[finite]) <= EPS[dtype] * size[finite]).all()


def test_small_results_have_all_digits_on_the_host() -> None:
    """Where one element is far above the others its result is minus the sum of their powers."""
    x = np.stack([np.linspace(-90, 90, 1000, dtype=np.float32), np.zeros(1000, np.float32)], -1)
    got, want = F.log_softmax(paddle.to_tensor(x, place="cpu")).numpy(), near_top(x)
    assert (np.abs(got - want) <= 2 * np.spacing(np.abs(want).astype(np.float32))).all()


@pytest.mark.parametrize("place", PLACES)
def test_layouts(place: str) -> None:
    """Views give what copies give, and the result may replace the operand."""
    x = RNG.standard_normal((6, 8, 10)).astype(np.float32)
    t = paddle.to_tensor(x, place=place)
    for view, same in (
        (t.transpose([2, 0, 1]), x.transpose(2, 0, 1)), (t[::2, 1:, ::-1], x[::2, 1:, ::-1]), (t[:, :, 3:4], x[:, :, 3:4]),
        (t[:1, :1].expand([4, 5, 10]), np.broadcast_to(x[:1, :1], (4, 5, 10))),
    ):  # fmt: skip
        for axis in (-1, 0, 1):
            want = F.log_softmax(paddle.to_tensor(np.ascontiguousarray(same), place=place), axis).numpy()
            assert np.array_equal(F.log_softmax(view, axis).numpy(), want)


@pytest.mark.parametrize("place, dtype", CASES)
def test_special_rows(place: str, dtype: str) -> None:
    nan, inf = np.nan, np.inf
    x = np.array([[nan, 1, 2], [inf, 1, 2], [-inf, -inf, -inf], [-inf, 0, 0], [inf, -inf, nan]], dtype)
    got = F.log_softmax(paddle.to_tensor(x, place=place)).numpy()
    assert np.isnan(got[[0, 1, 2, 4]]).all()
    assert got[3][0] == -inf and np.allclose(got[3][1:], -np.log(2))


@pytest.mark.parametrize("place, dtype", CASES)
def test_no_elements_and_no_axes(place: str, dtype: str) -> None:
    for shape in ((0, 3), (3, 0)):
        t = paddle.to_tensor(np.zeros(shape, dtype), place=place)
        assert F.log_softmax(t).shape == list(shape)
        assert _operators.log_softmax(t, -1).shape == list(shape)
    t = paddle.to_tensor(np.array(3, dtype), place=place, stop_gradient=False)
    y = F.log_softmax(t)
    assert y.shape == [] and float(y) == 0
    y.backward()
    assert float(t.grad) == 0


@pytest.mark.parametrize("place", PLACES)
def test_halves_are_rounded_once(place: str) -> None:
    x = RNG.standard_normal((5, 12)).astype(np.float32)
    for dtype in ("float16", "bfloat16"):
        t = paddle.to_tensor(x, place=place).astype(dtype)
        want = F.log_softmax(t.astype("float32")).astype(dtype)
        assert np.array_equal(F.log_softmax(t).astype("float32").numpy(), want.astype("float32").numpy())


def test_refusals() -> None:
    t = paddle.to_tensor(np.zeros((2, 3), np.float32))
    with pytest.raises(ValueError, match=r"log_softmax.*axis"):
        F.log_softmax(t, 2)
    with pytest.raises(paddle.UnsupportedError, match="log_softmax"):
        F.log_softmax(t.astype("int32"))
