"""Complex numbers in functions that are traced: a program moves, casts and indexes them, and computes nothing with them.

Every function that NumPy computes says so under its own name, with the exception of other calls that are unsupported.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import fft
from paddle_mps._calls._complex import FUNCTIONS

to_static: Any = functools.partial(paddle.jit.to_static, full_graph=True)

SAYS = "a program does not compute with complex numbers; want the function without jit"
TWO = (
    "add",
    "subtract",
    "multiply",
    "divide",
    "pow",
    "equal",
    "not_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "matmul",
)
# The functions of operators whose names are not those of `paddle`.
OTHERS: dict[str, Any] = {"silu": paddle.nn.functional.silu, "sigmoid": paddle.nn.functional.sigmoid}

CASES: dict[str, tuple[Callable[..., Any], int]] = {
    **{
        name: (OTHERS.get(name) or getattr(paddle, name), 2 if name in TWO else 1)
        for name in FUNCTIONS
        if name != "nonzero"
    },
    "where": (lambda x: paddle.where(paddle.to_tensor([True, False]), x, x), 1),
    "isreal": (paddle.isreal, 1),
    "as_real": (paddle.as_real, 1),
    "real": (paddle.real, 1),
    "imag": (paddle.imag, 1),
    **{name: (getattr(fft, name), 1) for name in ("fft", "ifft", "hfft", "irfft", "fftn")},
}


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", CASES)
def test_functions_that_are_computed_outside(name: str, dtype: str) -> None:
    function, operands = CASES[name]
    given = [paddle.to_tensor(np.array([1 + 2j, 0.5 - 1j], dtype))] * operands
    function(*given)  # it exists
    with pytest.raises(paddle.UnsupportedError) as caught:
        to_static(function)(*given)
    assert str(caught.value).startswith(f"[{name}] {SAYS}"), caught.value


@pytest.mark.parametrize("name", ["complex", "polar", "as_complex", "rfft"])
def test_complex_numbers_of_real_ones(name: str) -> None:
    x = paddle.to_tensor([[1.0, 2.0]])
    function = getattr(fft if name == "rfft" else paddle, name)
    given = [x] * (2 if name in ("complex", "polar") else 1)
    function(*given)
    with pytest.raises(paddle.UnsupportedError) as caught:
        to_static(function)(*given)
    assert str(caught.value).startswith(f"[{name}] {SAYS}"), caught.value


def test_complex_constants_are_computed_while_a_function_is_traced() -> None:
    """What does not depend on the arguments has elements."""
    turn = paddle.to_tensor([1j, -1j])
    f = to_static(lambda x: x * paddle.abs(turn * turn))
    assert f(paddle.to_tensor([2.0, 3.0])).tolist() == [2, 3]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.reshape([2, 3]).transpose([1, 0]),
        lambda x: paddle.stack([x, x[::2].flip(0).tile([2])]),
        lambda x: paddle.concat([x, paddle.gather(x, paddle.to_tensor([5, 0]))]),
        lambda x: x.astype("complex64").astype("complex128"),
        lambda x: paddle.roll(x, 2),
    ],
)
def test_complex_numbers_are_moved(function: Callable[..., Any], dtype: str) -> None:
    numbers = np.array([1 + 2j, -0.0j, complex(np.nan, 1), complex(np.inf, -np.inf), 5, 1e-40j], dtype)
    x = paddle.to_tensor(numbers)
    traced, want = to_static(function)(x), function(x)
    assert traced.dtype is want.dtype and traced.numpy().tobytes() == want.numpy().tobytes()


def test_a_gradient_of_complex_numbers_is_computed_outside() -> None:
    x = paddle.to_tensor([1 + 2j, 3j])
    x.stop_gradient = False
    with pytest.raises(paddle.UnsupportedError, match=SAYS):
        to_static(lambda x: paddle.concat([x, x]))(x)
