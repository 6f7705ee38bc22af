"""paddle.jit: functions that are traced once and then run as one program.

`paddle.jit` can be called itself: `@paddle.jit` is `@paddle.jit.to_static`. The first call with tensors of some dtypes and
shapes runs the function with tensors that have no elements, which records its operators as a graph; this is compiled, and
later calls run it. What the function does besides calling operators happens once, while it is traced: `print`, appending to
a list, choosing a branch.

Tensors that the function reads but does not get as arguments are captured by reference: each call reads what they hold then.
Arguments that are no tensors are part of the program; other values make another one. NumPy arrays become tensors.

A function that cannot be traced, because it wants elements of a tensor, runs as it was written, operator by operator, with one
warning; with `full_graph=True` it raises. See `StaticFunction._untraced`.

`save` writes a function to a file, and `load` makes one of it.
"""

from __future__ import annotations

import functools
import operator
import os
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, Callable, TypeVar, Union, overload

import numpy as np

from ._arrays._creation import to_tensor, zeros
from ._arrays._shapes import as_strided
from ._calls import _displaced, _tracing
from ._calls._open_sizes import Family, Shapes, probes, turned, united
from ._calls._trees import Leaf, flatten, result, unflatten
from ._core import _builtin, _dtype
from ._core._errors import TracingError, UnsupportedError, count_unhandled, latest_unhandled, unhandled
from ._core._objects import grad_info, is_grad_enabled, made_here, meta
from ._core._place import Place
from ._core._place import current as current_place
from ._devices import _default_place, _random
from ._layers._layer import Layer
from ._models._drawing import Drawing
from ._tensor import Tensor

_meta = operator.attrgetter("_meta")  # the description of a tensor, where it has been asked for
PACKAGE = __name__.partition(".")[0]
KEPT = 64  # programs of a function, the latest ones

Function = TypeVar("Function", bound=Callable[..., Any])
AnyLayer = TypeVar("AnyLayer", bound=Layer)
Dims = Union[int, None]


class InputSpec:
    """The shape and the dtype of an argument, for `to_static`.

    Args:
        shape: the size of each axis; None or -1 for any.
        dtype: a dtype or its name.
        name: what errors call the argument; None: its position.
        stop_gradient: as of tensors; not checked.

    Raises:
        TypeError: shape is no list of integers, or dtype is none.
        ValueError: a size is below -1.
    """

    def __init__(
        self, shape: Sequence[Dims], dtype: Any = "float32", name: str | None = None, stop_gradient: bool = False
    ) -> None:
        if not isinstance(shape, (list, tuple)) or not all(n is None or hasattr(n, "__index__") for n in shape):
            raise TypeError(f"[InputSpec] shape is {shape!r}; want a list of sizes, with None or -1 for any size")
        self.shape = tuple(-1 if n is None else operator.index(n) for n in shape)
        if any(n < -1 for n in self.shape):
            raise ValueError(f"[InputSpec] shape is {list(shape)}; want sizes from 0, and None or -1 for any size")
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


class UntraceableError(TypeError):
    """An argument or a result that no program can have."""


def argument(x: Any) -> Any:
    """An argument that is no tensor, as a part of a key.

    Raises:
        UntraceableError: it cannot be hashed.
    """
    if isinstance(x, float):
        return (float, float, x.hex())  # -0.0 is not 0.0, and nan is nan
    try:
        hash(x)
    except TypeError:
        raise UntraceableError(
            f"[jit] an argument is {type(x).__name__}; want tensors, arrays, hashable values, and lists, tuples and dicts of them"
        ) from None
    return (None, type(x), x)


class Constant:
    """A result whose elements are known while the function is traced, on another place than the program: numbers on the CPU, such as
    those of paddle.shape, of a function that runs on the GPU. Each call returns a copy.
    """

    def __init__(self, x: Tensor) -> None:
        with _tracing.paused():
            self._kept: Tensor = x.detach().clone()

    def copy(self) -> Tensor:
        return self._kept.clone()


class Entry:
    """What a function is for arguments of some dtypes and shapes.

    Attributes:
        program: computes the tensors that the function makes.
        results: the tree of what it returns.
        leaves: for each tensor of the tree the number of an output of the program, of an argument (-1 - number), a
            tensor that the function returned as it captured it, or a Constant.
        run: takes the arguments that are tensors and returns what the function does; NotImplemented as of
            `_tracing.Program.run`.
        bound: what `run` is bound to, if it is a built-in function; else None.
    """

    def __init__(self, program: _tracing.Program, results: Any, leaves: list[Any]) -> None:
        self.program, self.results, self.leaves = program, results, leaves
        # It returns the one tensor that the program makes.
        self._single = isinstance(results, Leaf) and isinstance(leaves[0], int) and leaves[0] == 0
        self.run: Callable[..., Any] = program.run if self._single else self._run
        self.bound: bytes | None = getattr(program.run, "__self__", None) if self._single else None

    def _run(self, *arguments: Tensor) -> Any:
        made = self.program.run(*arguments)
        return made if made is NotImplemented else self._returned(made, arguments)

    def run_anyway(self, arguments: Sequence[Tensor]) -> Any:
        """`run` for any number of arguments; the gradients are those that were asked for when the function was traced."""
        made = self.program.run_anyway(arguments)
        return made if self._single else self._returned(made, arguments)

    def _returned(self, made: Any, arguments: Sequence[Tensor]) -> Any:
        if self.program.results == 1:
            made = [made]
        found = [
            made[x] if isinstance(x, int) and x >= 0
            else arguments[-1 - x] if isinstance(x, int)
            else x.copy() if isinstance(x, Constant) else x
            for x in self.leaves
        ]  # fmt: skip
        return unflatten(self.results, found)


class _NoEntry:
    """Where there is no program yet."""

    bound = None

    @staticmethod
    def run(*arguments: Any) -> Any:
        return NotImplemented


class StaticFunction:
    """A function that runs as a program: what `to_static` returns.

    Attributes:
        dygraph_function: the function as it was written, which runs operator by operator.
    """

    __name__: str

    def __init__(
        self,
        function: Callable[..., Any],
        input_spec: Sequence[Any] | None = None,
        dynamic: bool = False,
        full_graph: bool = False,
    ) -> None:
        functools.update_wrapper(self, function)
        self.dygraph_function, self._input_spec, self._dynamic = function, input_spec, dynamic
        self._full_graph = full_graph
        self._reason = ""  # why the function runs operator by operator, once that is known
        self._warned: set[str] = set()  # of these reasons; all instances of a method have one
        self._name = getattr(function, "__qualname__", type(function).__name__)
        self._entries: dict[Any, Entry] = {}
        self._families: dict[Any, Family[Entry]] = {}  # with dynamic, by everything about arguments but their sizes
        # Entries and not what runs them: another thread may forget an entry, whose program has to stay until a call returns.
        self._quick: dict[Any, Entry] = {}  # by the descriptions of arguments that are tensors
        self._latest: Entry | type[_NoEntry] = _NoEntry
        self._carries = False  # whether arguments on the CPU because of their dtype are brought to the GPU: it captures tensors there
        self._lock = threading.RLock()
        self._bound: weakref.WeakKeyDictionary[Any, StaticFunction] = weakref.WeakKeyDictionary()
        self._layers: list[weakref.ref[Layer]] = []  # that traces have called
        self._modes: tuple[bool, ...] = ()  # of these
        self._follow([getattr(function, "__self__", None)])

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
        bound = StaticFunction(method, self._input_spec, self._dynamic, self._full_graph)
        bound._warned = self._warned
        bound._follow([instance])
        self._bound[instance] = bound
        return bound

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(args, kwargs)

    def _follow(self, layers: Sequence[Any]) -> None:
        """Has a program for each mode of these layers from now on."""
        known = {id(found) for reference in self._layers if (found := reference()) is not None}
        for layer in layers:
            if isinstance(layer, Layer) and id(layer) not in known:
                known.add(id(layer))
                self._layers.append(weakref.ref(layer))
        if self._layers:
            _tracing.followers.add(self)
            self.look_at_modes()

    def look_at_modes(self) -> None:
        """Notes the modes that the layers are in, and forgets which program was the latest if one has changed."""
        modes = tuple([found is not None and found.training for found in [reference() for reference in self._layers]])
        if modes != self._modes:
            self._modes = modes
            self._quick.clear()
            self._latest = _NoEntry

    def _otherwise(self, values: tuple[Any, ...], names: tuple[str, ...] | None) -> Any:
        """A call with these arguments, the last ones by name, that the library has not made."""
        by_position = len(values) - len(names or ())
        return self._call(values[:by_position], dict(zip(names or (), values[by_position:])))

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if _builtin.traces and (_tracing.active() or OFF in _builtin.traces):
            return self.dygraph_function(*args, **kwargs)
        if (
            args and not kwargs
        ):  # where all arguments are tensors, their descriptions tell the program, often the latest one
            latest = self._latest
            made = latest.run(*args)
            if made is not NotImplemented:
                return made
            try:
                found = self._quick.get(tuple(map(_meta, args)))
            except (AttributeError, TypeError):
                found = None
            if found is not None:
                made = found.run(*args)
                if made is not NotImplemented:
                    self._latest = found
                    return made
        if self._reason or (not self._full_graph and marked(self.dygraph_function)):
            return self.dygraph_function(*args, **kwargs)
        try:
            tree, given = taken(args, kwargs)
            arguments = self._placed(tree, given) if _default_place.displacing else given
            entry = self._entry(tree, arguments)
            made = entry.run(*arguments)
            if made is NotImplemented and (entry.program.takes(len(arguments)) or entry.program.info().outdated):
                # A captured tensor asks for gradients now and did not, or ceased to; or what the function has read of one has changed.
                entry = self._entry(tree, arguments, again=entry)
                made = entry.run(*arguments)
        except Exception as error:
            if self._full_graph or not untraceable(error, args, kwargs):
                raise
            reason = str(error) + ("" if isinstance(error, TracingError) else where(error))
        else:
            reason = ""
        if reason:
            return self._untraced(args, kwargs, reason)
        if arguments is given and args and not kwargs and all(type(x) is Tensor for x in args):
            self._latest = entry
            if not entry.program.open:  # of which there would be one for each set of sizes
                self._quick[tuple(map(meta, arguments))] = entry
        return entry.run_anyway(arguments) if made is NotImplemented else made

    def _placed(self, tree: Any, arguments: list[Tensor]) -> list[Tensor]:
        """Arguments that the GPU lacks the dtype of, on the place where the function runs: that of the others, or of what it captures."""
        together = _displaced.together(arguments)
        carried = _displaced.carry_all(together)
        if carried is None or self._carries:
            return together if carried is None else carried
        try:
            self._entry(tree, together)
            return together
        except ValueError:  # it may capture tensors of the GPU
            self._entry(tree, carried)
        self._carries = True
        return carried

    def _untraced(self, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str) -> Any:
        """A call of a function that could not be traced, as it was written; so are all later ones that no program takes.

        The trace has computed nothing: tensors that the function writes into are as they were, and so are the generators. What else it
        did up to the line that ended the trace, such as `print` or appending to a list, is done once more by this call.
        """
        made = self.dygraph_function(*args, **kwargs)
        self._reason = reason
        if reason not in self._warned:
            self._warned.add(reason)
            warnings.warn(
                f"[to_static] {self._name} cannot be traced and runs operator by operator, as Paddle runs it too; "
                f"to_static(full_graph=True) makes a program of it or raises: {reason}",
                stacklevel=4,
            )
        return made

    @property
    def code(self) -> str:
        """The source of the function, as it was written: nothing of it is translated."""
        import inspect  # not light

        return inspect.getsource(inspect.unwrap(self.dygraph_function))

    def lower(self, *args: Any, **kwargs: Any) -> str:
        """The graph for these arguments as text, an operator a line. The function is traced, but not run.

        Sizes that are open are s0, s1 and so on: see `dynamic` of `to_static`.
        """
        return self._traced(args, kwargs)[0].program.text()

    def draw(self, *args: Any, **kwargs: Any) -> Drawing:
        """The graph for these arguments as a picture, which notebooks show and whose `save(path)` writes an SVG file. The function
        is traced, but not run.
        """
        return Drawing(self.lower(*args, **kwargs))

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """What is compiled for these arguments: steps, groups that run block by block, memory, and what the CPU runs for
        the GPU. The function is traced and compiled, but not run. With `dynamic`, a first line says why sizes are not open.

        Of a function that cannot be traced, and that runs operator by operator therefore, the reason.
        """
        reason = self._reason
        try:
            entry, arguments = self._traced(args, kwargs) if not reason else (None, [])
        except Exception as error:
            if self._full_graph or not untraceable(error, args, kwargs):
                raise
            entry, arguments, reason = None, [], str(error)
        if entry is None:
            return f"{self._name} runs operator by operator: {reason}\n"
        entry.program.prepare(arguments)
        reasons = [family.reason for family in self._families.values() if family.reason and not entry.program.open]
        return "".join(f"sizes are not open: {reason}\n" for reason in reasons[-1:]) + entry.program.text(plan=True)

    @property
    def program_cache(self) -> int:
        """How many programs there are."""
        return len(self._entries) + sum(len(family.open) for family in self._families.values())

    def clear(self) -> None:
        """Forgets all programs: the next call traces the function again."""
        with self._lock:
            self._entries.clear()
            self._families.clear()
            self._quick.clear()
            self._latest = _NoEntry
            self._reason = ""

    def _traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Entry, list[Tensor]]:
        tree, arguments = taken(args, kwargs)
        return self._entry(tree, arguments), arguments

    def _entry(self, tree: Any, arguments: Sequence[Tensor], again: Entry | None = None) -> Entry:
        """What the function is for these arguments; traced anew if that is `again`."""
        recording = is_grad_enabled()
        kinds = tuple(
            (m.dtype, m.shape, m.place, recording and bool(grad_info(x).requires_grad))
            for x, m in ((x, meta(x)) for x in arguments)
        )
        key = tree, kinds, recording, None if arguments else current_place(), self._modes
        found = self._entries.get(key)
        if found is None or found is again:
            with self._lock:
                found = self._entries.get(key)
                if found is None or found is again:
                    found = self._made(key, arguments, again)
        return found

    def _made(self, key: Any, arguments: Sequence[Tensor], again: Entry | None) -> Entry:
        """Traces the function for these arguments, unless there is a program for all sizes that takes them."""
        tree, kinds, *rest = key
        shapes = tuple(meta(x).shape for x in arguments)
        family: Family[Entry] | None = None
        if self._dynamic:
            ranks = tree, tuple((dtype, len(shape), place, asks) for dtype, shape, place, asks in kinds), *rest
            if again is not None or len(self._families) >= KEPT:  # other captured tensors ask for gradients now
                for old in [ranks] if ranks in self._families else list(self._families)[:1]:
                    del self._families[old]
            family = self._families.setdefault(ranks, Family())
            found = family.find(shapes)
            if found is not None:
                return found
        self._check(tree, arguments)
        traced = self._trace(tree, arguments)

        def again_for(others: Shapes) -> Entry:
            stand_ins = [alike(x, shape) for x, shape in zip(arguments, others)]
            return self._trace(tree, stand_ins)

        if family is not None and rest[-1] != self._modes:  # the trace has called further layers
            self._families[(*ranks[:-1], self._modes)] = self._families.pop(ranks)
        entry = traced if family is None else family.add(shapes, traced, again_for)
        if entry is traced:
            while len(self._entries) >= KEPT:
                self._quick.clear()
                self._latest = _NoEntry
                del self._entries[next(iter(self._entries))]
            self._entries[(*key[:-1], self._modes)] = entry
        return entry

    def _check(self, tree: Any, arguments: Sequence[Tensor]) -> None:
        """Refuses arguments that are not as input_spec says."""
        specs = self._input_spec or ()
        if any(isinstance(s, (list, tuple, dict)) for s in specs):
            (_, _, ((_, _, by_position), (_, _, by_name))) = tree
            pairs = list(specified(list(specs), (list, list, (*by_position, *[x for _, x in by_name]))))
        else:
            flat = [s for s in specs if isinstance(s, InputSpec)]
            if len(flat) > len(arguments):
                raise ValueError(
                    f"[{self._name}] input_spec has {len(flat)} specifications, and the call {len(arguments)} tensors; "
                    "want one for each tensor"
                )
            pairs = list(zip(flat, range(len(flat))))
        for spec, i in pairs:
            spec.check(arguments[i], self._name, i)

    def _trace(self, tree: Any, arguments: Sequence[Tensor], gradients: bool = True) -> Entry:
        """Calls the function with tensors that stand for the arguments; its results have gradients only with `gradients`.

        Raises:
            TracingError: it wants elements of a tensor. The generators are then where they were.
        """
        place = place_of(arguments)
        generators = [(p, _random.get_state(p)) for p in _random.all_places()]
        trace = _tracing.Trace(place, arguments, whole=self._full_graph or not gradients)
        before, complete = unhandled(), False
        try:
            handles = [x._handle for x in trace.inputs]
            args, kwargs = unflatten(tree, trace.inputs)
            returned: list[Tensor] = []
            results = flatten(self.dygraph_function(*args, **kwargs), returned, functools.partial(other, trace))
            if unhandled() > before:  # the function went on, perhaps another way than with elements
                raise TracingError(
                    f"[{self._name}] the function has caught an error of its trace: {latest_unhandled()}"
                )
            leaves: list[Any] = []
            outputs: list[Tensor] = []
            stands = {id(x): i for i, x in enumerate(trace.inputs)}
            if [x._handle for x in trace.inputs] != handles:
                raise TracingError(f"[{self._name}] an argument was given another shape in place; want a new tensor")
            if not self._full_graph and any(
                has_set_stop_gradient(x, given) for x, given in zip(trace.inputs, arguments)
            ):
                raise TracingError(
                    f"[{self._name}] the function sets stop_gradient of an argument, which a program leaves as it is"
                )
            numbers: dict[int, int] = {}  # of outputs; a file has one for each result
            for x in returned:
                if gradients and id(x) in numbers:
                    leaves.append(numbers[id(x)])
                elif id(x) in stands and not computed(x):
                    leaves.append(-1 - stands[id(x)])
                elif made_here(x) and meta(x).place != place:
                    leaves.append(Constant(x))
                elif trace.makes(x) or made_here(x) or computed(x):
                    leaves.append(len(outputs))
                    numbers[id(x)] = len(outputs)
                    outputs.append(x if gradients else x.detach())
                else:
                    leaves.append(x)
            entry = Entry(trace.end(outputs, is_grad_enabled()), results, leaves)
            self._follow(trace.layers)
            complete = True
            return entry
        except TracingError as error:
            raise TracingError(str(error) + where(error)) from error
        finally:
            count_unhandled(before)
            trace.abort()
            if not complete:
                for p, state in generators:
                    if _random.get_state(p) != state:
                        _random.set_state(p, state)


def taken(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Tensor]]:
    """The tree of the arguments of a call, and the tensors among them. NumPy arrays become tensors, beside the others.

    Raises:
        UntraceableError: an argument cannot be hashed.
    """
    arguments: list[Any] = []

    def constant(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            arguments.append(x)
            return Leaf(len(arguments) - 1)
        return argument(x)

    tree = flatten((args, kwargs), arguments, constant)
    if any(isinstance(x, np.ndarray) for x in arguments):
        tensors = [x for x in arguments if isinstance(x, Tensor)]
        place = place_of(tensors) if tensors else None
        arguments = [x if isinstance(x, Tensor) else to_tensor(x, place=place) for x in arguments]
    return tree, arguments


def untraceable(error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a function may run operator by operator although its trace has failed. A function that gets arrays may do with them what
    tensors cannot.
    """
    if isinstance(error, (TracingError, UnsupportedError, UntraceableError)):
        return True
    arrays: list[Any] = []
    flatten((args, kwargs), [], lambda x: arrays.append(x) if isinstance(x, np.ndarray) else None)
    return bool(arrays) and isinstance(error, (AttributeError, TypeError, ValueError))


def computed(x: Tensor) -> bool:
    """Whether a tensor has a gradient and is no leaf. If it was given or captured, it is what the function wrote there: a run does
    so too, but only a result of its own has the gradient."""
    info = grad_info(x)
    return bool(info.requires_grad) and not info.is_leaf


def has_set_stop_gradient(x: Tensor, given: Tensor) -> bool:
    """Whether a function has set stop_gradient of what stands for an argument. What it wrote there may ask for gradients too."""
    info = grad_info(x)
    return bool(info.is_leaf) and bool(info.requires_grad) != bool(grad_info(given).requires_grad)


def other(trace: _tracing.Trace, x: Any) -> Any:
    """A result that is no tensor: it stays as it was.

    Raises:
        UntraceableError: it holds tensors that the function makes, which would have no elements, or is a generator.
    """
    held = x if isinstance(x, (set, frozenset)) else getattr(x, "__dict__", {}).values()
    if isinstance(x, types.GeneratorType):
        raise UntraceableError("[jit] the function returns a generator, which would end in one call; want a list")
    if not isinstance(x, (type, types.ModuleType)) and any(isinstance(y, Tensor) and trace.makes(y) for y in held):
        raise UntraceableError(
            f"[jit] the function returns {type(x).__name__}, which holds a tensor that it makes; want tensors, and lists, "
            "tuples and dicts of them"
        )
    return result(x)


def specified(spec: Any, given: Any) -> Iterator[tuple[InputSpec, int]]:
    """The specifications of nested lists and dicts, each with the number of the tensor that stands in its place."""
    if isinstance(spec, InputSpec) and isinstance(given, Leaf):
        yield spec, given.number
    elif isinstance(given, tuple) and isinstance(spec, dict) and given[0] is dict:
        for key, x in given[2]:
            yield from specified(spec.get(key), x)
    elif isinstance(given, tuple) and isinstance(spec, (list, tuple)) and given[0] is list:
        for one, x in zip(spec, given[2]):
            yield from specified(one, x)


def place_of(arguments: Sequence[Tensor]) -> Place:
    """Where a program runs: with its first argument that is no 0-d tensor, else with the first one."""
    for x in arguments:
        if meta(x).shape:
            return meta(x).place
    return meta(arguments[0]).place if arguments else current_place()


def where(error: BaseException) -> str:
    """The line of the program that an exception comes from: the last one outside of this package."""
    import linecache  # rarely needed, and not light

    found, step = "", error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if step.tb_frame.f_globals.get("__name__", "").partition(".")[0] != PACKAGE:
            line = linecache.getline(code.co_filename, step.tb_lineno).strip()
            found = f"\n  in {code.co_name}, {code.co_filename}:{step.tb_lineno}" + (f": {line}" if line else "")
        step = step.tb_next
    return found


# The library calls the latest program of a function where it can: a method written in Python costs as much as a small operator
# costs beyond its elements.
StaticFunction.__call__ = _builtin.method("traced", StaticFunction, True) or StaticFunction.__call__  # type: ignore[method-assign]

OFF = 0  # a trace that never ends; those of threads have the id of an object


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Whether functions of `to_static` run as programs; otherwise as they were written, operator by operator."""
    if not isinstance(enable_to_static_bool, bool):
        raise TypeError(f"[enable_to_static] got {enable_to_static_bool!r}; want a bool")
    while OFF in _builtin.traces:
        _builtin.traces.remove(OFF)
    if not enable_to_static_bool:
        _builtin.traces.append(OFF)


@overload
def to_static(
    function: AnyLayer,
    input_spec: Sequence[Any] | None = None,
    build_strategy: Any = None,
    backend: str | None = "CINN",
    *,
    full_graph: bool = False,
    dynamic: bool | None = None,
    **kwargs: Any,
) -> AnyLayer: ...
@overload
def to_static(
    function: Callable[..., Any],
    input_spec: Sequence[Any] | None = None,
    build_strategy: Any = None,
    backend: str | None = "CINN",
    *,
    full_graph: bool = False,
    dynamic: bool | None = None,
    **kwargs: Any,
) -> StaticFunction: ...
@overload
def to_static(
    function: None = None,
    input_spec: Sequence[Any] | None = None,
    build_strategy: Any = None,
    backend: str | None = "CINN",
    *,
    full_graph: bool = False,
    dynamic: bool | None = None,
    **kwargs: Any,
) -> Callable[[Callable[..., Any]], StaticFunction]: ...
def to_static(
    function: Callable[..., Any] | None = None,
    input_spec: Sequence[Any] | None = None,
    build_strategy: Any = None,
    backend: str | None = "CINN",
    *,
    full_graph: bool = False,
    dynamic: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Makes a function one that is traced once and then runs as a program. Also a decorator, with or without arguments.

    Args:
        function: a layer, whose `forward` becomes such a function; the layer is returned. Or a function that takes and returns tensors, and lists, tuples and dicts of them; NumPy arrays become tensors, and its other arguments are
            part of the program, and have to be hashable. A method is traced for each instance, and what calls layers for each mode,
            training and evaluation, that they are in.
        input_spec: an InputSpec for each tensor among the arguments, which is checked, or lists and dicts of them, as the arguments
            are. Sizes need not be given: each set of sizes has a program.
        build_strategy, backend, kwargs: ignored; there is one compiler.
        full_graph: True: a function that cannot be traced raises an error. False, as in Paddle: it runs operator by operator from then
            on, with one warning that names the line. It cannot be traced where it wants elements of a tensor: in a condition, in
            float(), in numpy(), in a shape that depends on them; where it calls backward(), or a function that is marked by
            `not_to_static`; or where an argument cannot be hashed. What the function did up to that line of the first call,
            such as `print`, is done twice; tensors and random generators are as if it had not been.
        dynamic: sizes are open. The function is traced for the sizes of two calls, and for one or two sets of other sizes; if it makes the
            same calls for all, what differs between them may have any size but 0 and 1 from then on, and the function is not
            traced again. For those who know that it has no condition on sizes. Otherwise each set of sizes has a program, and `explain` says why.
            Gradients are those of the operators for the sizes of a call.

    Raises:
        TypeError: function cannot be called, input_spec is no list, or dynamic or full_graph is no bool. With full_graph, calls raise a
            TypeError for arguments that cannot be hashed, and a TracingError where the function wants elements of a tensor.
    """
    if not isinstance(full_graph, bool):
        raise TypeError(f"[to_static] full_graph is {full_graph!r}; want a bool")
    if dynamic is not None and not isinstance(dynamic, bool):
        raise TypeError(f"[to_static] dynamic is {dynamic!r}; want a bool or None")
    if input_spec is not None and not isinstance(input_spec, (list, tuple)):
        raise TypeError(f"[to_static] input_spec is {type(input_spec).__name__}; want a list of InputSpec")
    if function is None:
        return lambda f: to_static(f, input_spec, full_graph=full_graph, dynamic=dynamic)
    if not callable(function):
        raise TypeError(f"[to_static] got {type(function).__name__}; want a function")
    if isinstance(function, StaticFunction):
        return function
    if isinstance(function, Layer):
        function.forward = StaticFunction(function.forward, input_spec, bool(dynamic), full_graph)  # type: ignore[method-assign]
        return function
    return StaticFunction(function, input_spec, bool(dynamic), full_graph)


SUFFIX, FIRST = ".pmps", b"paddle-mps program "  # of the files of save


def save(layer: Callable[..., Any], path: str, input_spec: Sequence[Any] | None = None, **configs: Any) -> None:
    """Writes a function to the file `path`.pmps: its program, with the elements that captured tensors have now.

    The file is the graph as text, then the constants. Programs in C load it with `pmps_program_load`. Results have to be a
    tensor or a list or tuple of tensors, and no tensor may be changed in place.

    Args:
        layer: a function, or one of `to_static`.
        path: the file without its suffix. Folders that are missing are made.
        input_spec: for each argument a tensor or an InputSpec; None: what `to_static` was given. Sizes that an InputSpec leaves
            open are open in the file: the function is traced for a few sizes of each, and has to do the same for all.
        configs: ignored.

    Raises:
        TypeError: layer cannot be called, or returns something else than tensors.
        ValueError: there are no specifications.
        UnsupportedError: the function changes tensors in place, or makes other calls for other sizes where sizes are open.
    """
    function = whole(layer)
    specs = input_spec if input_spec is not None else function._input_spec
    if specs is None:
        raise ValueError("[save] got no input_spec; want a tensor or an InputSpec for each argument")
    entry = traced(function, specs)
    if not only_tensors(entry.results):
        raise TypeError(
            "[save] the function returns something else than tensors; want a tensor, or a list or tuple of tensors"
        )
    if entry.leaves != list(range(entry.program.results)):
        raise TypeError("[save] the function returns an argument or a tensor that it has not made; want a copy of it")
    os.makedirs(os.path.dirname(os.fspath(path)) or ".", exist_ok=True)
    entry.program.save(os.fspath(path) + SUFFIX)


def whole(layer: Callable[..., Any]) -> StaticFunction:
    """The function that a call of a layer is, hooks and all, in the mode that it is in; or a function as one of to_static."""
    if not isinstance(layer, Layer):
        return to_static(layer)
    given = layer.forward._input_spec if isinstance(layer.forward, StaticFunction) else None
    return StaticFunction(lambda *inputs: layer(*inputs), given, False, True)


def traced(function: StaticFunction, specs: Sequence[Any]) -> Entry:
    """What a function is for arguments of these specifications.

    Where sizes are open, it is traced for two sizes of each, and has to do the same for both; and for 1, and for large sizes in
    another order, if it takes these.

    Raises:
        UnsupportedError: it has not.
    """
    for i, spec in enumerate(specs):
        if not isinstance(spec, (Tensor, InputSpec)):
            raise TypeError(f"[save] input_spec has {type(spec).__name__} at {i}; want a tensor or an InputSpec")
    axes = [i for spec in specs if isinstance(spec, InputSpec) for i, n in enumerate(spec.shape) if n == -1]

    def of(sizes: Sequence[int]) -> Entry:
        left = iter(sizes)
        arguments = [
            spec
            if isinstance(spec, Tensor)
            else example([next(left) if n == -1 else n for n in spec.shape], spec.dtype)
            for spec in specs
        ]
        return function._trace(flatten((tuple(arguments), {}), [], argument), arguments, gradients=False)

    if not axes:
        return of([])
    failure: Exception | None = None
    for sizes, others in probes(axes):
        try:
            first, second = of(sizes), of(others)
        except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
            failure = failure or error
            continue
        made = united(first, second)
        for kind, more in ("are 1", [[1] * len(axes)]), ("are large, or in another order", turned(others)):
            for sizes in more:
                try:
                    third = of(sizes)
                except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
                    continue
                if united(first, third).program.text() != made.program.text():
                    raise UnsupportedError(
                        f"[save] the function makes other calls where open sizes {kind}; want the same for all"
                    )
                break
        return made
    assert failure is not None
    raise failure


def only_tensors(tree: Any) -> bool:
    """Whether a result is a tensor, or a list or tuple of tensors."""
    if isinstance(tree, Leaf):
        return True
    sort, _, content = tree
    return sort is list and all(isinstance(x, Leaf) for x in content)


def example(shape: Sequence[int], dtype: Any) -> Tensor:
    """A tensor that a function can be traced for: of one element in memory, however large it is."""
    one = zeros([1], dtype=dtype)
    return as_strided(one, shape, [0] * len(shape))


def alike(x: Tensor, shape: Sequence[int]) -> Tensor:
    """An example that differs from an argument in its shape alone."""
    made = as_strided(zeros([1], dtype=x.dtype, place=x.place), shape, [0] * len(shape))
    made.stop_gradient = x.stop_gradient
    return made


class TranslatedLayer:
    """A function of a file of `save`; as in Paddle it is made by `load` alone.

    It can be called with tensors, or arrays, of the dtypes and shapes that it was saved for, and returns a tensor, or a list
    of several. Results have no gradients.
    """

    def __init__(self, program: _tracing.Program, place: Place) -> None:
        self._program, self._place = program, place

    def __call__(self, *inputs: Any) -> Any:
        given = [x if isinstance(x, Tensor) else to_tensor(x, place=self._place) for x in inputs]
        made = self._program.run(*given)
        return self._program.run_anyway(given) if made is NotImplemented else made

    forward = __call__

    def program(self) -> str:
        """The graph as text, an operator a line."""
        return self._program.text()

    def draw(self) -> Drawing:
        """The graph as a picture; see `StaticFunction.draw`."""
        return Drawing(self.program())

    def eval(self) -> None:
        """Changes nothing: the function does what it did when it was saved."""

    def train(self) -> None:
        """Refused: the function was saved without its gradients.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            "[TranslatedLayer] a function that was loaded has no gradients; want the one that it was saved of"
        )


def load(path: str, **configs: Any) -> TranslatedLayer:
    """The function of the file `path`.pmps that `save` has written, on the current place.

    The file is mapped into memory: nothing may change it while the function is there.

    Args:
        path: the file without its suffix.
        configs: ignored.

    Raises:
        ValueError: there is no such file, or it is damaged or of another version.
    """
    place, file = current_place(), os.fspath(path) + SUFFIX
    if not os.path.exists(file):
        raise ValueError(f"[jit.load] there is no {file!r}; want the path that was given to jit.save{_instead(path)}")
    with open(file, "rb") as content:
        if content.read(len(FIRST)) != FIRST:  # the library would take it for an ONNX model
            raise ValueError(f"[jit.load] {file!r} does not begin as a file of jit.save; want one, complete")
    return TranslatedLayer(_tracing.Program.load(file, place), place)


PADDLES = (".pdmodel", ".json", ".pdiparams")  # what PaddlePaddle's jit.save writes


def _instead(path: str) -> str:
    """What to do with a path that is none of `save`, as the end of a sentence."""
    path = os.fspath(path)
    if path.endswith(SUFFIX):
        return f", without {SUFFIX}"
    if path.endswith(".onnx"):
        return ": an ONNX model is loaded by paddle_mps.onnx.load"
    if path.endswith(PADDLES) or any(os.path.exists(path + end) for end in PADDLES):
        return (
            ": a model of PaddlePaddle cannot be loaded yet; convert it with paddle2onnx and use paddle_mps.onnx.load"
        )
    return ""


def not_to_static(func: Function | None = None) -> Any:
    """Marks a function as one that is not traced: a function of `to_static` that calls it runs operator by operator, with one warning.
    With full_graph=True, and in `save`, it is traced through, as in Paddle. Also a decorator, with or without parentheses.
    """
    if func is None:
        return not_to_static
    name = getattr(func, "__qualname__", type(func).__name__)

    @functools.wraps(func)
    def untraced(*args: Any, **kwargs: Any) -> Any:
        if _tracing.active() and not _tracing.whole():
            raise TracingError(f"[not_to_static] the function calls {name}, which is marked as one that is not traced")
        return func(*args, **kwargs)

    vars(untraced)[MARK] = True
    return untraced


MARK = "__not_to_static__"


def marked(function: Any) -> bool:
    """Whether `not_to_static` has marked a function."""
    return getattr(function, MARK, False) is True


def set_verbosity(level: int = 0, also_to_stdout: bool = False) -> None:
    """Accepts how much Paddle's translation of functions logs. It changes nothing: functions are traced and not translated."""


def set_code_level(level: int = 100, also_to_stdout: bool = False) -> None:
    """Accepts which step of Paddle's translation of functions is printed. It changes nothing; see `StaticFunction.code`."""


def ignore_module(modules: Sequence[types.ModuleType]) -> None:
    """Accepts a list of modules, as Paddle does. It changes nothing: operators are traced wherever they are called."""


class _Callable(types.ModuleType):
    """This module, which can be called as `to_static`."""

    __call__ = staticmethod(to_static)


sys.modules[__name__].__class__ = _Callable

__all__ = [
    "InputSpec", "StaticFunction", "TranslatedLayer", "enable_to_static", "ignore_module", "load", "not_to_static", "save",
    "set_code_level", "set_verbosity", "to_static",
]  # fmt: skip
