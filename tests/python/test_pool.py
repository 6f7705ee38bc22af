"""Pools, interpolation and patches beyond what Paddle is asked: each against its transpose or its definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps._calls import _operators

F = paddle.nn.functional


def whole(shape: tuple[int, ...], seed: int) -> Any:
    return paddle.to_tensor(np.random.default_rng(seed).integers(-9, 10, shape).astype(np.float32))


def test_places_of_the_largest_are_where_they_were() -> None:
    x = whole((2, 3, 7, 8), 1)
    found, places = F.max_pool2d(x, 3, 2, 1, return_mask=True)
    assert places.dtype == paddle.int32
    flat = x.numpy().reshape(2, 3, -1)
    assert np.array_equal(np.take_along_axis(flat, places.numpy().reshape(2, 3, -1), 2).reshape(found.shape), found)


def test_max_unpool_adds_what_meets() -> None:
    """The gradient of max_pool: elements that are the largest of several windows get the sum."""
    x = whole((1, 2, 5, 5), 2)
    found, places = F.max_pool2d(x, 3, 1, return_mask=True)
    dy = whole(tuple(found.shape), 3)
    dx = _operators.max_unpool(dy, places, [5, 5], True, False)
    want = np.zeros((2, 25))
    for c in range(2):
        np.add.at(want[c], places.numpy()[0, c].reshape(-1), dy.numpy()[0, c].reshape(-1))
    assert np.array_equal(dx.numpy().reshape(2, 25), want)


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "padding"),
    [
        ((5,), [1], [3], [0]),  # ceil_mode adds a window behind the end
        ((5, 7), [2, 1], [2, 2], [0, 0]),
        ((4, 3, 5), [1, 3, 1], [2, 1, 3], [0, 1, 0]),
        ((8,), [3], [2], [1]),  # no window is empty
    ],
)
@pytest.mark.parametrize("traced", [False, True])
def test_a_window_without_elements_has_no_gradient(
    size: tuple[int, ...], kernel: list[int], stride: list[int], padding: list[int], traced: bool
) -> None:
    x = whole((2, 3, *size), 11)
    x.stop_gradient = False
    pool = getattr(F, f"max_pool{len(size)}d")

    def pooled(x: Any) -> Any:
        return pool(x, kernel, stride, padding, ceil_mode=True)

    y = (paddle.jit.to_static(pooled) if traced else pooled)(x)
    dy = whole(tuple(y.shape), 12)
    y.backward(dy)
    want = np.zeros(x.shape)
    for image, channel, *window in np.ndindex(*y.shape):
        first = [i * s - p for i, s, p in zip(window, stride, padding)]
        part = tuple(slice(max(a, 0), max(a + k, 0)) for a, k in zip(first, kernel))
        elements = x.numpy()[(image, channel, *part)]
        if elements.size:
            largest = np.unravel_index(elements.argmax(), elements.shape)
            place = tuple(max(a, 0) + i for a, i in zip(first, largest))
            want[(image, channel, *place)] += dy.numpy()[(image, channel, *window)]
    assert np.array_equal(x.grad.numpy(), want)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float16", "float64"])
def test_max_unpool_places_every_dtype(dtype: str) -> None:
    x = paddle.to_tensor([[[1, 2]]]).astype(dtype)
    y = _operators.max_unpool(x, paddle.to_tensor([[[3, 0]]]), [4], False, False)
    assert y.astype("int64").tolist() == [[[2, 0, 0, 1]]]


def test_an_index_out_of_range() -> None:
    for index in (-1, 4):
        with pytest.raises(IndexError, match=f"an index is {index}; want 0 to 3"):
            _operators.max_unpool(paddle.zeros([1, 1, 1]), paddle.to_tensor([[[index]]]), [4], False, False)


@pytest.mark.parametrize(
    ("attributes", "shape"),
    [
        (([3, 2], [2, 1], [1, 0, 0, 1], False, False, True), (2, 3, 7, 8)),
        (([4, 2], None, None, True, False, False), (1, 2, 7, 9)),
        (([3, 4], None, None, False, True, True), (2, 2, 7, 9)),
    ],
)
def test_avg_unpool_is_the_transpose_of_avg_pool(attributes: Any, shape: tuple[int, ...]) -> None:
    x = whole(shape, 4).astype("float64")
    y = _operators.avg_pool(x, *attributes, False)
    dy = whole(tuple(y.shape), 5).astype("float64")
    dx = _operators.avg_unpool(dy, list(shape[2:]), *attributes, False)
    assert dx.shape == x.shape
    got, want = (x.numpy() * dx.numpy()).sum(), (y.numpy() * dy.numpy()).sum()
    # Each of the n terms of either sum is rounded four times on the way.
    assert abs(got - want) <= 4 * x.size * 2.0**-53 * 81 * x.size


@pytest.mark.parametrize("place", ["cpu", "mps"])
@pytest.mark.parametrize(
    ("pool", "shape", "arguments", "made"),
    [
        (F.max_pool1d, [2, 3, 0], (3, 1, 1), [2, 3, 0]),
        (F.max_pool1d, [2, 3, 1], (2, 1), [2, 3, 0]),  # no window
        (F.max_pool1d, [2, 3, 0], (3, 2, 1), [2, 3, 1]),  # a window without an element
        (F.max_pool2d, [2, 3, 0, 4], (3, 1, 1), [2, 3, 0, 4]),
        (F.max_pool3d, [1, 1, 0, 4, 4], (3, 1, 1), [1, 1, 0, 4, 4]),
        (F.avg_pool1d, [2, 3, 0], (3, 1, 1), [2, 3, 0]),
        (F.avg_pool1d, [2, 3, 1], (2, 1), [2, 3, 0]),
        (F.avg_pool1d, [2, 3, 0], (3, 2, 1), [2, 3, 1]),
        (F.avg_pool2d, [2, 3, 0, 4], (3, 1, 1), [2, 3, 0, 4]),
    ],
)
def test_planes_and_results_without_elements(pool: Any, shape: Any, arguments: Any, made: Any, place: str) -> None:
    x = paddle.ones(shape, place=place)
    x.stop_gradient = False
    y = pool(x, *arguments)
    assert y.shape == made
    y.sum().backward()
    assert x.grad.shape == shape
    assert not x.grad.numpy().any()  # what no window sees has gradient 0


def test_a_nan_is_the_largest_and_the_first_of_equals_is_named() -> None:
    line = paddle.to_tensor([[[1.0, 3.0, 3.0, float("nan"), 5.0, float("nan")]]])
    found, places = F.max_pool1d(line, 3, return_mask=True)
    assert found.numpy()[0, 0, 0] == 3
    assert np.isnan(found.numpy()[0, 0, 1])
    assert places.tolist() == [[[1, 3]]]


def test_fold_is_the_transpose_of_unfold() -> None:
    x = whole((2, 3, 6, 7), 6)
    y = F.unfold(x, [3, 2], [2, 1], [1, 0, 2, 1], [1, 2])
    dy = whole(tuple(y.shape), 7)
    dx = F.fold(dy, [6, 7], [3, 2], [2, 1], [1, 0, 2, 1], [1, 2])
    assert float((x * dx).sum()) == float((y * dy).sum())


@pytest.mark.parametrize(
    ("shape", "kernel", "strides", "paddings", "dilations"),
    [
        ((2, 3, 6, 7), [3, 2], [2, 1], [1, 0, 2, 1], [1, 2]),
        (
            (1, 2, 9, 8),
            [2, 3],
            [3, 4],
            0,
            [1, 2],
        ),  # a stride longer than the kernel, and remainders that no element has
        ((1, 1, 10, 10), [3, 2], [4, 3], 1, [3, 5]),
        ((2, 1, 4, 4), [2, 2], [2, 2], 0, [1, 1]),  # windows that only touch
        ((1, 2, 3, 4), [3, 4], [1000000000, 7], 0, [1, 1]),  # one window, whatever the stride
        ((0, 2, 4, 4), [2, 2], [1, 1], 0, [1, 1]),
    ],
)
def test_unfold_and_fold_are_those_of_loops(
    shape: tuple[int, ...], kernel: list[int], strides: list[int], paddings: Any, dilations: list[int]
) -> None:
    top, left, bottom, right = [paddings] * 4 if isinstance(paddings, int) else paddings
    n, c, h, w = shape
    rows, cols = [
        range(0, size - d * (k - 1), s)
        for size, k, s, d in zip((h + top + bottom, w + left + right), kernel, strides, dilations)
    ]
    x = whole(shape, 6).numpy().astype("float64")
    around = np.pad(x, [(0, 0), (0, 0), (top, bottom), (left, right)])
    columns = np.empty((n, c, *kernel, len(rows), len(cols)))
    for i, j in np.ndindex(*kernel):
        for r, row in enumerate(rows):
            for s, col in enumerate(cols):
                columns[:, :, i, j, r, s] = around[:, :, row + i * dilations[0], col + j * dilations[1]]
    dy = whole(columns.shape, 7).numpy().astype("float64")
    sums = np.zeros_like(around)
    for i, j in np.ndindex(*kernel):
        for r, row in enumerate(rows):
            for s, col in enumerate(cols):
                sums[:, :, row + i * dilations[0], col + j * dilations[1]] += dy[:, :, i, j, r, s]
    dx = sums[:, :, top : top + h, left : left + w]
    lines = (n, c * kernel[0] * kernel[1], len(rows) * len(cols))

    def unfold(x: Any) -> Any:
        return F.unfold(x, kernel, strides, paddings, dilations)

    def fold(y: Any) -> Any:
        return F.fold(y, [h, w], kernel, strides, paddings, dilations)

    for run in (lambda f: f, paddle.jit.to_static):
        for function, operand, result, slope, want in (
            (unfold, x, columns.reshape(lines), dy.reshape(lines), dx),
            (fold, dy.reshape(lines), dx, x, columns.reshape(lines)),
        ):
            given = paddle.to_tensor(operand, stop_gradient=False)
            made = run(function)(given)
            assert np.array_equal(made.numpy(), result)  # sums of small whole numbers are exact
            made.backward(paddle.to_tensor(slope))
            assert np.array_equal(given.grad.numpy(), want)


def test_an_identity_grid_is_the_image() -> None:
    x = whole((2, 3, 5, 5), 8)
    theta = paddle.to_tensor(np.tile(np.eye(2, 3, dtype=np.float32), (2, 1, 1)))
    for mode in ("bilinear", "nearest"):
        grid = F.affine_grid(theta, [2, 3, 5, 5])
        assert np.allclose(F.grid_sample(x, grid, mode).numpy(), x.numpy(), rtol=0, atol=9 * 8 * 2.0**-23 * 5)


def test_an_antialiased_half_weighs_four_elements_an_axis() -> None:
    x = np.arange(8, dtype=np.float32) ** 2
    y = F.interpolate(paddle.to_tensor(x).reshape([1, 1, 1, 8]), [1, 4], mode="bilinear", antialias=True)
    inside = [(x[i - 1 : i + 3] * [1, 3, 3, 1]).sum() / 8 for i in (2, 4)]
    assert np.allclose(y.numpy().ravel()[1:3], inside, rtol=1e-6, atol=0)


def test_a_resize_to_the_same_size_is_the_image() -> None:
    x = whole((1, 2, 5, 6), 9)
    for mode in ("nearest", "bilinear", "bicubic", "area"):
        assert np.array_equal(F.interpolate(x, [5, 6], mode=mode).numpy(), x.numpy()), mode
    for mode in ("bilinear", "bicubic"):
        assert np.array_equal(F.interpolate(x, [5, 6], mode=mode, antialias=True).numpy(), x.numpy()), mode
    with pytest.raises(ValueError, match="antialias is set for 'nearest'"):
        F.interpolate(x, [3, 3], antialias=True)
    with pytest.raises(TypeError, match="recompute_scale_factor twice"):
        F.interpolate(x, None, 2.0, "nearest", False, True, recompute_scale_factor=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: _operators.max_pool(x, [2]), "kernel_size has 1 numbers"),
        (lambda x: _operators.max_pool(x, [9, 9], [1, 1]), "a window of 9 elements does not fit axis 0 of 5"),
        (lambda x: _operators.avg_unpool(x, [9, 9], [2, 2]), "the windows of"),
        (lambda x: _operators.avg_unpool(x, [9], [2, 2]), "size has 1 numbers"),
        (lambda x: _operators.avg_unpool(x, [9, -1], [2, 2]), "want numbers from 0"),
        (lambda x: _operators.max_unpool(x, paddle.zeros([1], "int64"), [9, 9]), "want one shape"),
        (
            lambda x: _operators.avg_pool(x[:, :, :0], [2, 2], None, None, False, True),
            "want elements on each spatial axis",
        ),
    ],
)
def test_calls_that_do_not_fit(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(paddle.zeros([1, 2, 5, 5]))
