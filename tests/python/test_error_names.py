"""Errors begin with the name of the function that was called: every parameter of every function and method is given nonsense."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, Callable

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps._core._convert import REQUIRED

X = np.linspace(0.1, 0.9, 12, dtype="float32").reshape(3, 4)

# What stands for the parameters that must be given beside the one that is wrong; a tensor stands for all others.
USUAL: dict[str, Any] = {
    "axes": [0], "axis": 0, "bins": 3, "chunks": 3, "data": [1.0], "decimals": 0, "depth": 3, "destination": 1, "diagonal": 0,
    "dim": 0, "downscale_factor": 1, "dtype": "float32", "end": 3, "ends": [2], "equation": "ij->ji", "fill_value": 1.0,
    "groups": 1, "high": 5, "k": 1, "kernel_size": 2, "low": 0, "n": 2, "normalized_shape": [4], "num": 3, "num_classes": 3,
    "num_or_sections": 3, "num_rows": 3, "num_samples": 1, "offset": 0, "p": 2, "perm": [1, 0], "q": 0.5, "reduce": "add",
    "repeat_times": [1, 1], "repeats": 2, "sections": 3, "shape": [3, 4], "shape_or_dtype": [4, 3], "shifts": 1,
    "size": [2, 2], "source": 0, "start": 0, "starts": [0], "stop": 3, "stride": [1, 1], "strides": [1], "upscale_factor": 1,
}  # fmt: skip


class Nonsense:
    """What no function takes."""


WORD: Any = "a"
PART: Any = 1.5

MISTAKES: list[Any] = [Nonsense(), "nonsense", [Nonsense()], 1.5j, object]

# They change what other tests see, write files, or are called by another name.
LEFT_OUT = {
    "async_save", "disable_static", "jit", "load", "save", "set_default_dtype", "set_device", "set_flags",
    "set_grad_enabled", "set_printoptions", "set_rng_state", "set_default_device",
}  # fmt: skip

# The property that requires_grad sets, which the errors of that keyword name.
ALSO = {"stop_gradient"}

# Errors that are Python's own, or say that a device is missing: they need no name of a function.
OTHERS = ("missing a required argument", "missing 1 required", "object() takes no arguments", "mps is not available")

NAMESPACES: dict[str, Any] = {
    "paddle": paddle, "functional": paddle.nn.functional, "linalg": paddle.linalg, "fft": paddle.fft,
    "Tensor": paddle.Tensor,
}  # fmt: skip


def functions() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """The public functions and the methods of tensors."""
    for namespace, owner in NAMESPACES.items():
        for name in dir(owner) if namespace == "Tensor" else owner.__all__:
            found = getattr(owner, name)
            if name[0] != "_" and name not in LEFT_OUT and callable(found) and not inspect.isclass(found):
                yield namespace, name, found


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p for p in given if p.kind in named]


def calls(function: Callable[..., Any], method: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Arguments of which one is wrong, with its name."""
    known = parameters(function)
    needed = [p.name for p in known if p.default in (inspect.Parameter.empty, REQUIRED)]
    for p in known[method:]:
        for mistake in MISTAKES:
            usual = {name: USUAL.get(name) for name in needed}
            filled = {n: paddle.to_tensor(X) if v is None else v for n, v in usual.items()}
            yield p.name, {**filled, **({known[0].name: paddle.to_tensor(X)} if method else {}), p.name: mistake}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("namespace", NAMESPACES)
def test_errors_begin_with_the_function(namespace: str) -> None:
    tried, wrong = 0, []
    for space, name, function in functions():
        if space != namespace:
            continue
        for parameter, arguments in calls(function, space == "Tensor"):
            try:
                function(**arguments)
            except Exception as error:
                text = str(error)
                first = text[1:].partition("]")[0] if text.startswith("[") else ""
                tried += 1
                if first not in {name, function.__name__, *ALSO} and not any(other in text for other in OTHERS):
                    wrong.append(f"{space}.{name}({parameter}={arguments[parameter]!r}): {text[:120]}")
    assert not wrong, "\n".join(wrong[:50])
    assert tried > 100


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: paddle.topk(x, WORD), "[topk] k is 'a'; want an int"),
        (lambda x: paddle.sort(x, descending=WORD), "[sort] descending is 'a'; want a bool"),
        (lambda x: x.argsort(descending=WORD), "[argsort] descending is 'a'; want a bool"),
        (lambda x: paddle.var(x, unbiased=WORD), "[var] unbiased is 'a'; want a bool"),
        (lambda x: paddle.seed(WORD), "[seed] seed is 'a'; want a whole number from 0 below 2**64"),
        (lambda x: paddle.manual_seed(WORD), "[seed] seed is 'a'; want "),
        (lambda x: paddle.fft.fftfreq(WORD), "[fftfreq] n is 'a'; want an int"),
        (lambda x: paddle.fft.rfftfreq(4, WORD), "[rfftfreq] d is 'a'; want a number"),
        (lambda x: paddle.einsum(PART, x), "[einsum] equation is 1.5; want a str"),
        (lambda x: x.reshape_(WORD), "[reshape_] shape is 'a'; want ints"),
        (lambda x: x.cumsum_(WORD), "[cumsum_] axis is 'a'; want an int"),
        (lambda x: x.hsplit(WORD), "[hsplit] num_or_indices is 'a'; want "),
        (lambda x: paddle.std(x, axis=7), "[std] axis 7 is out of range"),
        (lambda x: x & x[:, :3].cast("int32"), "[bitwise_and] got tensors of "),
        (lambda x: paddle.as_tensor({}), "[as_tensor] data is dict; want "),
        (lambda x: paddle.nn.functional.hardtanh(x, x), "[hardtanh] min is a Tensor of dtype float32 and shape [3, 4]"),
        (lambda x: paddle.nn.functional.celu(x, WORD), "[celu] alpha is 'a'; want a number"),
        (lambda x: paddle.vsplit(x[0], 1), "[vsplit] x has 1 axis; want at least 2"),
        (lambda x: paddle.fft.fft2(x[0]), "[fft2] x has 1 dimension; want at least 2"),
        (lambda x: x[0].mode(3), "[mode] axis is 3; want 0 or -1"),
        (lambda x: paddle.linalg.pinv(x, x), "[pinv] rcond has shape [3, 4]; want one that broadcasts to []"),
        (
            lambda x: paddle.linalg.lu_unpack(x, paddle.to_tensor([9, 1, 1])),
            "[lu_unpack] y has pivots from 1 to 9; want 1 to 3",
        ),
        (lambda x: paddle.kthvalue(x, PART), "[kthvalue] k is 1.5; want an int"),
        (lambda x: paddle.roll(x, WORD), "[roll] shifts is 'a'; want an int"),
        (lambda x: x.roll([1, None]), "[roll] shifts is None; want an int"),
        (lambda x: paddle.zeros([2, -1]), "[zeros] shape is [2, -1]; want dimensions from 0"),
        (lambda x: paddle.zeros([2], "int31"), "[zeros] dtype is 'int31'; want one of "),
        (lambda x: paddle.cast(x, "int31"), "[cast] dtype is 'int31'; want one of "),
        (lambda x: x.astype("int31"), "[astype] dtype is 'int31'; want one of "),
        (lambda x: paddle.sum(x, axis=WORD), "[sum] axis is 'a'; want an int"),
        (lambda x: paddle.chunk(x, WORD), "[chunk] chunks is 'a'; want an int"),
        (lambda x: paddle.std(x, axis=WORD), "[std] axis is 'a'; want an int"),
        (lambda x: paddle.ones([2], place="gpu"), "[ones] place is 'gpu'; want 'cpu', "),
        (
            lambda x: paddle.nn.functional.max_pool2d(x[None, None], WORD),
            "[max_pool2d] kernel_size is 'a'; want an int or 2",
        ),
        (lambda x: x[:, :2].reshape(WORD), "[reshape] shape is 'a'; want ints"),
        (lambda x: paddle.cumsum_(x, axis=WORD), "[cumsum_] axis is 'a'; want an int"),
        (lambda x: x.tanh_().frac_().cast("bool").frac_(), "[frac_] x is bool; want one of "),
        (lambda x: x + 2**65, "[add] got 36893488147419103232; want an integer of 64 bits"),
        (lambda x: x.t() * 2**65, "[multiply] got 36893488147419103232; want an integer of 64 bits"),
        (lambda x: 2**65 - x, "[subtract] got 36893488147419103232; want an integer of 64 bits"),
        (lambda x: paddle.add(x, x, alpha=WORD), "[add] alpha is 'a'; want a number"),
        (lambda x: x.subtract_(x, alpha=[1]), "[subtract_] alpha is [1]; want a number"),
        (lambda x: paddle.add(x, x, out=WORD), "[add] argument out is str; want a Tensor"),
        (lambda x: paddle.func.grad(paddle.sum)(x, WORD), "[sum] axis is 'a'; want an int"),
        (lambda x: paddle.func.value_and_grad(paddle.sum)(x, WORD), "[sum] axis is 'a'; want an int"),
        (lambda x: paddle.Tensor(x, dtype="int31"), "[Tensor] dtype is 'int31'; want one of "),
        (lambda x: paddle.Tensor([1.0], place="gpu"), "[Tensor] place is 'gpu'; want 'cpu', "),
        (lambda x: paddle._calls._operators.topk(x, WORD, -1, True), "[topk] k is 'a'; want an int"),
    ],
)
def test_errors_say_what_came_and_what_was_wanted(call: Callable[[Any], Any], text: str) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        call(paddle.to_tensor(X))
    assert str(raised.value).startswith(text)


def test_functions_of_a_program_are_not_named() -> None:
    def roll(x: Any) -> Any:
        return paddle.kthvalue(x, WORD)

    with pytest.raises(TypeError, match=r"^\[kthvalue\] k is 'a'"):
        roll(paddle.to_tensor(X))
