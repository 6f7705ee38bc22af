"""paddle.autograd.saved_tensors_hooks: what PyLayers save is packed and unpacked as in PaddlePaddle 3.3.1."""

from __future__ import annotations

import gc
import pathlib
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps.autograd import PyLayer, saved_tensors_hooks


class Multiply(PyLayer):
    """x * y, which saves its operands and its result, some in a list."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        z = x * y
        ctx.save_for_backward(x, [y, z], 3, z)
        return z

    @staticmethod
    def backward(ctx: Any, dz: Any) -> Any:
        x, (y, inner), number, z = ctx.saved_tensor()
        assert number == 3 and np.array_equal(z.numpy(), (x * y).numpy()) and np.array_equal(inner.numpy(), z.numpy())
        return dz * y, dz * x


@pytest.fixture
def calls() -> Iterator[list[Any]]:
    yield []


def operands() -> tuple[Any, Any]:
    x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 5.0])
    x.stop_gradient = y.stop_gradient = False
    return x, y


def hooks(calls: list[Any]) -> saved_tensors_hooks:
    def pack(x: Any) -> Any:
        calls.append(("pack", x.tolist(), paddle.is_grad_enabled()))
        return x.numpy()

    def unpack(array: Any) -> Any:
        calls.append(("unpack", array.tolist(), paddle.is_grad_enabled()))
        return paddle.to_tensor(array)

    return saved_tensors_hooks(pack, unpack)


def test_what_is_saved_is_packed_and_unpacked(calls: list[Any]) -> None:
    """Tensors alone, in their order, without gradients; unpacked where backward reads them, after the with-statement too."""
    x, y = operands()
    with hooks(calls):
        z = Multiply.apply(x, y)
    values = [[1.0, 2.0], [3.0, 5.0], [3.0, 10.0], [3.0, 10.0]]
    assert calls == [("pack", v, False) for v in values]
    calls.clear()
    z.sum().backward()
    assert calls == [("unpack", v, False) for v in values]
    assert x.grad.tolist() == [3.0, 5.0] and y.grad.tolist() == [1.0, 2.0]


def test_calls_outside_are_not_packed(calls: list[Any]) -> None:
    x, y = operands()
    with hooks(calls):
        pass
    Multiply.apply(x, y).sum().backward()
    assert calls == [] and x.grad.tolist() == [3.0, 5.0]


def test_what_is_saved_may_go_to_files(tmp_path: pathlib.Path) -> None:
    x, y = operands()

    def pack(t: Any) -> pathlib.Path:
        name = tmp_path / f"{len(list(tmp_path.iterdir()))}.npy"
        np.save(name, t.numpy())
        return name

    with saved_tensors_hooks(pack, lambda name: paddle.to_tensor(np.load(name))):
        z = Multiply.apply(x, y)
    assert len(list(tmp_path.iterdir())) == 4
    z.sum().backward()
    assert x.grad.tolist() == [3.0, 5.0]


def test_there_is_one_pair_at_a_time(calls: list[Any]) -> None:
    """Of all threads, and none is left after an error."""
    x, y = operands()
    with hooks(calls):
        with pytest.raises(ValueError, match="another pair of hooks is in use"), hooks(calls):
            pass
        thread = threading.Thread(target=lambda: Multiply.apply(x, y))
        thread.start()
        thread.join()
        assert len(calls) == 4
    with pytest.raises(ZeroDivisionError), saved_tensors_hooks(lambda t: 1 / 0, lambda t: t):
        Multiply.apply(x, y)
    with hooks(calls):
        Multiply.apply(x, y)
    assert len(calls) == 8


def test_hooks_are_functions_and_return_tensors() -> None:
    for given in ((1, print), (print, None)):
        with pytest.raises(TypeError, match=r"pack_hook is (1|None); want a function"):
            saved_tensors_hooks(*given)
    x, y = operands()
    with saved_tensors_hooks(lambda t: 1, lambda one: one):
        z = Multiply.apply(x, y)
    with pytest.raises(ValueError, match=r"\[saved_tensors_hooks\] unpack_hook returned int; want a tensor"):
        z.sum().backward()


def test_a_hook_that_keeps_the_tensor_leaks_nothing() -> None:
    """The result keeps its call, which would keep the result."""
    found = []
    for _ in range(3):
        x, y = operands()
        with saved_tensors_hooks(lambda t: t, lambda t: t):
            z = Multiply.apply(x, y)
        z.sum().backward()
        assert x.grad.tolist() == [3.0, 5.0]
        found.append(weakref.ref(z))
        with saved_tensors_hooks(lambda t: t, lambda t: t):
            found.append(weakref.ref(Multiply.apply(x, y)))
    del x, y, z
    gc.collect()
    assert [r() for r in found] == [None] * len(found)
