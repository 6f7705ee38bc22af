"""Exact comparison of what a device answers with what it should."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import paddle_mps as paddle

Array = npt.NDArray[Any]


def values(x: Any) -> Array:
    """What a tensor holds; bfloat16 as float32, which holds it too."""
    array: Array = (x.astype("float32") if x.dtype == "bfloat16" else x).numpy()
    return array


def same(got: Any, want: Any, what: str) -> None:
    """Asserts that a tensor has the shape and exactly the values of an array; NaN is equal to NaN."""
    found, want = values(got), np.asarray(want)
    assert found.shape == want.shape, f"{what}: shape {list(found.shape)}; want {list(want.shape)}"
    differ = (found != want) & ~((found != found) & (want != want))
    if differ.any():
        at = tuple(int(i) for i in np.argwhere(np.atleast_1d(differ))[0]) if found.ndim else ()
        count = int(np.count_nonzero(differ))
        raise AssertionError(f"{what}: {found[at]!r} at {list(at)}; want {want[at]!r}; {count} of {found.size} differ")


def tensor(array: Any, place: str, dtype: str | None = None) -> Any:
    """An array on a place."""
    return paddle.to_tensor(np.asarray(array), dtype=dtype, place=place)
