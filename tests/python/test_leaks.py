"""Cycles of tensors, hooks, functions of users and traced functions: what no program can reach is freed, and nothing else."""

from __future__ import annotations

import ctypes
import functools
import gc
import inspect
import itertools
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any, Callable

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps._calls._holding import FIRST, MANY, callbacks
from paddle_mps._core._errors import check
from paddle_mps._core._library import library, quick
from paddle_mps._core._objects import collect, view


def leaf(*shape: int) -> Any:
    return paddle.to_tensor(np.ones(shape or (3,), np.float32), stop_gradient=False)


def held() -> tuple[int, int]:
    """Live handles of the library, and objects of Python that it holds, after a collection."""
    collect()
    return library.pmps_live_handles(), len(callbacks)


@pytest.fixture(scope="module", autouse=True)
def young() -> Iterator[None]:
    """Collections look at what the tests make, and not at all that was imported."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def before() -> tuple[int, int]:
    return held()


class Owner:
    """An object whose method is a hook; it has the tensors."""

    def __init__(self, **tensors: Any) -> None:
        self.__dict__.update(tensors)

    def hook(self, gradient: Any) -> None:
        pass


def function_over(*reached: Any) -> Callable[[Any], None]:
    def hook(gradient: Any) -> None:
        assert reached is not None

    return hook


# How a hook reaches tensors: given the leaf, the tensor of the hook, and a result computed from that.
REACHES: dict[str, Callable[[Any, Any, Any], Callable[[Any], Any]]] = {
    "nothing": lambda w, y, z: function_over(),
    "itself": lambda w, y, z: function_over(y),
    "leaf": lambda w, y, z: function_over(w),
    "result": lambda w, y, z: function_over(z),
    "view": lambda w, y, z: function_over(z[:1]),
    "all in a list": lambda w, y, z: function_over([w, {"y": y}, (z,)]),
    "bound method": lambda w, y, z: Owner(w=w, y=y).hook,
    "partial": lambda w, y, z: functools.partial(lambda kept, gradient: None, y),
}


def nothing(w: Any, y: Any, z: Any) -> None:
    pass


def backward(w: Any, y: Any, z: Any) -> None:
    z.sum().backward()


def backward_retained(w: Any, y: Any, z: Any) -> None:
    z.sum().backward(retain_graph=True)


def gradient_of_gradient(w: Any, y: Any, z: Any) -> None:
    (g,) = paddle.grad([(z * z).sum()], [w], create_graph=True)
    g.sum().backward()


def gradient_that_has_one(w: Any, y: Any, z: Any) -> None:
    w.register_hook(function_over(paddle.grad([(z * z).sum()], [w], create_graph=True)))


def retained(w: Any, y: Any, z: Any) -> None:
    y.retain_grads()
    z.sum().backward()


def changed_in_place(w: Any, y: Any, z: Any) -> None:
    y.add_(z)


ENDS = [nothing, backward, backward_retained, gradient_of_gradient, gradient_that_has_one, retained, changed_in_place]


def product(*several: Any) -> list[Any]:
    """All combinations, with names for pytest."""
    names = [[getattr(x, "__name__", x) for x in one] for one in several]
    return [pytest.param(*x, id="-".join(n)) for x, n in zip(itertools.product(*several), itertools.product(*names))]


@pytest.mark.parametrize(("where", "reach", "end"), product(["leaf", "y", "z", "slice"], REACHES, ENDS))
def test_hooks(where: str, reach: str, end: Callable[..., None], before: tuple[int, int]) -> None:
    def once() -> None:
        w = leaf()
        y = w * 2
        z = paddle.tanh(y)
        x = {"leaf": w, "y": y, "z": z, "slice": z[1:]}[where]
        x.register_hook(REACHES[reach](w, x, x * 3))
        end(w, y, z)

    once()
    once()
    assert held() == before


class Layer(paddle.autograd.PyLayer):
    """tanh, whose context keeps what `how` says."""

    @staticmethod
    def forward(ctx: Any, x: Any, how: str) -> Any:
        y = paddle.tanh(x)
        ctx.how = how
        if how == "output":
            ctx.save_for_backward(y)
        elif how == "input":
            ctx.save_for_backward(x)
        elif how == "both":
            ctx.save_for_backward(x, y)
        elif how == "attribute":
            ctx.y = y
        elif how == "container":
            ctx.all = {"x": [x], "y": (y,)}
        elif how == "output and no gradient":
            ctx.save_for_backward(y)
            no = x * 2
            ctx.mark_non_differentiable(no)
            return y, no
        elif how == "list of outputs":
            ctx.save_for_backward([y, x], y)
        elif how == "context":
            ctx.me = ctx
        return y

    @staticmethod
    def backward(ctx: Any, g: Any, *no: Any) -> Any:
        if ctx.how in ("output", "output and no gradient"):
            (y,) = ctx.saved_tensor()
        elif ctx.how in ("both", "list of outputs"):
            y = ctx.saved_tensors[1]
        elif ctx.how == "input":
            y = paddle.tanh(*ctx.saved_tensor())
        elif ctx.how in ("attribute", "container"):
            y = ctx.y if ctx.how == "attribute" else ctx.all["y"][0]
        else:
            return g * 1
        return g * (1 - y * y)


WAYS = ["output", "input", "both", "attribute", "container", "output and no gradient", "list of outputs", "context"]


def applied(x: Any, how: str) -> Any:
    y = Layer.apply(x, how)
    return y[0] if isinstance(y, tuple) else y


@pytest.mark.parametrize(("how", "depth", "end"), product(WAYS, ["one", "two", "with hook"], ENDS))
def test_layers(how: str, depth: str, end: Callable[..., None], before: tuple[int, int]) -> None:
    def once() -> None:
        w = leaf()
        y = applied(w, how)
        z = applied(y, how) if depth == "two" else y + 1
        if depth == "with hook":
            y.register_hook(function_over(z))
        end(w, y, z)

    once()
    once()
    assert held() == before


@pytest.mark.parametrize("how", ["output", "both", "output and no gradient", "list of outputs"])
def test_layers_that_save_results_need_no_collector(how: str) -> None:
    collect()
    gc.disable()
    try:
        w = leaf()
        before = library.pmps_live_handles(), len(callbacks)
        for _ in range(100):
            applied(w, how)
        paddle._core._objects.flush()
        assert (library.pmps_live_handles(), len(callbacks)) == before
    finally:
        gc.enable()


def test_saved_results_have_their_history() -> None:
    """Second gradients go through a saved result to what it was computed from."""
    x = paddle.to_tensor([0.3, -0.7], stop_gradient=False)
    (first,) = paddle.grad([applied(x, "output").sum()], [x], create_graph=True)
    (second,) = paddle.grad([first.sum()], [x])
    y = np.tanh(x.numpy())
    np.testing.assert_allclose(first.numpy(), 1 - y * y, rtol=1e-6)
    np.testing.assert_allclose(second.numpy(), -2 * y * (1 - y * y), rtol=1e-6)


class Module:
    """A layer as programs write them: a hook of its own, and a method that is traced."""

    def __init__(self, traced: bool, how: str) -> None:
        self.w = leaf()
        self.w.register_hook(self.clip)
        self.how = how
        self.run = paddle.jit.to_static(self.forward) if traced else self.forward
        self.last: Any = None

    def clip(self, g: Any) -> Any:
        return g * 1

    def forward(self, x: Any) -> Any:
        y = x * self.w
        return ((applied(y, self.how) if self.how else paddle.tanh(y)) * self.w).sum()


@pytest.mark.parametrize("how", ["", "output", "attribute"])
@pytest.mark.parametrize("keep", [False, True], ids=["plain", "result kept"])
@pytest.mark.parametrize("end", ["nothing", "backward", "create_graph"])
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "jit"])
def test_modules(traced: bool, end: str, keep: bool, how: str, before: tuple[int, int]) -> None:
    def once() -> None:
        module = Module(traced, how)
        y = module.run(leaf())
        if end == "create_graph" and traced and how:  # see docs/differences.md: no gradient of the gradient
            return
        if end == "backward":
            y.backward()
        elif end == "create_graph":
            (g,) = paddle.grad([y], [module.w], create_graph=True)
            g.sum().backward()
        if keep:
            module.last = y
            y.register_hook(module.clip)

    once()
    once()
    assert held() == before


def test_layers_of_a_trace_are_not_kept(before: tuple[int, int]) -> None:
    def once() -> None:
        net = paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.Tanh())
        run = paddle.jit.to_static(lambda x: net(x))
        run(leaf(2)).sum().backward()

    once()
    assert held() == before


# What is in reach stays.


def counted_hook(x: Any) -> list[int]:
    """The calls of a hook that reaches its own tensor."""
    calls: list[int] = []

    def hook(gradient: Any) -> Any:
        calls.append(x.shape[0])
        return gradient * 1

    x.register_hook(hook)
    return calls


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("result", ["sum", "view", "layer", "program", "in place", "gradient"])
def test_a_hook_stays_while_results_are_there(result: str, times: int) -> None:
    w = leaf()
    y = w * 2
    calls = counted_hook(y)
    if result == "sum":
        z = y.sum()
    elif result == "view":
        z = y[:2]
    elif result == "layer":
        z = applied(y, "both")
    elif result == "program":
        z = paddle.jit.to_static(lambda t: paddle.tanh(t) * 2)(y)
    elif result == "in place":
        z = paddle.zeros([3]) * 1
        z.add_(y)
    else:
        (z,) = paddle.grad([(y * y).sum()], [y], create_graph=True)
        calls.clear()
    del y
    for i in range(1, times + 1):
        collect()
        z.sum().backward(retain_graph=True)
        assert calls == [3] * i


def test_a_captured_tensor_keeps_its_hooks() -> None:
    def traced() -> tuple[Any, Any, list[int]]:
        w = leaf()
        return paddle.jit.to_static(lambda x: x * w), w.detach(), counted_hook(w)

    run, alias, calls = traced()
    run(leaf()).sum().backward()
    collect()
    run(leaf()).sum().backward()
    assert calls == [3, 3] and alias.shape == [3]


def test_what_is_held_outside_of_python_keeps_hooks() -> None:
    """A handle that no tensor has, as a library in C may have one."""
    handle, y = ctypes.c_uint64(), leaf() * 2
    calls, z = counted_hook(y), y.sum()
    check(quick.pmps_tensor_retain(z._handle, ctypes.byref(handle)))
    del y, z
    collect()
    view(handle.value).backward()
    assert calls == [3]


def test_a_removed_hook_is_not_called() -> None:
    y = leaf() * 2
    calls: list[Any] = []
    handle = y.register_hook(lambda g, y=y: calls.append(y))
    collect()
    assert handle.remove() and not handle.remove()
    y.sum().backward()
    assert calls == []


def test_a_hook_that_raises_stays() -> None:
    y = leaf() * 2

    def hook(gradient: Any, y: Any = y) -> None:
        raise KeyError("of the hook")

    y.register_hook(hook)
    for _ in range(2):
        collect()
        with pytest.raises(KeyError, match="of the hook"):
            y.sum().backward(retain_graph=True)


def test_what_another_thread_computes_meanwhile() -> None:
    """Between the question what is held and the collection, the only tensor that held a hook makes another one, and is dropped."""
    made: list[Any] = []
    kept = [leaf() * 2]
    calls = counted_hook(kept[0])

    def meanwhile(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and kept:
            made.append(kept.pop().sum())

    gc.callbacks.append(meanwhile)  # after that of the package
    try:
        gc.collect()
    finally:
        gc.callbacks.remove(meanwhile)
    assert not kept
    made[0].backward(retain_graph=True)
    collect()
    made[0].backward()
    assert calls == [3, 3]


def test_threads() -> None:
    """Each counts the calls of its hooks, while all make cycles and collect."""
    failed: list[Any] = []

    def work(seed: int) -> None:
        try:
            for i in range(60):
                y = leaf() * 2
                calls = counted_hook(y)
                z = applied(y, "attribute")
                del y
                if (i + seed) % 5 == 0:
                    gc.collect()
                z.sum().backward()
                assert calls == [3]
        except BaseException as error:
            failed.append(error)

    before = held()
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed
    del threads, t
    assert held() == before


@pytest.mark.parametrize(("elements", "most"), [(3, 4 * MANY * FIRST), (1 << 20, 4 * FIRST)], ids=["small", "large"])
def test_cycles_are_collected_without_being_asked(elements: int, most: int) -> None:
    """Also where Python sees too few objects to collect: each has a tensor. Large ones are collected sooner."""
    collect()
    before, peak = len(callbacks), 0
    for _ in range(8 * MANY * FIRST if elements < 100 else 500):
        y = paddle.empty([elements])
        y.stop_gradient = False
        y.register_hook(function_over(y))
        peak = max(peak, len(callbacks) - before)
    assert FIRST <= peak <= most


@pytest.mark.parametrize("handler", ["default", "of the program"])
def test_signals_during_a_collection_arrive(handler: str) -> None:
    """An exception of a handler is not lost in the collector."""
    code = f"""if 1:
        import gc, signal, sys, time
        import paddle_mps as paddle
        from paddle_mps._calls import _holding
        class Stop(BaseException): pass
        def stop(*args): raise Stop
        if {handler!r} != "default":
            signal.signal(signal.SIGINT, stop)
        y = paddle.ones([2]); y.stop_gradient = False; y.register_hook(lambda g, y=y: g)
        before = _holding.flush
        def flush():
            _holding.flush = before
            signal.raise_signal(signal.SIGINT)
        _holding.flush = flush
        try:
            gc.collect()
            for _ in range(1000):
                time.sleep(0.01)
        except (KeyboardInterrupt, Stop):
            y.sum().backward()
            print("arrived", len(_holding.callbacks))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("arrived 1\n", "")


@pytest.mark.parametrize("limit", [None, 300])
@pytest.mark.parametrize("kind", ["hook that calls itself", "hook that starts a pass", "layer that starts a pass"])
def test_no_end(kind: str, limit: int | None) -> None:
    """A hook that goes on for ever is a RecursionError, and not one of ctypes, also where Python's own limit comes first."""
    x = leaf()

    def itself(gradient: Any) -> Any:
        return itself(gradient)

    def again(gradient: Any) -> None:
        z.backward(retain_graph=True)

    class Again(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            z.backward(retain_graph=True)

    if "layer" in kind:
        z = Again.apply(x).sum()
    else:
        x.register_hook(itself if "itself" in kind else again)
        z = (x * 2).sum()
    before = sys.getrecursionlimit()
    if limit:
        sys.setrecursionlimit(limit + len(inspect.stack(0)))
    try:
        with pytest.raises(RecursionError):
            z.backward(retain_graph=True)
    finally:
        sys.setrecursionlimit(before)
