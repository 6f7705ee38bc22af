"""Traces and the programs that they become, as the library has them: see the section "Traces" of paddlemps.h."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from ctypes import byref
from typing import Any, Callable

from .._core._builtin import FAILED, HEAVY, OTHER, RECORDING, SINGLE, UNUSUAL, builtin, forget, traces
from .._core._errors import BusyError, check, last_failure
from .._core._library import Ints, library, quick
from .._core._objects import Tensor, fresh, information, view
from .._core._place import Place
from .._core._structs import ProgramInfo
from .._core._worker import SLICE_MS, run
from . import _operators
from ._grad import callbacks
from ._holding import owners

MOST_ARGUMENTS, MOST_RESULTS = 32, 16  # of a built-in function: MAX_ARGUMENTS and MAX_RESULTS

_thread = threading.local()


def active() -> bool:
    """Whether this thread is tracing a function: operators are not run."""
    return getattr(_thread, "trace", None) is not None


def whole() -> bool:
    """Whether the function that this thread traces is to become one program, through functions that ask not to be traced."""
    return bool(getattr(_thread, "whole", False))


# The traced functions that have called layers: each has a program for each mode that its layers are in.
followers: weakref.WeakSet[Any] = weakref.WeakSet()


def modes_changed() -> None:
    """Tells traced functions that a layer may be in another mode now. Their next call would run the latest program otherwise."""
    for function in list(followers):
        function.look_at_modes()


def calls_layer(layer: Any) -> None:
    """Notes that the function that this thread traces has called a layer: what it does depends on the layer's mode."""
    if active():
        _thread.layers.append(layer)


def closed(function: str, why: str, *sizes: int) -> None:
    """Notes, for errors about open sizes, that the function that is traced calls one that has no form for all of these sizes."""
    if active():
        _thread.closed.append((function, why, sizes))


def found(condition: Tensor) -> bool:
    """Whether an element is True, for checks of elements. A function that is traced has none, so that nothing is found."""
    return not active() and bool(_operators.any(condition))


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Operators are run within the block, also while this thread is tracing."""
    trace, _thread.trace = getattr(_thread, "trace", None), None
    if trace is not None:
        check(quick.pmps_trace_pause(trace, True))
    try:
        yield
    finally:
        if trace is not None:
            check(quick.pmps_trace_pause(trace, False))
            _thread.trace = trace


def handles(tensors: Sequence[Tensor]) -> Any:
    """An array of the handles of tensors."""
    return (ctypes.c_uint64 * max(len(tensors), 1))(*[x._handle for x in tensors])


def text_of(function: Any, *arguments: Any) -> str:
    """The text that a function of the library writes to its last parameter."""
    found = ctypes.c_void_p()
    check(function(*arguments, byref(found)))
    assert found.value
    try:
        return ctypes.string_at(found).decode()
    finally:
        quick.pmps_text_free(found)


def _otherwise(program: int, results: int, inputs: tuple[Tensor, ...], reason: int) -> Any:
    """Handles a run that the built-in function has not made."""
    if reason in (UNUSUAL, OTHER):
        return NotImplemented
    if reason == FAILED:
        error = last_failure()
        if not isinstance(error, BusyError):
            raise error
        while not library.pmps_fast_wait(SLICE_MS):
            pass  # here Python handles signals
    work = functools.partial(_run, program, results, inputs)
    return run(work) if reason == HEAVY else work()


def _run(program: int, results: int, inputs: Sequence[Tensor]) -> Any:
    """Runs a program through ctypes."""
    made = _run_many(program, results, inputs)
    return made[0] if results == 1 else made


def _run_many(program: int, most: int, inputs: Sequence[Tensor]) -> list[Tensor]:
    """The results of a program, at most so many."""
    out, count = (ctypes.c_uint64 * max(most, 1))(), ctypes.c_size_t(most)
    check(library.pmps_program_run(program, handles(inputs), len(inputs), out, byref(count)))
    return [fresh(handle) for handle in out[: count.value]]


class Program:
    """A compiled function.

    Attributes:
        results: how many tensors a run returns.
        open: it is for all sizes, and not for those that it was traced for.
        closed: the calls that have noted themselves by `closed`.
        run: takes the arguments, one after the other; returns a list of tensors or, where there is one result, that tensor.
            NotImplemented where the program was traced for other arguments or gradients, or where there are too many
            of them for a built-in function.
    """

    def __init__(self, handle: int, results: int, recording: bool) -> None:
        self._handle, self.results, self.open = handle, results, False
        self.closed: list[tuple[str, str, tuple[int, ...]]] = []
        self._lead = (SINGLE if results == 1 else 0) | (RECORDING if recording else 0)
        # The handler holds no reference to this object, which would never be freed.
        self.run: Callable[..., Any] = builtin(
            "program", handle, functools.partial(_otherwise, handle, results), self._lead
        )

    def takes(self, arguments: int) -> bool:
        """Whether `run` takes so many arguments."""
        return arguments <= MOST_ARGUMENTS and self.results <= MOST_RESULTS

    def run_anyway(self, inputs: Sequence[Tensor]) -> Any:
        """`run` for any number of arguments, of the dtypes and shapes that the program was traced for."""
        return _run(self._handle, self.results, inputs)

    def run_many(self, inputs: Sequence[Tensor], most: int) -> list[Tensor]:
        """A run that returns any number of tensors up to most."""
        return _run_many(self._handle, most, inputs)

    def __del__(self) -> None:
        forget("program", self._handle, self._lead)
        quick.pmps_program_free(self._handle)

    def save(self, path: str) -> None:
        """Writes the program to a file."""
        check(library.pmps_program_save(self._handle, os.fsencode(path)))

    @classmethod
    def load(cls, path: str, place: Place) -> Program:
        """The program of a file."""
        made = ctypes.c_void_p()
        check(library.pmps_program_load(byref(place.struct), os.fsencode(path), None, 0, byref(made)))
        assert made.value
        about = ProgramInfo(ctypes.sizeof(ProgramInfo))
        check(quick.pmps_program_get_info(made.value, byref(about)))
        return cls(made.value, about.outputs, False)

    def unify(self, other: Program) -> Program:
        """A program for all sizes, of two that were traced for others.

        Raises:
            UnsupportedError: they differ in more than sizes.
        """
        made = ctypes.c_void_p()
        check(library.pmps_program_unify(self._handle, other._handle, byref(made)))
        assert made.value
        both = Program(made.value, self.results, bool(self._lead & RECORDING))
        both.open = True
        return both

    def prepare(self, arguments: Sequence[Tensor]) -> None:
        """Compiles the program for the shapes of arguments, unless it is compiled for them."""
        sizes = [(ctypes.c_int64 * max(len(x.shape), 1))(*x.shape) for x in arguments]
        pointers = (Ints * max(len(sizes), 1))(*[ctypes.cast(size, Ints) for size in sizes])
        ranks = (ctypes.c_int32 * max(len(sizes), 1))(*[len(x.shape) for x in arguments])
        check(library.pmps_program_prepare(self._handle, pointers, ranks, len(sizes)))

    def info(self) -> ProgramInfo:
        """Figures of the program and of its last compilation."""
        found = ProgramInfo(ctypes.sizeof(ProgramInfo))
        check(quick.pmps_program_get_info(self._handle, byref(found)))
        return found

    def text(self, *, plan: bool = False) -> str:
        """The graph, or what was compiled of it last."""
        return text_of(library.pmps_program_to_text, self._handle, plan)


owners.add(Program)


class Trace:
    """A trace of this thread, from its creation to `end` or `abort`.

    Attributes:
        inputs: the tensors that stand for the arguments.
        layers: those that were called, more than once if they were.
    """

    def __init__(self, place: Place, examples: Sequence[Tensor], whole: bool = True) -> None:
        made, handle = (ctypes.c_uint64 * max(len(examples), 1))(), ctypes.c_void_p()
        check(library.pmps_trace_begin(byref(place.struct), handles(examples), len(examples), made, byref(handle)))
        self._handle = _thread.trace = handle.value
        _thread.closed, _thread.whole = [], whole
        self.layers: list[Any] = []
        _thread.layers = self.layers
        traces.append(id(self))
        self.inputs = [view(one) for one in made[: len(examples)]]

    def makes(self, x: Tensor) -> bool:
        """Whether a tensor has no elements, because a call in the trace makes it."""
        return bool(information(x._handle).traced)

    def end(self, outputs: Sequence[Tensor], recording: bool) -> Program:
        """The program that returns these tensors, and whether it was traced with gradients recorded."""
        made = ctypes.c_void_p()
        # The backward pass that is traced may call functions of Python.
        callbacks.check(library.pmps_trace_end(self._handle, handles(outputs), len(outputs), byref(made)))
        assert made.value
        self._ended()
        program = Program(made.value, len(outputs), recording)
        program.closed = _thread.closed
        return program

    def abort(self) -> None:
        """Ends the trace without a program, unless it has ended."""
        self._ended()
        quick.pmps_trace_abort(self._handle)

    def _ended(self) -> None:
        _thread.trace = None
        _thread.layers = []  # the thread would keep the layers of its last trace
        if id(self) in traces:
            traces.remove(id(self))
