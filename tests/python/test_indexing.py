"""x[...] and x[...] = v against NumPy, over many keys, layouts and both places."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle

SHAPE = (3, 4, 5)
PLACES = ("cpu", "mps")
# For NumPy an integer beside an index tensor is an index tensor, too; here, as in Paddle, it is
# taken first. So integers stand only where that makes no difference: see test_integers_are_taken_first.
BASIC: list[Any] = [
    0, -1, 2, slice(None), slice(1, None), slice(None, None, -1), slice(3, 0, -2), slice(5, 9), slice(-9, 2),
    None, Ellipsis,
]  # fmt: skip
TENSORS: list[Any] = [
    np.array([0, 2]), np.array([[0, -1], [1, 0]]), np.array([], np.int64), np.array([2, 2, 0], np.int32), [1, 0],
    np.array([True, False, True]),
]  # fmt: skip


def array() -> np.ndarray[Any, Any]:
    return np.arange(60, dtype=np.float32).reshape(SHAPE)


def valid(key: Any) -> bool:
    try:
        array()[key]
    except (IndexError, ValueError):
        return False
    return True


def keys() -> list[tuple[Any, ...]]:
    basic = [k for n in (1, 2, 3) for k in itertools.product(BASIC, repeat=n) if k.count(Ellipsis) <= 1]
    views = [k for k in BASIC if not isinstance(k, int)]
    advanced: list[tuple[Any, ...]] = [(t,) for t in TENSORS]
    advanced += list(itertools.product(TENSORS, views)) + list(itertools.product(views, TENSORS))
    advanced += list(itertools.product(TENSORS[:4], TENSORS[:4]))
    advanced += [(a, v, b) for a in TENSORS[:2] for v in views for b in TENSORS[:2]]
    advanced += [(v, a, b) for v in views for a in TENSORS[:2] for b in TENSORS[:2]]
    chosen = random.Random(1).sample(basic, 300)
    return [k for k in chosen + advanced if sum(x is Ellipsis for x in k) <= 1 and valid(k)]


def moved(key: Any, place: str) -> Any:
    """A key with its arrays as tensors on a place."""
    return tuple(paddle.to_tensor(k, place=place) if isinstance(k, np.ndarray) else k for k in key)


@pytest.mark.parametrize("place", PLACES)
def test_reading(place: str) -> None:
    x = paddle.to_tensor(array(), place=place)
    assert len(keys()) > 400
    for key in keys():
        got, want = x[moved(key, place)], array()[key]
        assert got.shape == list(want.shape), key
        np.testing.assert_array_equal(got.numpy(), want, err_msg=str(key))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", ["number", "full", "last axis"])
def test_writing(place: str, value: str) -> None:
    for key in keys():
        want = array()
        part = want[key].shape
        given: Any = -7.0
        if value == "full":
            given = np.arange(np.prod(part), dtype=np.float32).reshape(part)
        elif value == "last axis" and part:
            given = np.arange(part[-1], dtype=np.float32)
        x = paddle.to_tensor(array(), place=place)
        x[moved(key, place)] = given if isinstance(given, float) else paddle.to_tensor(given, place=place)
        want[key] = given
        np.testing.assert_array_equal(x.numpy(), want, err_msg=str(key))


@pytest.mark.parametrize("place", PLACES)
def test_writing_through_views(place: str) -> None:
    want = array()
    x = paddle.to_tensor(want, place=place)
    x.transpose([2, 0, 1])[1:4, ::-1][:, [0, 2]] = -1.0
    view = x.transpose([2, 0, 1])[1:4, ::-1]
    view[:, [0, 2]] = -2.0
    want.transpose(2, 0, 1)[1:4, ::-1][:, [0, 2]] = -2.0
    np.testing.assert_array_equal(x.numpy(), want)


def test_integers_are_taken_first() -> None:
    x = paddle.to_tensor(array())
    assert x[0, :, paddle.to_tensor([0, 1])].shape == [4, 2]  # NumPy: [2, 4]


@pytest.mark.parametrize("place", PLACES)
def test_masks(place: str) -> None:
    want = array()
    x = paddle.to_tensor(want, place=place)
    for mask in (want > 30, want[:, :, 0] > 20, want[:, 0, 0] > 15, want > 100):
        given = paddle.to_tensor(mask, place=place)
        np.testing.assert_array_equal(x[given].numpy(), want[mask])
        changed, expected = x.clone(), want.copy()
        changed[given] = 0.5
        expected[mask] = 0.5
        np.testing.assert_array_equal(changed.numpy(), expected)


def test_repeated_indices_take_the_last_value() -> None:
    x = paddle.zeros([2])
    x[paddle.to_tensor([0, 0, 1])] = paddle.to_tensor([1.0, 2.0, 3.0])
    assert x.tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    "key, error",
    [
        (3, IndexError), ((0, 4), IndexError), ((0, 0, 0, 0), IndexError), ((slice(None),) * 4, ValueError),
        ("a", ValueError), (1.0, ValueError), ([0.5], ValueError), ({}, ValueError), ([3], IndexError),
        ([-4], IndexError), (np.array([True, False]), IndexError), (slice(None, None, 0), ValueError),
        (slice(1.5, None), ValueError), ((..., ...), ValueError), (np.array([1], np.uint8), ValueError),
    ],
)  # fmt: skip
def test_wrong_keys(key: Any, error: type[Exception]) -> None:
    x = paddle.to_tensor(array())
    with pytest.raises(error):
        x[key]
    with pytest.raises(error):
        x[key] = 1.0
    np.testing.assert_array_equal(x.numpy(), array())


@pytest.mark.parametrize("place", PLACES)
def test_indices_in_the_memory_that_is_written(place: str) -> None:
    """Indices and values count as they were before the call, whatever of them the call overwrites."""
    for value in (32, 10**9, -5):
        x, other = (paddle.to_tensor([1, 0, 1, 0], place=place) for _ in range(2))
        x[x] = value
        assert x.tolist() == [value, value, 1, 0]
        assert other.tolist() == [1, 0, 1, 0]
    x = paddle.to_tensor([3, 1, 1, 0, 9], place=place)
    x[x[:2]] = 5
    assert x.tolist() == [3, 5, 1, 5, 9]
    x = paddle.to_tensor([[0, 1], [1, 1]], place=place)
    x[x[:, 0], x[:, 1]] = 5
    assert x.tolist() == [[0, 5], [1, 5]]
    x = paddle.to_tensor([0, 1, 2, 3, 4], place=place)
    x[x[:4]] = x[1:]
    assert x.tolist() == [1, 2, 3, 4, 4]
    narrow = paddle.to_tensor([2, 0, 1], dtype="int32", place=place)
    narrow[narrow[:2]] = narrow[1:]
    assert narrow.tolist() == [1, 0, 0]


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64", "float16", "uint8"])
@pytest.mark.parametrize("how", ["add", "multiply", "amin", "amax"])
@pytest.mark.parametrize("step", [1, 2])
def test_joining_single_elements(dtype, how, step):
    """One index an element has a loop of its own: repeated and negative indices, and places with strides."""
    rng = np.random.default_rng(5)
    target, values = rng.integers(1, 3, 2 * 50).astype(dtype), rng.integers(1, 3, 200).astype(dtype)
    index = rng.integers(-50, 50, 200)
    want = target.copy()
    part = want[::2] if step == 2 else want[:50]
    ufunc = {"add": np.add, "multiply": np.multiply, "amin": np.minimum, "amax": np.maximum}[how]
    ufunc.at(part, index, values)
    x = paddle.to_tensor(target)
    view = x[::2] if step == 2 else x[:50]
    view.put_along_axis_(paddle.to_tensor(index), paddle.to_tensor(values), 0, how)
    assert np.array_equal(x.numpy(), want)


def test_joining_refuses_an_index_out_of_range():
    x = paddle.zeros([3])
    for i in (3, -4):
        with pytest.raises(IndexError, match=rf"index {i} is out of range"):
            paddle.index_add(x, paddle.to_tensor([0, i]), 0, paddle.ones([2]))
