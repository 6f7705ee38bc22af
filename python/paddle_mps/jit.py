"""paddle.jit: functions that are traced once and then run as one program.

`paddle.jit` can be called itself: `@paddle.jit` is `@paddle.jit.to_static`. The first call with tensors of some dtypes and
shapes runs the function with tensors that have no elements, which records its operators as a graph; this is compiled, and
later calls run it. What the function does besides calling operators happens once, while it is traced: `print`, appending to
a list, choosing a branch.

Tensors that the function reads but does not get as arguments are captured by reference: each call reads what they hold then.
Arguments that are no tensors are part of the program; other values make another one.
"""

from __future__ import annotations

import functools
import linecache
import sys
import threading
import types
import weakref
from collections.abc import Sequence
from typing import Any, Callable, TypeVar, Union, overload

import numpy as np

from . import _dtype, _tracing
from ._errors import TracingError
from ._objects import asked, grad_info, is_grad_enabled, meta
from ._place import Place
from ._place import current as current_place
from ._tensor import Tensor
from ._trees import Leaf, flatten, result, unflatten

PACKAGE = __name__.partition(".")[0]
KEPT = 64  # programs of a function, the latest ones

Function = TypeVar("Function", bound=Callable[..., Any])
Dims = Union[int, None]


class InputSpec:
    """The shape and the dtype of an argument, for `to_static`.

    Args:
        shape: the size of each axis; None or -1 for any.
        dtype: a dtype or its name.
        name: what errors call the argument; None: its position.
        stop_gradient: as of tensors; not checked.
    """

    def __init__(
        self, shape: Sequence[Dims], dtype: Any = "float32", name: str | None = None, stop_gradient: bool = False
    ) -> None:
        self.shape = tuple(-1 if n is None else int(n) for n in shape)
        self.dtype, self.name, self.stop_gradient = _dtype.dtype(dtype), name, stop_gradient

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> InputSpec:
        """The specification of a tensor's own shape and dtype."""
        return cls(meta(tensor).shape, meta(tensor).dtype, name)

    @classmethod
    def from_numpy(cls, ndarray: np.ndarray[Any, Any], name: str | None = None) -> InputSpec:
        """The specification of an array's own shape and dtype."""
        return cls(ndarray.shape, str(ndarray.dtype), name)

    def batch(self, batch_size: int) -> InputSpec:
        """Adds an axis of this size in front, in place."""
        self.shape = (int(batch_size), *self.shape)
        return self

    def unbatch(self) -> InputSpec:
        """Removes the first axis, in place.

        Raises:
            ValueError: there is none.
        """
        if not self.shape:
            raise ValueError("[InputSpec] the shape is (); want an axis to remove")
        self.shape = self.shape[1:]
        return self

    def __repr__(self) -> str:
        return (
            f"InputSpec(shape={self.shape}, dtype={self.dtype}, name={self.name}, stop_gradient={self.stop_gradient})"
        )

    def check(self, x: Tensor, who: str, position: int) -> None:
        """Refuses a tensor of another dtype or shape.

        Raises:
            TypeError: its dtype is another one.
            ValueError: its shape does not match.
        """
        m, name = meta(x), self.name or f"argument {position}"
        if m.dtype is not self.dtype:
            raise TypeError(f"[{who}] {name} is {m.dtype.name}; want {self.dtype.name}, as its InputSpec says")
        if len(m.shape) != len(self.shape) or any(n not in (-1, have) for n, have in zip(self.shape, m.shape)):
            raise ValueError(
                f"[{who}] {name} has shape {list(m.shape)}; want {list(self.shape)}, as its InputSpec says"
            )


def argument(x: Any) -> Any:
    """An argument that is no tensor, as a part of a key.

    Raises:
        TypeError: it cannot be hashed.
    """
    if isinstance(x, float):
        return (float, float, x.hex())  # -0.0 is not 0.0, and nan is nan
    try:
        hash(x)
    except TypeError:
        raise TypeError(
            f"[jit] an argument is {type(x).__name__}; want tensors, hashable values, and lists, tuples and dicts of them"
        ) from None
    return (None, type(x), x)


class Entry:
    """What a function is for arguments of some dtypes and shapes.

    Attributes:
        program: computes the tensors that the function makes.
        results: the tree of what it returns.
        leaves: for each tensor of the tree the number of an output of the program, of an argument (-1 - number), or a
            tensor that the function returned as it captured it.
    """

    def __init__(self, program: _tracing.Program, results: Any, leaves: list[Any]) -> None:
        self.program, self.results, self.leaves = program, results, leaves
        # It returns the one tensor that the program makes.
        self.single = isinstance(results, Leaf) and isinstance(leaves[0], int) and leaves[0] == 0

    def run(self, arguments: Sequence[Tensor]) -> Any:
        made = self.program.run(arguments)
        if self.single:
            return made[0]
        found = [x if isinstance(x, Tensor) else made[x] if x >= 0 else arguments[-1 - x] for x in self.leaves]
        return unflatten(self.results, found)


class StaticFunction:
    """A function that runs as a program: what `to_static` returns.

    Attributes:
        dygraph_function: the function as it was written, which runs operator by operator.
    """

    __name__: str

    def __init__(self, function: Callable[..., Any], input_spec: Sequence[Any] | None = None) -> None:
        functools.update_wrapper(self, function)
        self.dygraph_function, self._input_spec = function, input_spec
        self._name = getattr(function, "__qualname__", type(function).__name__)
        self._entries: dict[Any, Entry] = {}
        self._quick: dict[Any, Entry] = {}  # by the descriptions of arguments that are tensors
        self._lock = threading.RLock()
        self._bound: weakref.WeakKeyDictionary[Any, StaticFunction] = weakref.WeakKeyDictionary()

    def __get__(self, instance: Any, owner: type | None = None) -> StaticFunction:
        """The method of an instance, with programs of its own: they hold the tensors that the instance has."""
        if instance is None:
            return self
        try:
            return self._bound[instance]
        except (KeyError, TypeError):
            pass
        reference = weakref.ref(instance)  # the instance would never be freed otherwise

        def method(*args: Any, **kwargs: Any) -> Any:
            return self.dygraph_function(reference(), *args, **kwargs)

        functools.update_wrapper(method, self.dygraph_function)
        bound = StaticFunction(method, self._input_spec)
        self._bound[instance] = bound
        return bound

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _tracing.active() or not _enabled[0]:
            return self.dygraph_function(*args, **kwargs)
        quick = None
        if not kwargs and not asked:  # no tensor of the program asks for gradients: descriptions of tensors tell all
            quick = tuple([meta(x) if type(x) is Tensor else x.__class__ for x in args])
            found = self._quick.get(quick)
            if found is not None:
                return found.run(args)
        arguments: list[Tensor] = []
        entry = self._entry(flatten((args, kwargs), arguments, argument), arguments)
        if quick and len(arguments) == len(args):
            self._quick[quick] = entry
        return entry.run(arguments)

    def lower(self, *args: Any, **kwargs: Any) -> str:
        """The graph for these arguments as text, an operator a line. The function is traced, but not run."""
        return self._traced(args, kwargs).program.text()

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """What is compiled for these arguments: steps, groups that run block by block, memory, and what the CPU runs for
        the GPU. The function is traced and compiled, but not run.
        """
        program = self._traced(args, kwargs).program
        program.prepare()
        return program.text(plan=True)

    @property
    def program_cache(self) -> int:
        """How many programs there are."""
        return len(self._entries)

    def clear(self) -> None:
        """Forgets all programs: the next call traces the function again."""
        with self._lock:
            self._entries.clear()
            self._quick.clear()

    def _traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry:
        arguments: list[Tensor] = []
        return self._entry(flatten((args, kwargs), arguments, argument), arguments)

    def _entry(self, tree: Any, arguments: Sequence[Tensor]) -> Entry:
        recording = is_grad_enabled()
        kinds = tuple(
            (m.dtype, m.shape, m.place, recording and bool(grad_info(x).requires_grad))
            for x, m in ((x, meta(x)) for x in arguments)
        )
        key = tree, kinds, recording, None if arguments else current_place()
        found = self._entries.get(key)
        if found is None:
            with self._lock:
                found = self._entries.get(key)
                if found is None:
                    self._check(arguments)
                    found = self._trace(tree, arguments)
                    while len(self._entries) >= KEPT:
                        self._quick.clear()
                        del self._entries[next(iter(self._entries))]
                    self._entries[key] = found
        return found

    def _check(self, arguments: Sequence[Tensor]) -> None:
        specs = [s for s in self._input_spec or () if isinstance(s, InputSpec)]
        for i, (spec, x) in enumerate(zip(specs, arguments)):
            spec.check(x, self._name, i)

    def _trace(self, tree: Any, arguments: Sequence[Tensor]) -> Entry:
        """Calls the function with tensors that stand for the arguments.

        Raises:
            TracingError: it wants elements of a tensor.
        """
        place = place_of(arguments)
        trace = _tracing.Trace(place, arguments)
        try:
            handles = [x._handle for x in trace.inputs]
            args, kwargs = unflatten(tree, trace.inputs)
            returned: list[Tensor] = []
            results = flatten(self.dygraph_function(*args, **kwargs), returned, result)
            leaves: list[Any] = []
            outputs: list[Tensor] = []
            stands = {id(x): i for i, x in enumerate(trace.inputs)}
            if [x._handle for x in trace.inputs] != handles:
                raise TracingError(f"[{self._name}] an argument was given another shape in place; want a new tensor")
            for x in returned:
                if id(x) in stands:
                    leaves.append(-1 - stands[id(x)])
                elif trace.makes(x):
                    leaves.append(len(outputs))
                    outputs.append(x)
                else:
                    leaves.append(x)
            return Entry(trace.end(outputs), results, leaves)
        except TracingError as error:
            raise TracingError(str(error) + where(error)) from error
        finally:
            trace.abort()


def place_of(arguments: Sequence[Tensor]) -> Place:
    """Where a program runs: with its first argument that is no 0-d tensor, else with the first one."""
    for x in arguments:
        if meta(x).shape:
            return meta(x).place
    return meta(arguments[0]).place if arguments else current_place()


def where(error: BaseException) -> str:
    """The line of the program that an exception comes from: the last one outside of this package."""
    found, step = "", error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if step.tb_frame.f_globals.get("__name__", "").partition(".")[0] != PACKAGE:
            line = linecache.getline(code.co_filename, step.tb_lineno).strip()
            found = f"\n  in {code.co_name}, {code.co_filename}:{step.tb_lineno}" + (f": {line}" if line else "")
        step = step.tb_next
    return found


_enabled = [True]


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Whether functions of `to_static` run as programs; otherwise as they were written, operator by operator."""
    if not isinstance(enable_to_static_bool, bool):
        raise TypeError(f"[enable_to_static] got {enable_to_static_bool!r}; want a bool")
    _enabled[0] = enable_to_static_bool


@overload
def to_static(
    function: Callable[..., Any],
    input_spec: Sequence[Any] | None = None,
    build_strategy: Any = None,
    backend: str | None = "CINN",
    **kwargs: Any,
) -> StaticFunction: ...
@overload
def to_static(
    function: None = None,
    input_spec: Sequence[Any] | None = None,
    build_strategy: Any = None,
    backend: str | None = "CINN",
    **kwargs: Any,
) -> Callable[[Callable[..., Any]], StaticFunction]: ...
def to_static(
    function: Callable[..., Any] | None = None,
    input_spec: Sequence[Any] | None = None,
    build_strategy: Any = None,
    backend: str | None = "CINN",
    **kwargs: Any,
) -> Any:
    """Makes a function one that is traced once and then runs as a program. Also a decorator, with or without arguments.

    Args:
        function: takes and returns tensors, and lists, tuples and dicts of them; its other arguments are part of the
            program, and have to be hashable. A method is traced for each instance.
        input_spec: an InputSpec for each tensor among the arguments, which is checked. Sizes need not be given: each set of
            sizes has a program.
        build_strategy, backend, kwargs: ignored; there is one compiler.

    Raises:
        TypeError: function cannot be called. Calls raise a TypeError for arguments that cannot be hashed, and a TracingError
            where the function wants elements of a tensor: in a condition, in float(), in numpy().
    """
    if function is None:
        return lambda f: to_static(f, input_spec)
    if not callable(function):
        raise TypeError(f"[to_static] got {type(function).__name__}; want a function")
    if isinstance(function, StaticFunction):
        return function
    return StaticFunction(function, input_spec)


def not_to_static(func: Function | None = None) -> Any:
    """Marks a function, as in Paddle. It changes nothing: a traced function that calls it is traced through it."""
    return (lambda f: f) if func is None else func


def ignore_module(modules: Sequence[types.ModuleType]) -> None:
    """Accepts a list of modules, as Paddle does. It changes nothing: operators are traced wherever they are called."""


class _Callable(types.ModuleType):
    """This module, which can be called as `to_static`."""

    __call__ = staticmethod(to_static)


sys.modules[__name__].__class__ = _Callable

__all__ = ["InputSpec", "StaticFunction", "enable_to_static", "ignore_module", "not_to_static", "to_static"]
