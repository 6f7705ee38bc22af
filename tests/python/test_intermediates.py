"""How much memory reductions and searches of small elements reserve beside their results: no copy of all elements in a wider dtype."""

from __future__ import annotations

import functools
import gc
import warnings
from typing import Any, Callable

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import mps

COUNT = 1 << 20
SMALL = ("bool", "uint8", "int8", "int16", "int32")
PLACES = ("cpu", "mps")


def elements(dtype: str) -> np.ndarray[Any, Any]:
    """Numbers whose sum needs more than 32 bits for int32, and nonzeros at a few places of most."""
    values = np.arange(COUNT) % 211 - 60
    return (values * (1 << 20) if dtype == "int32" else values % 2 if dtype == "bool" else values % 127).astype(dtype)


def reserved(place: str, call: Callable[[], paddle.Tensor]) -> tuple[np.ndarray[Any, Any], int]:
    """The result, and the most bytes that were allocated at one time beyond those before the call."""
    gc.collect()
    before = mps.memory_allocated(place)
    mps.reset_peak_memory_stats(place)
    result = call()
    values = result.numpy()
    return values, mps.max_memory_allocated(place) - before


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", SMALL)
def test_sums_read_small_elements_where_they_are(dtype: str, place: str) -> None:
    """Sums in int64 of everything, of rows, of columns, of each other element and of a transpose, against NumPy."""
    array = elements(dtype).reshape(256, -1)
    x = paddle.to_tensor(array, place=place)
    forms: dict[str, tuple[Any, Any, int | None]] = {
        "all": (x, array, None),
        "rows": (x, array, 1),
        "columns": (x, array, 0),
    }
    forms["strided"] = (x[:, ::2], array[:, ::2], None)
    forms["transposed"] = (x.t(), array.T, 1)
    for name, (t, a, axis) in forms.items():
        got, most = reserved(place, functools.partial(t.sum, axis, dtype="int64"))
        want = a.sum(axis, dtype=np.int64)
        assert got.dtype == np.int64 and np.array_equal(got, want), name
        assert most <= 2 * max(want.size * 8, 1 << 16), f"{name}: {most} bytes beside {want.size} sums"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", SMALL)
def test_products_read_small_elements_where_they_are(dtype: str, place: str) -> None:
    """Products in int64, which wrap around, of everything, of rows, of columns, of each other element and of a transpose, against NumPy."""
    array = (elements(dtype) | 1).astype(dtype).reshape(256, -1)
    x = paddle.to_tensor(array, place=place)
    forms = {"all": (x, array, None), "rows": (x, array, 1), "columns": (x, array, 0), "none": (x[:0], array[:0], 0)}
    forms["strided"] = (x[:, ::2], array[:, ::2], None)
    forms["transposed"] = (x.t(), array.T, 1)
    for name, (t, a, axis) in forms.items():
        got, most = reserved(place, functools.partial(t.prod, axis, dtype="int64"))
        want = a.prod(axis, dtype=np.int64)
        assert got.dtype == np.int64 and np.array_equal(got, want), name
        assert most <= 2 * max(want.size * 8, 1 << 16), f"{name}: {most} bytes beside {want.size} products"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("function", ["cumsum", "cumprod"])
def test_scans_of_small_elements_need_no_more_than_their_result(function: str, dtype: str, place: str) -> None:
    """Running sums and products in int64 along each axis, of a line, and of a transpose, against NumPy; and written into a tensor."""
    array = elements(dtype).reshape(256, -1)
    x = paddle.to_tensor(array, place=place)
    call, reference = getattr(paddle, function), getattr(np, function)
    forms = {
        "line": (x, array, None),
        "rows": (x, array, 1),
        "columns": (x, array, 0),
        "transposed": (x.t(), array.T, 1),
    }
    forms["line of a transpose"] = (x.t(), array.T, None)
    for name, (t, a, axis) in forms.items():
        got, most = reserved(place, functools.partial(call, t, axis, dtype="int64"))
        want = reference(a, axis, dtype=np.int64)
        assert got.dtype == np.int64 and np.array_equal(got, want), name
        assert most <= 1.1 * want.nbytes, f"{name}: {most / want.nbytes} of the bytes of the result"


@pytest.mark.parametrize("place", PLACES)
def test_what_compares_and_counts_needs_a_byte_an_element(place: str) -> None:
    """A comparison is a tensor of bools, and nothing else is as large."""
    array = elements("uint8")
    x = paddle.to_tensor(array, place=place)
    calls = {
        "(x == 7).sum()": (lambda: (x == 7).sum(), (array == 7).sum()),
        "(x == 7).any()": (lambda: (x == 7).any(), True),
        "count_nonzero(x == 7)": (lambda: paddle.count_nonzero(x == 7), (array == 7).sum()),
        "x.mean()": (lambda: x.mean(), None),
        "(x == 255).nonzero()": (lambda: (x == 255).nonzero(), np.zeros((0, 1), np.int64)),
        "(x == 7).nonzero()": (lambda: (x == 7).nonzero(), np.argwhere(array == 7)),
        "where(x == 7)": (lambda: paddle.where(x == 7)[0], None),
        "masked_select": (lambda: paddle.masked_select(x, x == 7), array[array == 7]),
        "x[x == 7]": (lambda: x[x == 7], array[array == 7]),
    }
    for name, (call, want) in calls.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got, most = reserved(place, call)
        if want is not None:
            assert np.array_equal(got, want), name
        assert most <= 1.5 * COUNT, f"{name}: {most / COUNT} bytes for each element"


@pytest.mark.parametrize("place", PLACES)
def test_a_result_of_nonzero_holds_its_rows_and_no_more(place: str) -> None:
    array = (np.arange(COUNT) % 50000 == 49999).reshape(1024, -1)
    x = paddle.to_tensor(array, place=place)
    before = mps.memory_allocated(place)
    found = x.nonzero()
    assert np.array_equal(found.numpy(), np.argwhere(array))
    assert mps.memory_allocated(place) - before <= 1 << 16
