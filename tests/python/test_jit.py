"""paddle.jit: functions that are traced once and run as programs.

That traced functions compute what they compute operator by operator, gradients included, is compared for thousands of
expressions (`tests/peers --traced`) and random programs (`tests/differential --traced`). Here is what is around that.
"""

from __future__ import annotations

import functools
import gc
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import warnings
import weakref
import xml.etree.ElementTree
from collections import OrderedDict, namedtuple
from typing import Any, Callable

import numpy as np
import pytest

import paddle_mps as paddle
import paddle_mps.nn.functional as F
from paddle_mps._calls import _call
from paddle_mps._core import _builtin
from paddle_mps.jit import InputSpec, StaticFunction, enable_to_static, not_to_static
from paddle_mps.selftest import suite

to_static: Any = functools.partial(paddle.jit.to_static, full_graph=True)  # test_unchanged.py has what runs without


def vector(*values: float, ask: bool = False) -> Any:
    x = paddle.to_tensor(np.array(values, np.float32))
    x.stop_gradient = not ask
    return x


def test_it_is_traced_once_for_shapes_and_dtypes() -> None:
    seen = []

    @paddle.jit  # type: ignore[operator]
    def f(x: Any, times: float = 2.0) -> Any:
        seen.append(x.shape)
        return x * times

    assert isinstance(f, StaticFunction) and f.__name__ == "f"
    assert f(vector(1, 2)).tolist() == f(vector(1, 2)).tolist() == [2, 4]
    assert f(vector(3, 4, 5)).tolist() == [6, 8, 10]
    assert f(vector(1, 2), times=3.0).tolist() == [3, 6]
    assert f(paddle.to_tensor([1, 2])).tolist() == [2, 4]
    assert len(seen) == f.program_cache == 4
    f.clear()
    f(vector(1, 2))
    assert len(seen) == 5


def test_arguments_and_results_are_trees() -> None:
    Pair = namedtuple("Pair", "left right")

    @to_static
    def f(pair: Any, *rest: Any, **named: Any) -> Any:
        total = pair.left + pair.right + rest[0][0] + named["more"]["x"]
        return OrderedDict(total=total, same=pair.left, text="t", parts=(total[0], [total[1]], Pair(total, None)))

    a, b, c, d = vector(1, 2), vector(10, 20), vector(100, 200), vector(1000, 2000)
    for _ in range(2):
        got = f(Pair(a, b), [c], more={"x": d})
        assert list(got) == ["total", "same", "text", "parts"] and got["text"] == "t"
        assert got["total"].tolist() == [1111, 2222] and got["same"] is a
        assert got["parts"][0].item() == 1111 and got["parts"][1][0].item() == 2222
        assert got["parts"][2].left.tolist() == [1111, 2222] and got["parts"][2].right is None
    with pytest.raises(TypeError, match="an argument is set"):
        f(Pair(a, b), [c], more={"x": d}, other={1})
    with pytest.raises(TypeError, match=r"\[to_static\] got int"):
        to_static(3)


def test_a_list_of_one_tensor_is_not_that_tensor() -> None:
    f = to_static(lambda x: x * 2 if isinstance(x, paddle.Tensor) else x[0] * 3)
    x = vector(1, 2)
    for _ in range(2):
        assert f([x]).tolist() == [3, 6]
        assert f(x).tolist() == [2, 4]


def test_calls_take_turns_with_shapes_places_and_gradients() -> None:
    places = [paddle.CPUPlace()] + [paddle.MPSPlace(0)] * (paddle.mps.device_count() > 0)
    traced = []

    @to_static
    def f(x: Any, y: Any) -> Any:
        traced.append(x.shape)
        return x * y

    cases = [(n, place, ask) for n in (1, 3) for place in places for ask in (False, True)]
    for turn in range(3):
        for n, place, ask in cases:
            x = paddle.to_tensor(np.arange(n, dtype=np.float32), place=place, stop_gradient=not ask)
            y = paddle.to_tensor(np.full(n, 2, np.float32), place=place)
            for recording in (True, False):
                with paddle.set_grad_enabled(recording):
                    z = f(x, y)
                assert z.tolist() == [2.0 * i for i in range(n)]
                assert z.place == place and z.stop_gradient == (not (ask and recording))
            if ask:
                f(x, y).sum().backward()
                assert x.grad.tolist() == [2.0] * n
        assert turn == 0 or len(traced) == len(cases) + len(cases) // 2  # with recording, and without


def test_the_default_place_counts_without_arguments() -> None:
    f = to_static(lambda: paddle.ones([2]))
    before = paddle.get_device()
    try:
        for device in ["cpu", "mps:0"] * 2 if paddle.mps.device_count() else ["cpu"]:
            paddle.set_device(device)
            assert f().place == paddle.ones([1]).place
    finally:
        paddle.set_device(before)


def test_any_number_of_arguments_and_results() -> None:
    traced = []

    @to_static
    def f(*xs: Any) -> Any:
        traced.append(len(xs))
        return [x + i for i, x in enumerate(xs)]

    sizes = (2, 16, 17, 32, 33, 60)
    for n in sizes:
        for _ in range(2):
            assert [x.item() for x in f(*[vector(k) for k in range(n)])] == [2.0 * k for k in range(n)]
    assert tuple(traced) == sizes


def test_large_and_failing_runs() -> None:
    f = to_static(lambda x, y: x // y)
    whole = paddle.to_tensor([7, 8])
    for _ in range(2):
        assert f(whole, paddle.to_tensor([2, 2])).tolist() == [3, 4]
        with pytest.raises(Exception, match="zero"):
            f(whole, paddle.to_tensor([2, 0])).tolist()
    large = paddle.ones([3000, 3000])
    for _ in range(2):  # on the CPU by another thread, so that Ctrl-C is heard
        assert float(f(large, large)[2999, 2999]) == 1.0


def test_functions_are_saved_and_loaded(tmp_path: Any) -> None:
    w = vector(1, 2, 3, ask=True)

    @to_static
    def f(x: Any, y: Any) -> Any:
        return F.softmax(x * w + 0.5) @ y, x.astype("int32"), paddle.reshape(y, [-1])

    x, y = paddle.to_tensor([[1.0, 2.0, -3.0], [0.0, 1.5, 2.5]]), paddle.to_tensor(np.eye(3, 2, dtype=np.float32))
    path = str(tmp_path / "f")
    paddle.jit.save(f, path, [x, InputSpec([3, 2])])
    want = [a.tolist() for a in f(x, y)]
    w.set_value(np.zeros(3, np.float32))
    loaded = paddle.jit.load(path)
    for given in ((x, y), (x.numpy(), y.numpy())):
        got = loaded(*given)
        assert [a.tolist() for a in got] == want and all(a.stop_gradient for a in got)
    assert "softmax(" in loaded.program() and "constant %2 float32[3]" in loaded.program()
    with pytest.raises(ValueError, match="want float32 of shape"):
        loaded(y, x)
    single = to_static(lambda x: x + 1, input_spec=[InputSpec([2], "int64")])
    paddle.jit.save(single, path)  # over the file that is open
    assert paddle.jit.load(path)(np.array([1, 2])).tolist() == [2, 3]
    assert [a.tolist() for a in loaded(x, y)] == want


def test_saved_files_are_as_private_as_others(tmp_path: Any) -> None:
    before = os.umask(0o077)
    try:
        paddle.jit.save(lambda x: x + 1, str(tmp_path / "f"), [vector(1)])
    finally:
        os.umask(before)
    assert (tmp_path / "f.pmps").stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_saved(tmp_path: Any) -> None:
    path, x = str(tmp_path / "f"), vector(1, 2)
    for f, specs, error in (
        (lambda x: x + 1, None, "got no input_spec"),
        (lambda x: x * 2 if x.shape[0] > 8 else x, [InputSpec([None, 2])], "not the same for all sizes"),
        (
            lambda x: x * (2 if x.shape[0] > 1 else 3),
            [InputSpec([None, 2])],
            "operand 1 is 2 for some sizes, 3 for others",
        ),
        (lambda x: x / (x.shape[0] + 2), [InputSpec([-1, 2])], "operand 1 is 7 for some sizes, 213 for others"),
        (
            lambda x: x + paddle.zeros([2 * x.shape[0], 1])[: x.shape[0]],
            [InputSpec([-1, 2])],
            r"shape is \[10, 1\] for some",
        ),
        (lambda x, y: x @ y, [InputSpec([None, 2]), InputSpec([3, None])], "matmul"),
        (lambda x: x + 1, [7], "has int at 0"),
        (lambda x: {"a": x + 1}, [x], "returns something else than tensors"),
        (lambda x: x, [x], "returns an argument"),
        (lambda x: (x.add_(x), x + 1)[1], [x], "writes into 1 of its inputs"),
    ):
        with pytest.raises((TypeError, ValueError, RuntimeError), match=error):
            paddle.jit.save(f, path, specs)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"there is no .*; want the path that was given to jit\.save$"):
        paddle.jit.load(path)
    (tmp_path / "net.pdiparams").touch()
    for name, says in (
        ("f.pmps", r"without \.pmps"),
        ("f.onnx", "an ONNX model is loaded by paddle_mps.onnx.load"),
        ("net", "convert it with paddle2onnx"),
        ("inference.json", "convert it with paddle2onnx"),
    ):
        with pytest.raises(ValueError, match=says):
            paddle.jit.load(str(tmp_path / name))
    paddle.jit.save(lambda x: x * vector(3, 4), path, [x])
    file = tmp_path / "f.pmps"
    whole = file.read_bytes()
    for damaged in (whole[:-1], whole + b"x", whole[:40], whole.replace(b"multiply", b"subtract")):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"\[program\]"):
            paddle.jit.load(path)
    for damaged in (b"", b"PK", whole[:10], b"\0" + whole):
        file.write_bytes(damaged)
        with pytest.raises(
            ValueError, match=r"\[jit.load\] .* does not begin as a file of jit.save; want one, complete"
        ):
            paddle.jit.load(path)


def places() -> list[Any]:
    return [paddle.CPUPlace()] + [paddle.MPSPlace(0)] * (paddle.mps.device_count() > 0)


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_c_programs_run_saved_functions(tmp_path: Any, dtype: str) -> None:
    """examples/c/saved.c prints what the function returns for ones, with 2 for each open size."""
    w = paddle.to_tensor(np.arange(12).reshape(3, 4).astype(dtype), place="cpu")

    def f(x: Any) -> Any:
        return x.matmul(w) - 9, (x * x).sum(), x[:0]

    paddle.jit.save(f, str(tmp_path / "f"), [InputSpec([None, 3], dtype)])
    root, library = pathlib.Path(__file__).parents[2], os.path.dirname(paddle.__file__)
    program = tmp_path / "saved"
    subprocess.run(
        ["cc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{root / 'include'}", root / "examples/c/saved.c",
         f"-L{library}", "-lpaddlemps", f"-Wl,-rpath,{library}", "-o", program],
        check=True,
    )  # fmt: skip
    ended = subprocess.run([program, tmp_path / "f.pmps"], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == ["output 0 [2, 4]: 3 6 9 12 3 6 9 12", "output 1 []: 6", "output 2 [0, 3]:"]
    (tmp_path / "f.pmps").write_bytes((tmp_path / "f.pmps").read_bytes()[:-40])
    ended = subprocess.run([program, tmp_path / "f.pmps"], capture_output=True, text=True)
    assert ended.returncode == 1 and ended.stderr.startswith("INVALID_ARGUMENT: ")


def test_saved_functions_of_open_sizes(tmp_path: Any) -> None:
    """What a file computes for sizes that the function was not traced for is what the function does, to the bit."""
    before = paddle.get_device()
    try:
        for place in places():
            paddle.set_device(device_of(place))
            check_open_sizes(str(tmp_path / "f"))
    finally:
        paddle.set_device(before)


def device_of(place: Any) -> str:
    return "cpu" if place == paddle.CPUPlace() else "mps:0"


def check_open_sizes(path: str) -> None:
    w, table = paddle.randn([16, 16]), paddle.randn([10, 16])
    w.stop_gradient = False
    # Whole numbers: a convolution may add up in another order.
    kernel, scale = paddle.randn([4, 3, 3, 3]).round(), paddle.randn([4])

    def attention(ids: Any, mask: Any) -> Any:
        x = F.embedding(ids, table)
        batch, length, width = x.shape
        heads = (x @ w).reshape([batch, length, 4, 4]).transpose([0, 2, 1, 3])
        # With weights as they are it would be one operator, with other roundings.
        weights = F.softmax(heads @ heads.transpose([0, 1, 3, 2]) + mask.unsqueeze(1), -1) * 0.7
        mixed = (weights @ heads).transpose([0, 2, 1, 3]).reshape([batch, length, width])
        return mixed + paddle.arange(length, dtype="float32").unsqueeze(-1), mixed[:, -1]

    def image(x: Any) -> Any:
        y = F.group_norm(F.relu(F.conv2d(x.round(), kernel, padding=1)), 2, weight=scale, bias=scale)
        pooled: Any = F.max_pool2d(y, 2)
        return pooled.flatten(1).mean(-1), paddle.zeros([x.shape[0], 1]) + y[::-1, :, 0, 0]

    ids, mask = InputSpec([None, None], "int64"), InputSpec([-1, None, None])
    paddle.jit.save(attention, path, [ids, mask])
    loaded = paddle.jit.load(path)
    for batch, length in ((1, 1), (2, 3), (3, 2), (5, 11)):
        given = paddle.randint(0, 10, [batch, length]), paddle.randn([batch, length, length])
        for got, want in zip(loaded(*given), attention(*given)):
            assert got.shape == want.shape and got.numpy().tobytes() == want.numpy().tobytes()
    with pytest.raises(
        ValueError, match=r"input 1 is float32 of shape \[2, 4, 4\]; want float32 of shape \[s0, s1, s1\]"
    ):
        loaded(paddle.randint(0, 10, [2, 3]), paddle.randn([2, 4, 4]))
    paddle.jit.save(image, path, [InputSpec([None, 3, None, None])])
    loaded = paddle.jit.load(path)
    assert "input %0 float32[s0, 3, s1, s2]" in loaded.program() and "shape=[s0, 1]" in loaded.program()
    for n, height, width in ((1, 8, 8), (2, 9, 12), (4, 32, 6)):
        x = paddle.randn([n, 3, height, width])
        for got, want in zip(loaded(x), image(x)):
            assert got.shape == want.shape and got.numpy().tobytes() == want.numpy().tobytes()


def joined_with(w: Any) -> Any:
    return lambda x: (paddle.where(x == x, w, x), paddle.concat([w, x]).astype("float32") * 0.1)


def test_files_keep_every_bit(tmp_path: Any) -> None:
    """Weights of each dtype, nan and -0.0 included, and numbers in calls, on each place."""
    path = str(tmp_path / "f")
    for place in places():
        for dtype in ("float32", "float16", "bfloat16", "int32", "int64", "uint8", "bool") + ("float64",) * (
            place == paddle.CPUPlace()
        ):
            values = (
                np.array([0.1, -0.0, np.inf, 3, 5e-3], np.float32) if "float" in dtype else np.array([1, 0, 7, 100, 3])
            )
            w = paddle.to_tensor(values, dtype=dtype, place=place)
            x = paddle.to_tensor(np.array([1, 0, 1, 1, 0]), dtype=dtype, place=place)
            f = to_static(joined_with(w))
            paddle.jit.save(f, path, [x])
            with paddle.device_guard(device_of(place)):
                loaded = paddle.jit.load(path)
            for got, want in zip(loaded(x), f(x)):
                assert got.dtype == want.dtype and got.numpy().tobytes() == want.numpy().tobytes()


def test_open_sizes_are_traced_for_two_calls() -> None:
    traced: list[int] = []
    w = vector(1, 2, 3)

    def f(x: Any, y: Any) -> Any:
        traced.append(x.shape[0])
        return {
            "sum": (x * (w if x.place == w.place else paddle.to_tensor([1.0, 2.0, 3.0], place=x.place))).sum(0),
            "both": [x + y, x],
        }

    for place in places():
        traced.clear()
        g = to_static(f, dynamic=True)
        for n in (4, 6, 9, 30, 2, 4, 9, 1, 1, 0):
            x = paddle.to_tensor(np.arange(3 * n, dtype=np.float32).reshape(n, 3), place=place)
            got = g(x, x)
            assert got["sum"].tolist() == (x.numpy() * np.array([1, 2, 3], np.float32)).sum(0).tolist()
            assert got["both"][0].tolist() == (x + x).tolist() and got["both"][1] is x
        assert traced == [4, 6, 5, 32 * 211, 1, 0] and g.program_cache == 4
        with pytest.raises(ValueError, match="add"):
            g(paddle.zeros([5, 3]).to(place), paddle.zeros([4, 3]).to(place))
    w.add_(vector(1, 1, 1))
    h = to_static(f, dynamic=True)
    for n in (2, 3, 4):
        assert h(paddle.ones([n, 3]), paddle.ones([3]))["sum"].tolist() == [2 * n, 3 * n, 4 * n]
    assert "input %0 float32[s0, 3]" in h.lower(paddle.ones([9, 3]), paddle.ones([3]))
    assert "float32[9, 3]" in h.explain(paddle.ones([9, 3]), paddle.ones([3]))
    h.clear()
    assert h.program_cache == 0


def test_sizes_that_a_function_looks_at_are_not_open() -> None:
    def f(x: Any) -> Any:
        return x * (2 if x.shape[0] > 3 else 3)

    g = to_static(f, dynamic=True)
    for n in (2, 5, 3, 4, 2):
        assert g(paddle.ones([n])).tolist() == f(paddle.ones([n])).tolist()
    assert g.program_cache == 4
    assert g.explain(paddle.ones([7])).startswith(
        "sizes are not open: [multiply] call 0: operand 1 is 3 for some sizes, 2 "
    )
    back = to_static(lambda x: (x * x).mean(), dynamic=True)
    for n in (2, 3, 5):
        x = paddle.ones([n])
        x.stop_gradient = False
        back(x).backward()
        assert x.grad.tolist() == (np.full(n, 2, np.float32) * np.float32(1 / n)).tolist()
        assert back(x.detach()).item() == 1
    assert back.program_cache == 4 and "not open" not in back.explain(x)  # two with gradients and two without
    named = to_static(lambda x: {"n": x.shape[0], "y": x + 1}, dynamic=True)
    assert [named(paddle.ones([n]))["n"] for n in (2, 3, 4)] == [2, 3, 4]
    with pytest.raises(TypeError, match="dynamic is 1; want a bool"):
        to_static(f, dynamic=1)


def test_open_sizes_of_methods_and_of_weights_that_are_trained_later() -> None:
    class Layer:
        def __init__(self) -> None:
            self.w = vector(1, 2)

        @to_static(dynamic=True)
        def __call__(self, x: Any) -> Any:
            return x * self.w

    layer = Layer()
    for n in (3, 4, 5):
        assert layer(paddle.ones([n, 2])).tolist() == [[1, 2]] * n
    layer.w.stop_gradient = False
    for n in (3, 4, 5):
        layer(paddle.ones([n, 2])).sum().backward()
    assert layer.w.grad.tolist() == [12, 12]


def test_constants_tell_programs_apart() -> None:
    @to_static
    def f(x: Any, c: Any) -> Any:
        return x * c if isinstance(c, float) else x + c

    x = vector(1)
    assert f(x, 0.0).numpy().tobytes() != f(x, -0.0).numpy().tobytes()
    assert f(x, 1).item() == 2 and f(x, 1.0).item() == 1 and f(x, True).item() == 2
    assert np.isnan(f(x, float("nan")).item()) and np.isnan(f(x, float("nan")).item())
    assert f.program_cache == 6


def test_captured_tensors_are_references() -> None:
    w = vector(1, 2)
    f = to_static(lambda x: x + w)
    assert f(vector(0, 0)).tolist() == [1, 2]
    w.add_(vector(10, 10))
    assert f(vector(0, 0)).tolist() == [11, 12]
    w.set_value(np.zeros(2, np.float32))
    assert f(vector(0, 0)).tolist() == [0, 0]


def test_captured_tensors_are_returned_themselves() -> None:
    w, out = vector(1, 2), vector(0, 0)
    assert to_static(lambda x: w)(vector(1)) is w
    f = to_static(lambda x: paddle.add(x, w, out=out))
    assert f(vector(3, 4)) is out and out.tolist() == [4, 6]
    assert f(vector(5, 6)) is out and out.tolist() == [6, 8]


@pytest.mark.parametrize("dynamic", [False, True])
def test_tensors_made_of_elements_are_new_in_each_call(dynamic: bool) -> None:
    def sums(x: Any) -> Any:
        total, table = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor(np.zeros([2, 2], np.float32))
        total.add_(x.sum())
        table[1] = x.sum()
        row = table[1]
        row.add_(total)
        shaped = paddle.to_tensor([3.0, 4.0])
        shaped.reshape_([2, 1])
        return total, table, row, shaped, paddle.to_tensor(7.0)

    f = to_static(sums, dynamic=dynamic)
    for values in [1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0], [5.0, 6.0]:
        made, want = f(vector(*values)), sums(vector(*values))
        assert [x.tolist() for x in made] == [x.tolist() for x in want]
        for x in made:  # which no other call sees
            x.fill_(9.0)


def test_gradients_of_a_tensor_that_is_made_and_changed() -> None:
    def f(x: Any) -> Any:
        weights, total = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 1.0])
        total.add_(x)
        return (x * weights * total).sum()

    g = to_static(f)
    for _ in range(3):
        x = vector(3, 4, ask=True)
        g(x).backward()
        assert x.grad.tolist() == [7, 18]  # of x (1 + x) and 2 x (1 + x)


@pytest.mark.parametrize("dynamic", [False, True])
def test_gradients_go_through_what_is_written_into_captured_tensors(dynamic: bool) -> None:
    w = vector(1, 1)

    def f(x: Any) -> Any:
        w.add_(x)
        return (x * w).sum()

    g = to_static(f, dynamic=dynamic)
    for _ in range(3):
        w.set_value(np.ones(2, np.float32))
        x = vector(3, 4, ask=True)
        g(x).backward()
        assert x.grad.tolist() == [7, 9] and w.tolist() == [4, 5] and not w.stop_gradient


def test_results_that_were_given_and_changed_have_their_gradient() -> None:
    captured = vector(1, 1)

    @to_static
    def f(given: Any, x: Any) -> Any:
        given.add_(x * 2)
        captured.add_(x * 3)
        return given, captured, given

    for calls in 1, 2, 3:
        given, x = vector(5, 6), vector(1, 1, ask=True)
        first, second, third = f(given, x)
        assert (
            given.tolist() == first.tolist() == [7, 8] and captured.tolist() == second.tolist() == [1 + 3 * calls] * 2
        )
        assert first is third and not given.stop_gradient and not captured.stop_gradient
        (first + second).sum().backward(retain_graph=True)
        assert x.grad.tolist() == [5, 5]
        (given * captured.detach() + captured).sum().backward()  # they have the history of what was written
        assert x.grad.tolist() == [5 + 2 * (1 + 3 * calls) + 3] * 2
        captured.set_value(captured.numpy())  # which ends it


def test_a_trace_that_fails_leaves_no_history() -> None:
    w, kept = vector(1, 1), vector(2, 2, ask=True) * 1

    @to_static
    def f(x: Any) -> Any:
        w.add_(x)
        kept.multiply_(paddle.to_tensor([2.0, 2.0]))
        raise KeyError("in the middle")

    with pytest.raises(KeyError):
        f(vector(1, 1, ask=True))
    assert w.stop_gradient and w.tolist() == [1, 1] and kept.tolist() == [2, 2]
    (kept + w).sum().backward()


def test_what_is_read_while_tracing_is_read_anew_after_a_change() -> None:
    w, traced = paddle.to_tensor(2.0), []

    @to_static
    def f(x: Any) -> Any:
        traced.append(1)
        return x * float(w) if w.numpy() > 0 else -x

    assert [f(vector(1)).item() for _ in range(3)] == [2, 2, 2] and len(traced) == 1
    w.set_value(paddle.to_tensor(5.0))
    assert [f(vector(1)).item() for _ in range(3)] == [5, 5, 5] and len(traced) == 2
    w.subtract_(paddle.to_tensor(9.0))
    assert f(vector(1)).item() == -1 and f(vector(1, 2)).tolist() == [-1, -2]
    grown = to_static(lambda x: x * float(w), dynamic=True)
    assert [grown(vector(*range(n))).sum().item() for n in (4, 5, 6)] == [-24, -40, -60] and grown.program_cache < 3
    w.fill_(1.0)
    assert [grown(vector(*range(n))).sum().item() for n in (6, 4, 9)] == [15, 6, 36]


def test_captured_tensors_of_functions_with_many_results() -> None:
    """More results than a built-in function takes."""
    w, scale, traced = vector(2, 3), paddle.to_tensor(2.0), []

    @to_static
    def f(x: Any) -> Any:
        traced.append(1)
        return [x * w * float(scale) + i for i in range(20)]

    assert f(vector(1, 1))[19].tolist() == [23, 25] and f(vector(1, 1))[0].stop_gradient
    w.stop_gradient = False
    made = f(vector(1, 1))
    sum(made).sum().backward()
    assert w.grad.tolist() == [40, 40] and len(traced) == 2
    scale.set_value(paddle.to_tensor(3.0))
    assert [f(vector(1, 1))[19].tolist() for _ in range(2)] == [[25, 28]] * 2 and len(traced) == 3


def test_a_counter_that_is_read_and_then_changed() -> None:
    count, traced = paddle.to_tensor(0), []

    @to_static
    def f(x: Any) -> Any:
        traced.append(1)
        y = x + 1 if count.item() % 2 == 0 else x - 1
        count.add_(paddle.to_tensor(1))
        return y

    assert [f(vector(0)).item() for _ in range(4)] == [1, -1, 1, -1] and count.item() == 4 == len(traced)


def test_elements_are_not_read_after_a_change_in_the_trace() -> None:
    w = vector(1, 2)

    def captured(x: Any) -> Any:
        w.add_(x)
        return x * w.numpy().sum()

    def made(x: Any) -> Any:
        total = paddle.to_tensor([0.0, 0.0])
        total.add_(x)
        return total.tolist()

    for f in captured, made:
        with pytest.raises(paddle.TracingError, match=r"has written to.*\n  in "):
            to_static(f)(vector(1, 1))
    assert w.tolist() == [1, 2]


@pytest.mark.parametrize("place", ["cpu", "mps"])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: paddle.quantile(x, 0.3, axis=1),
        lambda x: paddle.quantile(x, [0.25, 0.9], axis=0, keepdim=True),
        lambda x: paddle.quantile(x, 0.6, interpolation="nearest"),
        lambda x: paddle.nanmedian(x, axis=0),
        lambda x: paddle.concat([y.cast("float32") for y in paddle.nanmedian(x, axis=1, mode="min")]),
    ],
)
def test_order_statistics_want_no_elements(f: Callable[[Any], Any], place: str) -> None:
    given = np.random.default_rng(3).standard_normal((4, 6)).astype(np.float32)
    for unknown in [], [1], [0, 1, 2, 3]:
        given[unknown, 2] = np.nan
        given[unknown[:1]] = np.nan
        x, y = (paddle.to_tensor(given, place=place, stop_gradient=False) for _ in range(2))
        made, want = to_static(f)(x), f(y)
        np.testing.assert_array_equal(made.numpy(), want.numpy())
        made.sum().backward()
        want.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), y.grad.numpy())


def test_one_tensor_is_one_result() -> None:
    def f(x: Any) -> Any:
        y = x * 2
        return [y, {"same": y}, y + 1]

    first, other, last = to_static(f)(vector(1))
    assert first is other["same"] and last is not first
    first.fill_(5.0)
    assert other["same"].item() == 5 and last.item() == 3


def test_results_that_are_views_have_memory_of_their_own() -> None:
    x = vector(1, 2)
    part = to_static(lambda x: x[1:])(x)
    part.fill_(9.0)
    assert x.tolist() == [1, 2]


def test_what_is_changed_is_changed_by_each_call() -> None:
    cache, count = paddle.zeros([3, 2]), paddle.zeros([1])

    @to_static
    def step(row: Any, at: int) -> Any:
        cache[at] = row
        row.add_(paddle.ones([1]))
        count.add_(paddle.ones([1]))
        return cache.sum()

    row = vector(1, 2)
    assert [step(row, at).item() for at in (0, 1, 0)] == [3, 8, 12]  # row grows by 1 a call
    assert cache.tolist() == [[3, 4], [2, 3], [0, 0]] and row.tolist() == [4, 5] and count.item() == 3


def test_gradients_of_arguments_and_of_captured_tensors() -> None:
    w, b = vector(2, 3, ask=True), vector(1, 1, ask=True)

    def loss(x: Any) -> Any:
        return (F.sigmoid(x * w) + b).sum(), x.detach()

    x = vector(0.5, -1, ask=True)
    results = []
    for f in (loss, to_static(loss)):
        value, plain = f(x)
        assert not value.stop_gradient and plain.stop_gradient
        value.backward()
        results.append([t.grad.numpy() for t in (x, w, b)])
        for t in (x, w, b):
            t.clear_grad()
    for one, other in zip(*results):
        assert np.allclose(one, other, rtol=1e-6, atol=0)


def test_weights_that_are_trained_later_get_gradients() -> None:
    w = vector(3, 4)
    f = to_static(lambda x: (x * w).sum())
    x = vector(1, 2)
    for frozen in (True, False, True, False):
        w.stop_gradient = frozen
        for _ in range(2):
            y = f(x)
            assert y.item() == 11 and y.stop_gradient == frozen
        if not frozen:
            w.clear_grad()
            y.backward()
            assert w.grad.tolist() == [1, 2]


def test_asking_anew_for_what_is_asked_traces_nothing() -> None:
    traced: list[int] = []
    w, frozen = vector(3, 4, ask=True), vector(1, 1)

    def f(x: Any) -> Any:
        traced.append(1)
        return (x * w + frozen).sum()

    def slope(x: Any) -> Any:
        return None if x.grad is None else x.grad.tolist()

    g = to_static(f)
    for _ in range(3):
        w.stop_gradient, frozen.stop_gradient = False, True
        g(vector(1, 2)).backward()
    assert traced == [1] and slope(w) == [3, 6] and slope(frozen) is None
    frozen.stop_gradient = False
    g(vector(1, 2)).backward()
    assert traced == [1, 1] and slope(frozen) == [1, 1]
    view = frozen[:1]
    for _ in range(3):  # as weights of which two functions train one half each
        frozen.stop_gradient = True
        assert g.dygraph_function(vector(1, 2)).item() == 13
        frozen.stop_gradient = False
        frozen.clear_grad()
        g(vector(1, 2)).backward()
        assert slope(frozen) == [1, 1]
    assert traced == [1, 1, 1, 1, 1] and view.stop_gradient is False  # three calls of the function itself
    other = frozen.detach()
    frozen.stop_gradient, other.stop_gradient = True, False  # another tensor of the same memory
    w.clear_gradient(set_to_zero=False)
    frozen.clear_gradient(set_to_zero=False)
    g(vector(1, 2)).backward()
    assert slope(w) == [1, 2] and slope(frozen) is None and slope(other) is None and len(traced) == 6


def test_a_program_stays_while_it_is_called() -> None:
    f = to_static(lambda x: x + 1)
    x = vector(1)
    f(x)
    latest = f._latest
    f.clear()
    gc.collect()
    assert latest.run(x).tolist() == [2]
    stop, failed = threading.Event(), []

    def call() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            try:
                assert f(vector(*range(1 + n % 80))).tolist()[0] == 1
            except Exception as error:
                failed.append(error)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for one in threads:
        one.start()
    for _ in range(30):
        f.clear()
        stop.wait(0.02)
    stop.set()
    for one in threads:
        one.join()
    assert not failed


def test_a_gradient_within_a_function() -> None:
    @to_static
    def slope(x: Any) -> Any:
        x.stop_gradient = False
        return paddle.grad((x * x * x).sum(), [x])[0]

    assert slope(vector(1, 2)).tolist() == [3, 12]
    with pytest.raises(paddle.TracingError, match="cannot add to the gradients of leaves"):
        to_static(lambda x: (x * vector(1, ask=True)).sum().backward())(vector(1))


def test_a_training_step_learns_what_it_learns_without() -> None:
    rng = np.random.default_rng(3)
    x = paddle.to_tensor(rng.standard_normal((16, 4)).astype(np.float32))
    y = paddle.to_tensor(rng.standard_normal((16, 1)).astype(np.float32))
    first = rng.standard_normal((4, 1)).astype(np.float32)

    def train(compiled: bool) -> list[float]:
        w = paddle.to_tensor(first)
        w.stop_gradient = False

        def loss_of(x: Any, y: Any) -> Any:
            return F.mse_loss(x @ w, y)

        f = to_static(loss_of) if compiled else loss_of
        losses = []
        for _ in range(20):
            loss = f(x, y)
            loss.backward()
            with paddle.no_grad():
                w.subtract_(0.1 * w.grad)
            w.clear_grad()
            losses.append(loss.item())
        return losses

    eager, program = train(False), train(True)
    assert np.allclose(eager, program, rtol=1e-5) and program[-1] < program[0] / 2


def test_shapes_are_not_changed_in_place() -> None:
    w = vector(1, 2)
    for f in (lambda x: x.reshape_([2, 1]), lambda x: w.reshape_([2, 1]), lambda x: w.set_(x * 2)):
        with pytest.raises(paddle.TracingError, match="another shape in place"):
            to_static(f)(vector(3, 4))
    assert w.tolist() == [1, 2] and to_static(lambda x: (x * 2).reshape_([2, 1]))(w).shape == [2, 1]


def test_arguments_that_are_changed_share_no_memory() -> None:
    f = to_static(lambda a, b: (a.add_(b), a + b)[1])
    x = vector(1, 2)
    assert f(x, vector(1, 1)).tolist() == [3, 4]
    for other in (x, x[:]):
        with pytest.raises(paddle.UnsupportedError, match="shares memory with input 1"):
            f(x, other)
    assert x.tolist() == [2, 3]


def test_random_numbers_are_new_and_those_of_the_seed() -> None:
    f = to_static(lambda x: x + paddle.rand([2]))
    x = vector(0, 0)
    paddle.seed(5)
    drawn = [f(x).tolist() for _ in range(3)]
    paddle.seed(5)
    assert drawn == [(x + paddle.rand([2])).tolist() for _ in range(3)] and drawn[0] != drawn[1]


def test_conditions_on_elements_are_errors_that_name_the_line() -> None:
    def f(x: Any) -> Any:
        y = x * 2
        if y.sum() > 0:  # the line
            return y
        return x

    with pytest.raises(paddle.TracingError, match=r"test_jit\.py:\d+: if y\.sum\(\) > 0:  # the line"):
        to_static(f)(vector(1))
    for name, wants in (
        ("bool", f),
        ("bool", lambda x: [x] if x.max() else x),
        ("float", lambda x: float(x.sum())),
        ("int", lambda x: int(x.sum())),
        ("item", lambda x: x.item()),
        ("numpy", lambda x: x.numpy()),
        ("array", lambda x: np.asarray(x)),
        ("index", lambda x: x[x > 0]),
        ("nonzero", paddle.nonzero),
        ("tolist", lambda x: x.tolist()),
        ("histogram", lambda x: paddle.histogram(x)),
    ):
        with pytest.raises(paddle.TracingError, match=rf"^\[{name}\] .*want"):
            to_static(wants)(vector(1))
    assert (vector(1) + vector(1)).item() == 2  # operators run again


def test_an_exception_ends_the_trace() -> None:
    def f(x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        to_static(f)(vector(1))
    assert (vector(1) + vector(1)).item() == 2


def test_tensors_that_escape_a_trace_are_errors() -> None:
    kept: list[Any] = []
    f = to_static(lambda x: kept.append(x * 2))
    assert f(vector(1)) is None
    for use in (lambda t: t + 1, lambda t: t.numpy(), lambda t: t[0], lambda t: t.add_(t), lambda t: t.cpu().numpy()):
        with pytest.raises(paddle.TracingError):
            use(kept[0])
    assert "traced" in repr(kept[0])
    with pytest.raises(
        paddle.TracingError,
        match=r"after the trace; want .* x\.shape or paddle\.shape\(x\) where .* what the function returns",
    ):
        kept[0].numpy()


def test_results_that_hide_tensors_are_errors() -> None:
    """A set or an object stays as it was, so that a tensor in it would have no elements."""

    class Pair:
        def __init__(self, x: Any) -> None:
            self.x = x

    x = vector(1)
    for function in (lambda x: {x * 2}, lambda x: [frozenset([x + 1])], lambda x: {"a": Pair(x * 2)}, Pair):
        with pytest.raises(TypeError, match=r"\[jit\] the function returns .*, which holds a tensor that it makes"):
            to_static(function)(x)
    assert to_static(lambda y: (y * 2, Pair(x), Pair))(x)[1].x is x
    with pytest.raises(
        TypeError, match=r"\[jit\] the function returns a generator, which would end in one call; want a list"
    ):
        to_static(lambda x: (y for y in [x]))(x)


def test_functions_that_call_functions_are_one_program() -> None:
    inner = to_static(lambda x: x * 2)
    outer = to_static(lambda x: inner(x) + not_to_static(inner)(x))
    assert outer(vector(3)).item() == 12
    assert inner.program_cache == 0 and outer.program_cache == 1


def test_methods_have_programs_of_their_own() -> None:
    class Model:
        def __init__(self, factor: float) -> None:
            self.w = vector(factor)

        @to_static
        def forward(self, x: Any) -> Any:
            return x * self.w

    one, two = Model(2), Model(3)
    assert one.forward(vector(1)).item() == 2 and two.forward(vector(1)).item() == 3
    assert one.forward is one.forward
    gone = weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None


def test_text_says_what_was_traced_and_compiled() -> None:
    f = to_static(lambda x: F.relu(x * 2 + 1))
    assert "relu(%" in f.lower(vector(1, 2)) and "input %0 float32[2]" in f.lower(vector(1, 2))
    assert "group of steps 0 to 2" in f.explain(vector(1, 2))


def test_graphs_are_drawn(tmp_path: Any) -> None:
    w = vector(1, 2)

    @to_static
    def f(x: Any) -> Any:
        y = F.gelu(x * w) + 0.5
        return (y < x) & (y > -1.0), list(paddle.split(y, 2))

    drawn = f.draw(vector(3, 4))
    drawn.save(tmp_path / "f.svg")
    assert (tmp_path / "f.svg").read_text(encoding="utf-8") == str(drawn) == drawn._repr_svg_()
    tree = xml.etree.ElementTree.fromstring(str(drawn))
    space = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in tree.iter(f"{space}text")]
    assert len(list(tree.iter(f"{space}rect"))) == f.lower(vector(3, 4)).count("\n")  # a box for each line
    assert texts[:2] == ["%0", "float32[2]"] and texts.count("→ float32[1]") == 2
    assert "gelu" in texts and "approximate=false" in texts and "0.5" in texts and texts.count("→ bool[2]") == 3
    lines = f.lower(vector(3, 4)).splitlines()
    reads = sum(len(set(re.findall(r"%\d+", line.partition("(")[2]))) or line.startswith("output") for line in lines)
    assert len(list(tree.iter(f"{space}path"))) == reads
    paddle.jit.save(lambda x: x * w, str(tmp_path / "g"), [InputSpec([None, 2])])
    loaded = str(paddle.jit.load(str(tmp_path / "g")).draw())
    assert "float32[s0, 2]" in loaded and "%1 float32[2]" in loaded  # a constant stands in the box that reads it
    wide, height = (float(tree.attrib[name]) for name in ("width", "height"))
    for box in tree.iter(f"{space}rect"):
        x, y, w_, h = (float(box.attrib[name]) for name in ("x", "y", "width", "height"))
        assert x >= 0 and y >= 0 and x + w_ <= wide and y + h <= height


def test_specifications_are_checked() -> None:
    f = to_static(lambda x: x + 1, input_spec=[InputSpec([None, 2], "float32", "image")])
    assert f(paddle.ones([3, 2])).shape == [3, 2]
    with pytest.raises(ValueError, match=r"image has shape \[3, 1\]; want \[-1, 2\]"):
        f(paddle.ones([3, 1]))
    with pytest.raises(TypeError, match="image is int64; want float32"):
        f(paddle.ones([3, 2], "int64"))
    spec = InputSpec.from_tensor(paddle.ones([3, 2]), "x")
    assert repr(spec).startswith("InputSpec(shape=(3, 2), dtype=") and spec.batch(4).shape == (4, 3, 2)
    assert spec.unbatch().shape == (3, 2) and InputSpec.from_numpy(np.ones(3, np.float32)).shape == (3,)
    with pytest.raises(ValueError, match=r"\[InputSpec\] the shape is \(\)"):
        InputSpec([]).unbatch()
    for shape in ("ab", 3, [2.5], ["n", 3], None, [[2]]):
        with pytest.raises(TypeError, match=r"\[InputSpec\] shape is .*; want a list of sizes"):
            InputSpec(shape)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"\[InputSpec\] shape is \[-2\]; want sizes from 0"):
        InputSpec([-2])
    assert InputSpec((np.int64(2), None, -1)).shape == (2, -1, -1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"\[to_static\] input_spec is InputSpec; want a list"):
        to_static(lambda x: x, input_spec=InputSpec([2]))
    many = to_static(lambda x: x + 1, input_spec=[InputSpec([None]), InputSpec([None])])
    with pytest.raises(ValueError, match="input_spec has 2 specifications, and the call 1 tensors"):
        many(vector(1))


def test_specifications_of_nested_arguments() -> None:
    specs = [{"b": [InputSpec([2]), None], "a": InputSpec([None], name="a")}, InputSpec([3], name="last")]
    f = to_static(lambda d, y: d["a"] + d["b"][0] + y[0], input_spec=specs)
    good = {"a": vector(1, 2), "b": [vector(1, 2), vector(5)], "more": vector(1)}
    assert f(good, y=vector(1, 2, 3)).tolist() == [3, 5]
    for given, error in (
        ([{**good, "a": paddle.ones([1, 2])}, vector(1, 2, 3)], r"a has shape \[1, 2\]; want \[-1\]"),
        ([{**good, "b": [vector(1), 2]}, vector(1, 2, 3)], r"argument 1 has shape \[1\]; want \[2\]"),
        ([good, vector(1)], r"last has shape \[1\]; want \[3\]"),
    ):
        with pytest.raises(ValueError, match=error):
            f(*given)


def test_save_makes_folders(tmp_path: Any) -> None:
    path = str(tmp_path / "new" / "er" / "f")
    paddle.jit.save(lambda x: x * 2, path, [InputSpec([None])])
    assert paddle.jit.load(path)(vector(1, 2)).tolist() == [2, 4]


def test_it_can_be_switched_off() -> None:
    f = to_static(lambda x: x if x.sum() > 0 else -x)
    enable_to_static(False)
    try:
        assert f(vector(-1)).item() == 1
    finally:
        enable_to_static(True)
    with pytest.raises(TypeError, match="enable_to_static"):
        enable_to_static(1)  # type: ignore[arg-type]


def test_programs_free_what_they_hold() -> None:
    def run() -> None:
        w = paddle.ones([1000], "float32")
        w.stop_gradient = False
        f = to_static(lambda x: (x * w).sum())
        f(paddle.ones([1000])).backward()

    run()
    gc.collect()
    before = paddle.memory_allocated("cpu")
    for _ in range(3):
        run()
    gc.collect()
    assert paddle.memory_allocated("cpu") == before


def test_threads_trace_and_run_at_the_same_time() -> None:
    f = to_static(lambda x, k: F.tanh(x * k).sum())
    x = paddle.ones([64])
    wrong: list[Any] = []

    def work(k: int) -> None:
        want = float(np.tanh(np.float32(k) / 8) * 64)
        for _ in range(50):
            got = f(x, k / 8).item()
            if abs(got - want) > 1e-3:
                wrong.append((k, got, want))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 7)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and f.program_cache == 6


def test_a_cast_into_a_larger_tensor_is_broadcast() -> None:
    """As it is where nothing is traced; every conversion is, not assign alone."""

    def written(x: Any, out: Any) -> Any:
        _call.call_into(suite.BY_NAME["cast"]["id"], [x], (_call.element_type("dtype", "float32"),), out)
        return out + 0

    x = paddle.arange(3, dtype="int32")
    want = [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]
    assert written(x, paddle.zeros([2, 3])).tolist() == want
    assert paddle.jit.to_static(written)(x, paddle.zeros([2, 3])).tolist() == want


def test_writes_through_a_transpose_of_some_axes() -> None:
    """Axes that perm does not reach stay, and negative ones count from the rank and not from the length of perm."""

    def f(x: Any) -> Any:
        y = paddle.transpose(x, [-2, -3])
        y.add_(paddle.arange(4, dtype="float32"))
        return x * 1

    x = paddle.arange(24, dtype="float32").reshape([2, 3, 4])
    assert to_static(f)(x.clone()).tolist() == f(x.clone()).tolist()


def called(call: Callable[[], Any]) -> list[str]:
    """The functions of the package that are written in Python and that a call enters."""
    entered = []

    def profile(frame: Any, event: str, value: Any) -> None:
        if event == "call" and frame.f_globals.get("__name__", "").startswith("paddle_mps"):
            entered.append(frame.f_code.co_name)

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered


@pytest.mark.skipif(not _builtin.available(), reason="this interpreter has no built-in functions")
def test_the_latest_program_is_called_without_python() -> None:
    one = to_static(lambda x, y: x + y)
    two = to_static(lambda x: (x + 1, x))
    x, y = vector(1, 2), vector(3, 4)
    assert one(x, y).tolist() == [4, 6] and two(x)[0].tolist() == [2, 3]
    assert called(lambda: one(x, y)) == []
    assert called(lambda: two(x)) != []  # a tree of results is put together by Python code
    assert called(lambda: one(x, y=y)) != [] and called(lambda: one(vector(1), vector(2))) != []


def test_calls_that_the_latest_program_is_not_for() -> None:
    """Each is the call of the function as it was written, whatever has been called before, and holds no reference."""
    f = to_static(lambda x, y=1.0, *, scale=1: (x + y) * scale)
    x, y, short = vector(1, 2), vector(3, 4), vector(5)
    calls: list[tuple[tuple[Any, ...], dict[str, Any], list[float]]] = [
        ((x, y), {}, [4, 6]), ((x,), {}, [2, 3]), ((x, 2.0), {}, [3, 4]), ((x,), {"y": y}, [4, 6]),
        ((short, short), {}, [10]), ((x, y), {"scale": 3}, [12, 18]), ((), {"x": x, "y": y, "scale": 2}, [8, 12]),
    ]  # fmt: skip
    for _ in range(2):
        for first, second in itertools.product(calls, calls):
            for args, kwargs, want in (first, second):
                assert f(*args, **kwargs).tolist() == want
    watched = [f, f._latest, x, y, short, f._latest.bound]
    before = [sys.getrefcount(it) for it in watched]
    for _ in range(50):
        for args, kwargs, _ in calls:
            f(*args, **kwargs)
    f(*calls[-1][0], **calls[-1][1])
    assert [sys.getrefcount(it) for it in watched] == before
    for args in ((), (x, y, x)):
        with pytest.raises(TypeError, match="argument"):
            f(*args)
    with pytest.raises(TypeError, match="unexpected"):
        f(x, other=y)


def test_a_function_within_a_trace_and_beside_one() -> None:
    """While a thread traces, the function is a part of what it traces; calls of other threads run it."""
    inner = to_static(lambda x: x * 2)
    x = vector(1, 2)
    inner(x)
    beside: list[Any] = []

    def outer(y: Any) -> Any:
        thread = threading.Thread(target=lambda: beside.append(inner(x).tolist()))
        thread.start()
        thread.join()
        return inner(y) + inner(x)

    f = to_static(outer)
    assert f(x).tolist() == [4, 8] and beside == [[2, 4]]
    assert f.lower(x).count("multiply") == 2
    x.add_(vector(1, 1))
    assert f(vector(1, 1)).tolist() == [6, 8]  # x is captured by reference


def test_hooks_of_captured_tensors_see_the_gradients_of_runs() -> None:
    """Not those that are traced: one of these would go through the hook twice, and be what a tensor retains."""
    seen: list[list[float]] = []

    def tripled(g: Any) -> Any:
        seen.append(g.tolist())
        return g * 3

    for wrap in (lambda f: f, to_static):
        x, w = vector(1, 2, ask=True), vector(3, 4, ask=True)
        d = w * 2
        d.retain_grads()
        d.register_hook(tripled)
        f = wrap(lambda x, d=d: (x * x * d * d).sum())
        total = f(x)
        assert d.gradient() is None
        (g,) = paddle.grad(total, x, create_graph=True)
        g.sum().backward()  # 2 * x * d * d
        assert seen == [[24, 64]]
        assert d.grad.tolist() == seen.pop() and w.grad.tolist() == [144, 384]
        assert x.grad.tolist() == [72, 128]


def test_hooks_that_a_function_adds_to_its_arguments() -> None:
    """They see what the function's calls make of the argument's gradient, in each pass, and come before hooks of the caller."""

    def f(x: Any) -> Any:
        x.register_hook(lambda g: g * 3)
        return (x * x).sum()

    for wrap in (lambda f: f, to_static):
        x = vector(1, 2, ask=True)
        y = x * 1
        wrap(f)(y).backward()
        assert x.grad.tolist() == [6, 12]
        g = wrap(f)
        z = vector(1, 2, ask=True)
        g(z).backward()
        assert z.grad.tolist() == [6, 12]
    w = vector(1, 2, ask=True)
    w.register_hook(lambda g: g + 1)
    traced = to_static(f)
    for _ in range(2):
        w.clear_grad()
        traced(w).backward()
        assert w.grad.tolist() == [7, 13]


@pytest.mark.parametrize("start, end", [(True, False), (False, True)])
def test_a_function_that_sets_stop_gradient_of_its_argument(start: bool, end: bool) -> None:
    """It runs as it was written, so that the tensor of the caller is set: its gradient would be lost otherwise, without a word."""

    def function(x: Any) -> Any:
        x.stop_gradient = end
        return (x * x).sum()

    traced = paddle.jit.to_static(function)
    for _ in range(2):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=start)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = traced(x)
        assert (x.stop_gradient, y.stop_gradient) == (end, end)
        if not end:
            y.backward()
            assert x.grad.tolist() == [2.0, 4.0]


def test_hooks_of_captured_tensors_wait_for_runs_of_all_sizes() -> None:
    """A run of new sizes traces the calls once more, under a lock: a hook that called the function then would wait for itself."""
    x, w = vector(1, 2, ask=True), vector(3, ask=True)
    d = w * 2
    seen: list[Any] = []
    f = to_static(lambda x: (x * x * d).sum(), input_spec=[InputSpec([None], "float32")])
    d.register_hook(lambda g: seen.append(f(x).tolist()))
    first, second = f(x), f(vector(1, 2, 3, ask=True))
    assert not seen
    (first + second).backward()
    assert seen == [30] and w.grad.tolist() == [2 * (5 + 14)]
