"""Methods that give a tensor other memory or another shape, DLPack's capsules and ranges with their end."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps.utils import dlpack

PLACES = ("cpu", "mps")


@pytest.fixture(params=PLACES)
def x(request: Any) -> paddle.Tensor:
    return paddle.arange(6.0, place=request.param)


def test_set(x: paddle.Tensor) -> None:
    y = paddle.zeros([1])
    view = y[:]
    assert y.set_(x, [2, 2], [3, 1], 4) is y
    assert y.tolist() == [[1, 2], [4, 5]] and y.place == x.place
    y[1, 1] = 9
    assert x.tolist() == [0, 1, 2, 3, 4, 9]
    assert view.tolist() == [0]
    assert y.set_().shape == [0] and y.dtype is paddle.float32
    assert y.set_(x.reshape([2, 3]).T).tolist() == [[0, 3], [1, 4], [2, 9]]
    assert y.set_(x[4:], [1], [1], 4).tolist() == [9]
    for arguments in ((x, [7]), (x, [2], [1], -4), (x, [2], [1], 3), (x, [-1]), (3,)):
        with pytest.raises(ValueError, match="want"):
            y.set_(*arguments)
    with pytest.raises(TypeError, match="want float32"):
        y.set_(x.astype("int64"))
    assert y.tolist() == [9]  # an error changes nothing


def test_memory_is_freed_with_the_last_view() -> None:
    gc.collect()
    before = paddle.mps.memory_allocated()
    y, source = paddle.zeros([1], place="mps"), paddle.ones([1 << 20], place="mps")
    y.set_(source, [2])
    del source
    gc.collect()
    assert paddle.mps.memory_allocated() >= before + (4 << 20)
    y.set_()
    del y
    gc.collect()
    assert paddle.mps.memory_allocated() == before


def test_resize(x: paddle.Tensor) -> None:
    view = x[1:]
    assert x.resize_([2, 2]) is x
    assert x.tolist() == [[0, 1], [2, 3]]
    x[0, 1] = 7
    assert view.tolist() == [7, 2, 3, 4, 5]
    assert x.resize_([5]).tolist() == [0, 7, 2, 3, 0]
    x[1] = 8
    assert view.tolist() == [7, 2, 3, 4, 5]
    assert x.resize_([0, 3]).shape == [0, 3]
    assert x.resize_([2], True).tolist() == [0, 0]
    assert view.resize_([2]).tolist() == [7, 2]
    assert paddle.arange(6.0).reshape([2, 3]).T.resize_([4]).tolist() == [0, 3, 1, 4]


def test_apply(x: paddle.Tensor) -> None:
    assert x.apply(lambda v: v[1:3]).tolist() == [1, 2]
    with pytest.raises(TypeError, match="returned int"):
        x.apply(lambda v: 3)  # type: ignore[arg-type,return-value]
    with pytest.raises(ZeroDivisionError):
        x.apply_(lambda v: 1 / 0)  # type: ignore[arg-type,return-value]
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    assert x.apply_(lambda v: v) is x and x.detach_() is x
    assert x.apply_(lambda v: v[::2]).tolist() == [0, 2, 4]


def test_split_with_sizes(x: paddle.Tensor) -> None:
    parts = x.split_with_sizes([1, 0, 5])
    parts[2][0] = 9
    assert x.tolist() == [0, 9, 2, 3, 4, 5] and [p.shape for p in parts] == [[1], [0], [5]]


def test_dlpack(x: paddle.Tensor) -> None:
    back = dlpack.from_dlpack(paddle.to_dlpack(x[::2]))
    back[0] = 9
    assert x.tolist() == [9, 1, 2, 3, 4, 5] and back.tolist() == [9, 2, 4]
    paddle.to_dlpack(x)  # a capsule that is never consumed
    with pytest.raises(TypeError, match="want a Tensor"):
        dlpack.to_dlpack(np.ones(2))  # type: ignore[arg-type]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32"])
def test_range(place: str, dtype: str) -> None:
    made = paddle.range(2, 11, 3, dtype, place=place)
    assert made.tolist() == [2, 5, 8, 11] and made.dtype == dtype and made.place.is_cpu_place() == (place == "cpu")
    assert paddle.range(3, 2, dtype=dtype).shape == [0] and paddle.range(3, 1, dtype=dtype).shape == [0]


def test_range_of_too_much() -> None:
    for arguments in ((0, 1e30, 1e-30), (0, float("inf")), (0, 5, 0)):
        with pytest.raises(ValueError, match="want"):
            paddle.range(*arguments)
    with pytest.raises(TypeError, match="want a number"):
        paddle.range("3")  # type: ignore[arg-type]
