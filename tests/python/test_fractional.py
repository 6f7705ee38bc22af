"""Fractional pools against PaddlePaddle's formulas, element by element. tests/peers asks PaddlePaddle itself."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle

F: Any = paddle.nn.functional
LOWEST = np.finfo(np.float32).min
PLACES = ("cpu", "mps")


def bounds(size: int, count: int, kernel: int, u: np.float32) -> list[tuple[int, int]]:
    """From where to where each window reaches: FractionalStartIndex and FractionalEndIndex of paddle/phi/kernels/funcs/pooling.h."""
    one = np.float32(1)
    a = np.float32(size - kernel) / np.float32(count - 1 if kernel and count > 1 else count)
    if not kernel:
        base = size // count
        u = u * min(np.float32(base + 2) / a - one, np.float32(size + 1 - base) / a - np.float32(count - 1))
    found = []
    for i in map(np.float32, range(count)):
        first = int((i + u) * a) - int(u * a)
        behind = first + kernel if kernel else int((i + one + u) * a) - int(u * a)
        found.append((max(first, 0), min(behind, size)))
    return found


def expected(x: np.ndarray[Any, Any], out: list[int], kernel: list[int], u: float) -> tuple[Any, Any]:
    """The first element of each window that is larger than all before it, as Paddle's loops find it."""
    size = x.shape[2:]
    values, places = np.zeros((*x.shape[:2], *out), x.dtype), np.zeros((*x.shape[:2], *out), np.int32)
    windows = [bounds(n, m, k, np.float32(u)) for n, m, k in zip(size, out, kernel)]
    for at in itertools.product(*[range(n) for n in values.shape]):
        best, place = x.dtype.type(LOWEST), -1
        for element in itertools.product(*[range(*w[i]) for w, i in zip(windows, at[2:])]):
            if x[(*at[:2], *element)] > best:
                best, place = x[(*at[:2], *element)], int(np.ravel_multi_index(element, size))
        values[at], places[at] = best, place
    return values, places


CASES = [
    ((7, 9), [3, 4], None, 0.3),
    ((7, 9), [3, 4], [2, 3], 0.7),
    ((7, 9), [1, 1], [3, 2], 0.5),
    ((7, 9), [8, 9], None, 0.5),  # more windows than elements: some are empty
    ((5, 6), [5, 6], None, 0.9),
    ((5, 6, 7), [2, 3, 4], None, 0.1),
    ((5, 6, 7), [2, 3, 4], [2, 2, 3], 0.6),
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("size", "out", "kernel", "u"), CASES)
def test_windows_are_those_of_paddle(
    size: tuple[int, ...], out: list[int], kernel: list[int] | None, u: float, dtype: str, place: str
) -> None:
    if dtype == "float64" and place == "mps":
        pytest.skip("float64 is on the CPU only")
    random = np.random.default_rng(len(size))
    array = random.integers(-9, 10, (2, 3, *size)).astype(dtype)
    array[random.random(array.shape) < 0.1] = np.nan
    array[random.random(array.shape) < 0.1] = -np.inf
    x = paddle.to_tensor(array, place=place)
    x.stop_gradient = False
    pool = getattr(F, f"fractional_max_pool{len(size)}d")
    y, mask = pool(x, out, kernel, u, return_mask=True)
    values, places = expected(array, out, kernel or [0] * len(size), u)
    assert mask.dtype == paddle.int32 and y.dtype == x.dtype
    assert np.array_equal(y.numpy(), values) and np.array_equal(mask.numpy(), places)
    assert np.array_equal(pool(x, out, kernel, u).numpy(), values)

    weight = random.integers(-9, 10, values.shape).astype(dtype)
    (y * paddle.to_tensor(weight, place=place)).sum().backward()
    want = np.zeros((2, 3, int(np.prod(size))), dtype)
    for n, c in itertools.product(range(2), range(3)):
        found = places[n, c] >= 0
        np.add.at(want[n, c], places[n, c][found], weight[n, c][found])
    assert np.array_equal(x.grad.numpy(), want.reshape(x.shape))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kernel", [None, 2])
def test_without_a_number_windows_are_random(kernel: int | None, place: str) -> None:
    """Each call has windows of its own, a traced one too, and the seed repeats them. Numbers that ascend show where windows end."""
    x = paddle.arange(29 * 31, dtype="float32").reshape([1, 1, 29, 31]).to(place)

    def pooled(x: Any) -> Any:
        return F.fractional_max_pool2d(x, [11, 13], kernel, return_mask=True)

    for call in (pooled, paddle.jit.to_static(pooled)):
        paddle.seed(5)
        found = [call(x) for _ in range(8)]
        for y, mask in found:
            assert np.array_equal(y.numpy(), mask.numpy().astype(np.float32))
            ends = mask.numpy()[0, 0, :, -1] // 31
            assert (np.diff(ends) >= 1).all() and (np.diff(ends) <= 4).all()
        assert len({y.numpy().tobytes() for y, _ in found}) > 1
        paddle.seed(5)
        assert np.array_equal(call(x)[0].numpy(), found[0][0].numpy())


def test_sizes_of_none_are_those_of_x() -> None:
    x = paddle.rand([2, 1, 6, 5])
    assert F.fractional_max_pool2d(x, [None, 3]).shape == [2, 1, 6, 3]
    assert F.fractional_max_pool2d(x, (2, None)).shape == [2, 1, 2, 5]
    assert F.fractional_max_pool2d(x, 4, random_u=0.5).shape == [2, 1, 4, 4]


@pytest.mark.parametrize(
    ("shape", "dtype", "given", "error", "text"),
    [
        ((1, 4, 4), "float32", {"output_size": 2}, ValueError, "x has 3 axes; want 4"),
        ((1, 1, 4, 4), "int32", {"output_size": 2}, paddle.UnsupportedError, "x is int32; want a floating-point"),
        (
            (1, 1, 4, 4),
            "float32",
            {"output_size": [1, 2, 3]},
            ValueError,
            r"output_size is \[1, 2, 3\]; want an int or 2",
        ),
        ((1, 1, 4, 4), "float32", {"output_size": 0}, ValueError, "0 windows of 0 elements along an axis of 4"),
        ((1, 1, 4, 4), "float32", {"output_size": 3, "kernel_size": 3}, ValueError, "want 5 elements or more"),
        ((1, 1, 4, 4), "float32", {"output_size": 2, "random_u": 1.0}, ValueError, "random_u is 1.0; want"),
        ((1, 1, 4, 4), "float32", {"output_size": 2, "random_u": 0.0}, ValueError, "random_u is 0.0; want"),
    ],
)
def test_numbers_that_do_not_fit(
    shape: tuple[int, ...], dtype: str, given: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        F.fractional_max_pool2d(paddle.zeros(shape, dtype), **given)
