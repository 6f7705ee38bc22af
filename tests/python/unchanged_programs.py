"""Programs that use `paddle.jit.to_static` as programs for PaddlePaddle do, and PaddlePaddle 3.3.1's answers to them.

A program is a function of no arguments whose result is compared. Numbers are chosen so that every result is exact, whatever the order
of sums. What a program returns of random numbers is whether they repeat. The answers are recorded by PaddlePaddle itself:

    PROGRAMS_FOR=paddle .venv-peers/bin/python tests/python/unchanged_programs.py --record
"""

from __future__ import annotations

import importlib
import json
import os
import pathlib
import sys
from typing import Any, Callable

import numpy as np

paddle: Any = importlib.import_module(os.environ.get("PROGRAMS_FOR", "paddle_mps"))
F: Any = paddle.nn.functional
InputSpec: Any = importlib.import_module(f"{paddle.__name__}.static").InputSpec
to_static: Any = paddle.jit.to_static
PROGRAMS: dict[str, Callable[[], Any]] = {}
ANSWERS = pathlib.Path(__file__).with_name("golden") / "unchanged_3_3_1.json"


def program(function: Callable[[], Any]) -> Callable[[], Any]:
    PROGRAMS[function.__name__] = function
    return function


def vector(*values: float) -> Any:
    return paddle.to_tensor(np.array(values, "float32"))


def counting(*shape: int) -> Any:
    return paddle.to_tensor(np.arange(np.prod(shape), dtype="float32").reshape(shape))


def leaf(*values: float) -> Any:
    x = vector(*values)
    x.stop_gradient = False
    return x


# Conditions and loops on elements.


@program
def if_on_a_sum() -> Any:
    @to_static
    def f(x: Any) -> Any:
        if x.sum() > 0:
            return x * 2
        return x - 1

    return [f(vector(1, 2)), f(vector(-1, -2)), f(vector(3, 4))]


@program
def while_on_a_sum() -> Any:
    @to_static
    def f(x: Any) -> Any:
        while x.sum() < 10:
            x = x + 1
        return x

    return [f(vector(1, 2)), f(vector(20, 2))]


@program
def for_over_a_tensor() -> Any:
    @to_static
    def f(x: Any, n: Any) -> Any:
        for i in range(n):
            x = x + i
        return x

    return [f(vector(1, 2), paddle.to_tensor(3)), f(vector(1, 2), paddle.to_tensor(5))]


@program
def break_on_an_element() -> Any:
    @to_static
    def f(x: Any) -> Any:
        total = x[0] * 0
        for i in range(x.shape[0]):
            if x[i] < 0:
                break
            total = total + x[i]
        return total

    return [f(vector(1, 2, -1, 5)), f(vector(1, 2, 3, 4))]


@program
def conditional_expression() -> Any:
    @to_static
    def f(x: Any) -> Any:
        return x + 1 if x.max() > 2 else x - 1

    return [f(vector(1, 2)), f(vector(1, 3))]


@program
def conditions_that_are_joined() -> Any:
    @to_static
    def f(x: Any, y: Any) -> Any:
        if x.sum() > 0 and not y.sum() > 0:
            return x
        return y

    return [f(vector(1), vector(-1)), f(vector(1), vector(1))]


@program
def assertion_on_elements() -> Any:
    @to_static
    def f(x: Any) -> Any:
        assert (x > 0).all(), "positive"
        return x * 2

    return [f(vector(1, 2))]


@program
def counter_in_a_tensor() -> Any:
    @to_static
    def f(x: Any) -> Any:
        i = paddle.zeros([1], dtype="int32")
        while i < 4:
            x = x * 2
            i = i + 1
        return x

    return [f(vector(1, 3)), f(vector(2, 3))]


# Elements that leave the graph.


@program
def elements_as_an_array() -> Any:
    @to_static
    def f(x: Any) -> Any:
        return x * float(x.numpy().sum())

    return [f(vector(1, 2)), f(vector(3, 4))]


@program
def mean_as_a_float() -> Any:
    @to_static
    def f(x: Any) -> Any:
        return x - float(x.mean())

    return [f(vector(1, 3)), f(vector(2, 6))]


@program
def item_and_tolist() -> Any:
    @to_static
    def f(x: Any) -> Any:
        return x * x[0].item() + x.tolist()[1]

    return [f(vector(2, 3)), f(vector(4, 5))]


@program
def argmax_as_an_index() -> Any:
    @to_static
    def f(x: Any) -> Any:
        return x[int(x[:, 0].argmax())]

    return [f(counting(3, 2)), f(counting(3, 2) * -1)]


@program
def mask_as_an_index() -> Any:
    @to_static
    def f(x: Any) -> Any:
        return x[x > 0]

    return [f(vector(1, -2, 3)), f(vector(-1, -2, 3))]


@program
def shapes_that_depend_on_elements() -> Any:
    @to_static
    def f(x: Any) -> Any:
        return paddle.nonzero(x), paddle.masked_select(x, x > 1), paddle.unique(x)

    return [f(vector(1, 0, 2)), f(vector(0, 5, 5))]


@program
def errors_that_are_caught() -> Any:
    @to_static
    def f(x: Any) -> Any:
        try:
            scale = float(x.sum())
        except Exception:
            scale = 100.0
        return x * scale

    return [f(vector(1, 2)), f(vector(3, 4))]


@program
def helper_that_is_not_traced() -> Any:
    @paddle.jit.not_to_static
    def helper(x: Any) -> Any:
        return x * float(x.sum())

    @to_static
    def f(x: Any) -> Any:
        return helper(x) + 1

    return [f(vector(1, 2)), f(vector(3, 4))]


@program
def text_of_an_element() -> Any:
    @to_static
    def f(x: Any) -> Any:
        return x, f"{x.sum().item():.1f}"

    return [f(vector(1, 2)), f(vector(3, 4))]


# Sizes.


@program
def sizes_in_a_reshape() -> Any:
    @to_static
    def f(x: Any) -> Any:
        return paddle.reshape(x, [paddle.shape(x)[0], -1])

    return [f(counting(2, 3, 4)), f(counting(4, 3, 2))]


@program
def sizes_in_arithmetic() -> Any:
    @to_static
    def f(x: Any) -> Any:
        return paddle.shape(x)[0] * 2

    return [f(counting(2, 3)), f(counting(5, 1))]


@program
def sizes_that_are_returned() -> Any:
    @to_static
    def f(x: Any) -> Any:
        return paddle.shape(x), x.shape, paddle.numel(x)

    return [f(counting(2, 3)), f(counting(2, 3))]


@program
def sizes_as_slices() -> Any:
    @to_static
    def f(x: Any) -> Any:
        n = paddle.shape(x)[0]
        return x[: n // 2], x[n - 1]

    return [f(counting(4, 2)), f(counting(2, 2))]


@program
def sizes_as_bounds_of_loops() -> Any:
    @to_static
    def f(x: Any) -> Any:
        y = x
        for i in range(paddle.shape(x)[0]):
            y = y + i
        return y

    return [f(vector(1, 2, 3)), f(vector(1, 2))]


@program
def sizes_that_are_unpacked() -> Any:
    @to_static
    def f(x: Any) -> Any:
        b, c, h, w = paddle.shape(x)
        return x.reshape([b * c, h * w]), paddle.zeros([b, 1]), paddle.expand(x[:1], [b, c, h, w])

    return [f(counting(2, 2, 2, 2)), f(counting(2, 1, 2, 2))]


@program
def sizes_of_a_picture() -> Any:
    @to_static
    def f(x: Any, y: Any) -> Any:
        return F.interpolate(x, size=paddle.shape(y)[2:], mode="nearest")

    return [f(counting(1, 1, 2, 2), counting(1, 1, 4, 4))]


@program
def condition_on_a_size() -> Any:
    @to_static
    def f(x: Any) -> Any:
        if paddle.shape(x)[0] > 2:
            return x[:2]
        return x * 2

    return [f(vector(1, 2, 3)), f(vector(1, 2))]


# Arguments and results.


@program
def array_beside_a_tensor() -> Any:
    @to_static
    def f(x: Any, y: Any) -> Any:
        return x * y + 1

    return [f(vector(1, 2), np.array([3, 4], "float32")), f(vector(1, 2), np.array([5, 6], "float32"))]


@program
def array_for_a_whole_graph() -> Any:
    @to_static(full_graph=True)
    def f(x: Any) -> Any:
        return x * 2

    return [f(np.array([3, 4], "float32")), f(np.array([5, 6], "float32"))]


@program
def specification_from_static() -> Any:
    @to_static(input_spec=[InputSpec(shape=[None, 2], dtype="float32", name="x")])
    def f(x: Any) -> Any:
        return x.sum(0)

    return [f(counting(2, 2)), f(counting(3, 2)), repr(InputSpec([None, 2], "float32", "x").shape)]


@program
def trees_of_arguments() -> Any:
    @to_static
    def f(batch: Any, rest: Any = (), scale: float = 2.0, bias: Any = None) -> Any:
        y = batch["x"] * scale + batch["more"][0]
        return {"y": y if bias is None else y + bias, "rest": [r + 1 for r in rest]}

    x = {"x": vector(1, 2), "more": [vector(1, 1)]}
    return [f(x), f(x, [vector(1)], scale=3.0), f(x, (vector(2),), bias=vector(5, 5))]


@program
def flag_as_an_argument() -> Any:
    @to_static
    def f(x: Any, training: bool) -> Any:
        if training:
            return x * 2
        return x

    return [f(vector(1), True), f(vector(1), False), f(vector(2), True)]


@program
def argument_that_cannot_be_hashed() -> Any:
    @to_static
    def f(x: Any, axes: Any) -> Any:
        return x.sum(sorted(axes))

    return [f(counting(2, 2), {0}), f(counting(2, 2), {0, 1})]


@program
def other_dtypes_and_shapes() -> Any:
    @to_static
    def f(x: Any) -> Any:
        return x + x

    return [f(vector(1)), f(paddle.to_tensor([1, 2])), f(counting(2, 2)), f(paddle.to_tensor([True]).astype("int32"))]


# State.


@program
def weights_that_are_captured() -> Any:
    w = vector(2, 3)

    @to_static
    def f(x: Any) -> Any:
        return x * w

    found = [f(vector(1, 1)), f(vector(2, 1))]
    with paddle.no_grad():
        w.set_value(vector(7, 7))
    return [*found, f(vector(1, 1))]


@program
def buffer_that_is_written() -> Any:
    total = vector(0, 0)

    @to_static
    def f(x: Any) -> Any:
        total.add_(x)
        return x * 2

    return [f(vector(1, 2)), f(vector(3, 4)), total]


@program
def buffer_that_is_written_before_a_condition() -> Any:
    total = vector(0, 0)

    @to_static
    def f(x: Any) -> Any:
        total.add_(x)
        if x.sum() > 0:
            return x * 2
        return x

    return [f(vector(1, 2)), f(vector(3, 4)), total]


@program
def draws_before_a_condition() -> Any:
    @to_static
    def f(x: Any) -> Any:
        r = paddle.rand([2])
        if r.sum() >= 0:
            return x + r
        return x

    def g(x: Any) -> Any:
        return x + paddle.rand([2])

    found = []
    for h in (f, g):
        paddle.seed(7)
        found.append([h(vector(0, 0)).numpy().tolist() for _ in range(3)])
    return [found[0] == found[1]]


@program
def functions_that_call_functions() -> Any:
    @to_static
    def inner(x: Any) -> Any:
        return x * 2 if x.sum() > 0 else x

    @to_static
    def outer(x: Any) -> Any:
        return inner(x) + inner(x - 10)

    return [outer(vector(1, 2)), inner(vector(3, 4)), outer(vector(20, 20))]


# Gradients.


@program
def gradient_through_a_function() -> Any:
    w = leaf(2, 3)

    @to_static
    def f(x: Any) -> Any:
        return (x * w * w).sum()

    x = leaf(1, 2)
    f(x).backward()
    return [x.grad, w.grad]


@program
def gradient_through_a_condition() -> Any:
    w = leaf(2, 3)

    @to_static
    def f(x: Any) -> Any:
        y = (x * w).sum()
        return y * 2 if y > 0 else y

    f(vector(1, 2)).backward()
    first = w.grad.numpy().tolist()
    f(vector(-1, -2)).backward()
    return [first, w.grad]


@program
def step_of_training() -> Any:
    w = leaf(2, 4)

    @to_static
    def step(x: Any) -> Any:
        loss = ((x * w) ** 2).sum()
        loss.backward()
        with paddle.no_grad():
            w.set_value(w - 0.25 * w.grad)
        w.clear_gradient()
        return loss

    return [step(vector(1, 1)), step(vector(1, 1)), w]


@program
def gradient_inside_of_a_function() -> Any:
    @to_static
    def f(x: Any) -> Any:
        y = (x**3).sum()
        (g,) = paddle.grad(y, x, create_graph=True)
        return g

    return [f(leaf(1, 2)), f(leaf(3, 4))]


def answer(x: Any) -> Any:
    """A result as JSON has it: a tensor is its dtype, its shape and its elements."""
    if isinstance(x, paddle.Tensor):
        return {"dtype": str(x.dtype).rpartition(".")[2], "shape": list(x.shape), "elements": x.numpy().tolist()}
    if isinstance(x, (list, tuple)):
        return [answer(y) for y in x]
    if isinstance(x, dict):
        return {key: answer(y) for key, y in x.items()}
    return x


def outcome(function: Callable[[], Any]) -> Any:
    try:
        return answer(function())
    except Exception as error:
        return {"raises": [c.__name__ for c in type(error).__mro__]}


if __name__ == "__main__":
    found = {name: outcome(function) for name, function in PROGRAMS.items()}
    if "--record" in sys.argv:
        ANSWERS.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found))
