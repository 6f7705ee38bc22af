"""Gradients: what is recorded, and the backward passes over it.

The library records calls of operators whose operands have stop_gradient=False, and has the rules; see
core/eager/record.go and core/op/grad.go. Here are the scopes that switch recording off, the passes, and the hooks,
which the library calls back.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from collections.abc import Sequence
from typing import Any, Callable, TypeVar

from .._core import _dtype
from .._core._convert import tensor
from .._core._errors import GradientError, check
from .._core._library import library, quick
from .._core._objects import Tensor, flush, graded_leaf, is_grad_enabled, meta, view
from .._core._objects import grad_info as info
from .._core._recording import asks, refuse
from .._core._structs import GradPass
from . import _operators
from ._holding import callbacks

Function = TypeVar("Function", bound=Callable[..., Any])


def generator(function: Callable[..., Any], scope: Callable[[], Any]) -> Callable[..., Any]:
    """The generator function, in a scope while it runs; between its values, the code that takes these has the mode of before."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        running = function(*args, **kwargs)
        step: Callable[[], Any] = functools.partial(next, running)
        while True:
            try:
                with scope():
                    value = step()
            except StopIteration as end:
                return end.value
            try:
                sent = yield value
                step = functools.partial(running.send, sent)
            except GeneratorExit:
                with scope():
                    running.close()
                raise
            except BaseException as error:
                step = functools.partial(running.throw, error)

    return wrapper


def is_generator(function: Callable[..., Any]) -> bool:
    """Whether a decorated function is a generator function."""
    import inspect  # takes its time, and the package decorates nothing with scopes when it is imported

    return inspect.isgeneratorfunction(function)


class Scope:
    """A with block in which recording is on or off, for the thread that runs it. Scopes may be nested."""

    mode = True

    def __init__(self) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(bool(quick.pmps_grad_set_enabled(self.mode)))

    def __exit__(self, *exc: object) -> None:
        quick.pmps_grad_set_enabled(self._before.pop())

    def __call__(self, function: Function) -> Function:
        scope = type(self)
        if is_generator(function):
            return generator(function, scope)  # type: ignore[return-value]

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with scope():
                return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]


class no_grad(Scope):
    """`with no_grad():` and `@no_grad()`, also `@no_grad`: operators are not recorded, and results have no gradients."""

    mode = False

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        scope = super().__new__(cls)
        if function is None:
            return scope
        scope.__init__()  # type: ignore[misc]
        return scope(function)

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        super().__init__()


class enable_grad(no_grad):
    """`with enable_grad():` and `@enable_grad()`: operators are recorded, also inside `no_grad`."""

    mode = True


class set_grad_enabled(Scope):
    """`with set_grad_enabled(mode):`, and as a statement `set_grad_enabled(mode)`, which lasts."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = bool(mode)
        self._before.append(bool(quick.pmps_grad_set_enabled(self.mode)))

    def __enter__(self) -> None:
        quick.pmps_grad_set_enabled(self.mode)

    def __call__(self, function: Function) -> Function:
        quick.pmps_grad_set_enabled(self._before.pop())
        mode = self.mode
        if is_generator(function):
            return generator(function, functools.partial(set_grad_enabled, mode))  # type: ignore[return-value]

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with set_grad_enabled(mode):
                return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]


def is_tensor(x: object) -> bool:
    """Whether x is a Tensor."""
    return isinstance(x, Tensor)


def root(x: Tensor, power: float = 0.5) -> Tensor:
    """A root of x, from 0, whose gradient at 0 is 0, as that of a norm, and not infinite."""
    if not asks(x):
        return of_positive(x, power)
    zero = x == 0
    return _operators.where(zero, 0.0, of_positive(_operators.where(zero, 1.0, x), power))


def of_positive(x: Tensor, power: float) -> Tensor:
    return _operators.sqrt(x) if power == 0.5 else _operators.pow(x, power)


def regardless(value: Tensor, x: Tensor) -> Tensor:
    """value, which is the same for every x. An x that asks for a gradient gets zeros, as Paddle gives it, and not none."""
    if not asks(x):
        return value
    m = meta(x)
    nowhere = _operators.full(m.place.word, (), False, _dtype.bool_)
    return _operators.subtract(value, _operators.sum(_operators.where(nowhere, x, 0.0), None, m.dtype, False))


def compact(x: Tensor) -> Tensor:
    """x, as a contiguous copy where a view with strides of its own would have no gradient: of a leaf that is not contiguous, which
    nothing may be written into."""
    return _operators.assign(x) if not x.is_contiguous() and asks(x) and x.is_leaf else x


def handed_over(x: Any, who: str) -> int:
    """A handle to a tensor that the library will own."""
    handle = ctypes.c_uint64()
    check(quick.pmps_tensor_retain(tensor(x, who, "gradient")._handle, ctypes.byref(handle)))
    return handle.value


def handles(tensors: Sequence[Tensor | None]) -> Any:
    """An array of handles, 0 for None."""
    return (ctypes.c_uint64 * max(len(tensors), 1))(*[0 if x is None else x._handle for x in tensors])


# Passes that hooks and functions of a user may start inside of one another, and twice the calls of Python that each takes. Where
# Python has no room for a call, ctypes prints the RecursionError of a hook and goes on without it: this limit comes before.
NESTED, FRAMES = 100, 16
_passes = threading.local()


def passes() -> int:
    """How many passes this thread is in.

    Raises:
        RecursionError: too many: a hook starts a pass, which calls a hook that starts one, and so on without an end.
    """
    depth = getattr(_passes, "depth", 0)
    if depth >= min(NESTED, sys.getrecursionlimit() // FRAMES):
        raise RecursionError(
            f"[backward] hooks or PyLayers have started {depth} passes inside of one another; want hooks that end"
        )
    return depth


def run_pass(
    of: Sequence[Tensor],
    grads: Sequence[Tensor | None],
    to: Sequence[Tensor] | None = None,
    stop: Sequence[Tensor] = (),
    *,
    retain_graph: bool = False,
    create_graph: bool = False,
) -> list[Tensor | None]:
    """A backward pass: the gradients of `to`, or an empty list after the leaves got theirs."""
    lists = handles(of), handles(grads), handles(to or ()), handles(stop)
    made = (ctypes.c_uint64 * max(len(to or ()), 1))()
    given = GradPass(
        ctypes.sizeof(GradPass),
        ctypes.addressof(lists[0]),
        len(of),
        ctypes.addressof(lists[1]),
        None if to is None else ctypes.addressof(lists[2]),
        len(to or ()),
        ctypes.addressof(lists[3]),
        len(stop),
        retain_graph,
        create_graph,
    )
    depth = passes()
    flush()  # what the forward pass has left must not be there at the peak of this one
    before = quick.pmps_grad_set_enabled(create_graph)  # of hooks and functions that are called back
    try:
        _passes.depth = depth + 1
        callbacks.check(library.pmps_grad_backward(ctypes.byref(given), made))
    finally:
        _passes.depth = depth
        quick.pmps_grad_set_enabled(before)
    return [view(handle) if handle else None for handle in made[: len(to or ())]]


def listed(x: Any, who: str, name: str) -> list[Tensor]:
    """One tensor, or several in a list or tuple."""
    return [tensor_of_pass(t, who, name) for t in (x if isinstance(x, (list, tuple)) else [x])]


def tensor_of_pass(x: Any, who: str, name: str) -> Tensor:
    """A tensor; what is none raises a GradientError."""
    try:
        return tensor(x, who, name)
    except ValueError as error:
        raise GradientError(*error.args) from None


def beside(x: Any, count: int, who: str, name: str) -> list[Tensor | None]:
    """As many gradients as tensors; None where one is left out."""
    if x is None:
        return [None] * count
    given = [None if t is None else tensor_of_pass(t, who, name) for t in (x if isinstance(x, (list, tuple)) else [x])]
    if len(given) != count:
        raise GradientError(f"[{who}] {name} has {len(given)} tensors; want {count}")
    return given


def backward(tensors: Any, grad_tensors: Any = None, retain_graph: bool = False) -> None:
    """Computes gradients of tensors, and adds them to the `grad` of the leaves that they were computed from.

    Args:
        tensors: a tensor or a list; those with stop_gradient=True have nothing to compute.
        grad_tensors: their gradients, of the same shapes and dtypes; None: ones.
        retain_graph: keep what was recorded, so that another pass can go over it.

    Raises:
        GradientError: a gradient has another shape than its tensor; what was recorded was freed by a pass before; or a
            tensor that a gradient reads was changed in place. It is a ValueError, a RuntimeError and an AssertionError.
        UnsupportedError: an operator on the way has no gradient yet.
    """
    of = listed(tensors, "backward", "tensors")
    grads = beside(grad_tensors, len(of), "backward", "grad_tensors")
    kept = [(x, g) for x, g in zip(of, grads) if info(x).requires_grad]
    if kept:
        run_pass([x for x, _ in kept], [g for _, g in kept], retain_graph=bool(retain_graph))


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Any = None,
) -> list[Any]:
    """The gradients of outputs with respect to inputs, in a list; the `grad` of tensors stays as it is.

    Args:
        outputs, inputs: a tensor, or a list or tuple of tensors.
        grad_outputs: the gradients of the outputs; None, or None in the list: ones.
        retain_graph: taken for compatibility; what was recorded stays, for another pass, as it does in Paddle.
        create_graph: record the pass, so that the gradients have gradients.
        only_inputs: True; nothing else is supported, as in Paddle.
        allow_unused: None for an input that no output depends on, which is an error otherwise.
        no_grad_vars: tensors that gradients do not go through.

    Raises:
        ValueError: an input is unused.
        GradientError: as in `backward`; or an argument is no tensor.
    """
    if not only_inputs:
        raise ValueError("[grad] only_inputs is False; want True")
    of, to = listed(outputs, "grad", "outputs"), listed(inputs, "grad", "inputs")
    grads = beside(grad_outputs, len(of), "grad", "grad_outputs")
    stop = [] if no_grad_vars is None else listed(no_grad_vars, "grad", "no_grad_vars")
    kept = [(x, g) for x, g in zip(of, grads) if info(x).requires_grad]
    found: list[Any] = [None] * len(to)
    if kept:
        found = run_pass(
            [x for x, _ in kept],
            [g for _, g in kept],
            to,
            stop,
            retain_graph=True,
            create_graph=bool(create_graph),
        )
    for i, x in enumerate(found):
        if x is None and not allow_unused:
            raise ValueError(f"[grad] no output depends on input {i}; want allow_unused=True, which gives None for it")
    return found


__all__ = [
    "asks", "backward", "beside", "callbacks", "compact", "enable_grad", "grad", "graded_leaf", "handed_over", "handles",
    "info", "is_grad_enabled", "is_tensor", "listed", "no_grad", "refuse", "root", "run_pass", "set_grad_enabled",
]  # fmt: skip
