"""Arguments out of range: random integers beyond their dtype, uniform bounds, indices of shards, constructors."""

from __future__ import annotations

import gc
from typing import Any, Callable

import pytest

import paddle_mps as paddle

T = paddle.to_tensor
CALLS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "randint": (lambda: paddle.randint(0, 2**40, [2], "int32"), IndexError, r"\[randint\] .*want integers of int32"),
    "randint_like": (lambda: paddle.randint_like(T([1], "int32"), 2**31, 2**31 + 1), IndexError, "int32"),
    "uniform_ downwards": (lambda: paddle.ones([3]).uniform_(2.0, 1.0), ValueError, "want min below max"),
    "uniform_ without end": (lambda: paddle.ones([3]).uniform_(0, float("inf")), ValueError, "finite"),
    "shard_index": (lambda: paddle.shard_index(T([[20], [5]]), 20, 2, 1), ValueError, "want indices below 20"),
    "ldexp": (lambda: paddle.ldexp(T([1j]), T([1])), paddle.UnsupportedError, r"\[ldexp\] x is complex64"),
}


@pytest.mark.parametrize("name", CALLS)
def test_refused(name: str) -> None:
    call, error, text = CALLS[name]
    with pytest.raises(error, match=text):
        call()


def test_the_whole_range_of_a_dtype() -> None:
    assert paddle.randint(-(2**31), 2**31, [100], "int32").dtype == paddle.int32
    assert int(paddle.ones([], "int8").random_(127, 128)) == 127


def test_complex_values_fill_where_a_mask_holds() -> None:
    assert paddle.masked_fill(T([1j, 2]), T([True, False]), 3j).tolist() == [3j, 2]


def test_an_object_that_was_not_made_is_not_freed(capfd: pytest.CaptureFixture[str]) -> None:
    for kind in (paddle.device.Stream, paddle.device.Event):
        with pytest.raises(TypeError):
            kind(nothing=1)  # type: ignore[call-arg]
        kind.__new__(kind)
    gc.collect()
    assert "Exception ignored" not in capfd.readouterr().err
