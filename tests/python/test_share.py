"""Memory that an mps device shares with an array, or with a tensor of the CPU."""

from __future__ import annotations

import gc
import time
import weakref
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import mps
from paddle_mps._calls import _call


def ones(*shape: int) -> np.ndarray[Any, Any]:
    array = mps.page_aligned_empty(shape)
    array[...] = 1.0
    return array


def gone(reference: weakref.ref[np.ndarray[Any, Any]]) -> bool:
    """Whether the array goes, as soon as the device has passed what used it."""
    until = time.monotonic() + 60
    while reference() is not None and time.monotonic() < until:
        _call.flush()
        gc.collect()
        time.sleep(0.001)
    return reference() is None


@pytest.mark.parametrize("shape", [(), (3,), (100, 41), (64, 64), (2, 0)])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool", None])
def test_page_aligned_empty(shape: tuple[int, ...], dtype: str | None) -> None:
    array = mps.page_aligned_empty(shape, dtype)
    assert array.shape == shape and array.dtype == np.dtype(dtype or "float32")
    assert array.flags.c_contiguous and array.flags.writeable
    assert array.size == 0 or array.ctypes.data % 16384 == 0  # nothing lies nowhere


def test_an_array_is_shared_both_ways() -> None:
    array = ones(100, 41)
    x = paddle.to_tensor(array, place="mps", zero_copy=True)
    assert (x.shape, x.place) == ([100, 41], paddle.MPSPlace(0))
    array[2, 3] = 5.0
    x[0].zero_()
    x.add_(x)
    mps.synchronize()
    want = np.full((100, 41), 2.0, np.float32)
    want[0], want[2, 3] = 0.0, 10.0
    np.testing.assert_array_equal(array, want)
    np.testing.assert_array_equal((x @ x.T).numpy(), want @ want.T)


def test_views_are_shared() -> None:
    array = ones(8, 6)
    array[...] = np.arange(48).reshape(8, 6)
    for view in (array.T, array[:, ::2], array[:4]):
        x = paddle.to_tensor(view, place="mps", zero_copy=True)
        np.testing.assert_array_equal((x + 0).numpy(), view)
        x.multiply_(paddle.to_tensor(2.0))
        mps.synchronize()
    assert array[1, 2] == 8 * 8 and array[7, 1] == 43 * 2


def test_tensors_are_shared_between_places() -> None:
    here = paddle.to_tensor(ones(3), zero_copy=True)
    there = paddle.to_tensor(here, place="mps", zero_copy=True)
    there.add_(there)
    mps.synchronize()
    assert here.tolist() == [2.0, 2.0, 2.0]
    of_the_device = paddle.ones([4], place="mps") * 3.0
    seen = paddle.to_tensor(of_the_device, place="cpu", zero_copy=True)
    del of_the_device
    assert seen.tolist() == [3.0] * 4 and seen.place == paddle.CPUPlace()


def test_from_dlpack_without_a_copy() -> None:
    array = ones(5)
    x = paddle.from_dlpack(array, device="mps", copy=False)
    array[0] = 4.0
    assert x.tolist() == [4.0, 1.0, 1.0, 1.0, 1.0]
    assert paddle.from_dlpack(array, device="mps", copy=True).add_(x).tolist()[0] == 8.0
    assert array[0] == 4.0


def test_an_array_lives_until_the_device_has_passed_it() -> None:
    stream = mps.Stream()
    array = ones(64, 64)
    reference = weakref.ref(array)
    with mps.stream_guard(stream):
        x = paddle.to_tensor(array, place="mps", zero_copy=True)
        del array
        y = x
        for _ in range(20):
            y = y + x
        last = x @ x
    gc.collect()
    assert reference() is not None
    del x
    assert gone(reference)
    np.testing.assert_array_equal(last.numpy(), np.full((64, 64), 64.0))
    np.testing.assert_array_equal(y.numpy(), np.full((64, 64), 21.0))


def test_what_cannot_be_shared_is_refused() -> None:
    fixed = ones(3)
    fixed.flags.writeable = False
    for data, dtype in ((fixed, None), ([1.0, 2.0], None), (ones(3), "float16")):
        with pytest.raises((paddle.UnsupportedError, BufferError)):
            paddle.to_tensor(data, dtype, place="mps", zero_copy=True)
    with pytest.raises(TypeError, match="float64"):
        paddle.to_tensor(np.ones(3), place="mps", zero_copy=True)
    reference = weakref.ref(fixed)
    del fixed, data
    assert gone(reference)
