"""Streams and events, and waits that a Ctrl-C can end.

A wait in C cannot see a signal. So Python waits in slices: between two of them it handles signals.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from ctypes import byref, c_bool, c_double, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any

from .._core import _place
from .._core._builtin import idle
from .._core._errors import UnsupportedError, check
from .._core._library import library
from .._core._objects import Tensor, flush
from .._core._place import Place
from .._core._structs import PlaceStruct
from .._core._worker import SLICE_MS

if TYPE_CHECKING:
    from .._core._typing import DeviceLike

TIMING = 1  # PMPS_EVENT_TIMING


class Stream:
    """A queue of work on an mps device, which runs in order. Work on streams that share tensors is ordered.

    Args:
        device: an mps device; None: the current one.
        priority: None or 2, the only priority.
        stream_base: a Stream, of which this one is another object; device and priority are not looked at then.

    Raises:
        TypeError: stream_base is no Stream.
        DeviceError: the machine has no such device.
    """

    __slots__ = ("__weakref__", "_base", "_handle", "_idle", "_owned", "place")

    _handle: c_void_p
    _idle: Callable[[], bool]  # a cheap call: is there nothing to wait for and to report?
    place: Place

    def __init__(
        self, device: DeviceLike | None = None, priority: int | None = 2, stream_base: Stream | None = None
    ) -> None:
        self._owned = False
        self._base = stream_base  # it owns the handle
        if stream_base is not None:
            if not isinstance(stream_base, Stream):
                raise TypeError(f"[Stream] stream_base is {type(stream_base).__name__}; want a Stream or None")
            self._handle, self._idle, self.place = stream_base._handle, stream_base._idle, stream_base.place
            return
        if priority not in (None, 2):
            raise UnsupportedError(f"[Stream] priority is {priority!r}; want None or 2: all streams are equal")
        self.place = _place.mps_place(device)
        self._handle = c_void_p()
        check(library.pmps_stream_new(byref(self.place.struct), byref(self._handle)))
        self._owned = True
        self._idle = idle(self._handle.value or 0)

    @classmethod
    def _borrowed(cls, handle: c_void_p) -> Stream:
        stream = object.__new__(cls)
        stream._handle, stream._owned, stream._idle = handle, False, idle(handle.value or 0)
        where = PlaceStruct()
        check(library.pmps_stream_get_place(handle, byref(where)))
        stream.place = _place.of(where.kind, where.index)
        return stream

    def __del__(self, free: Callable[[c_void_p], None] = library.pmps_stream_free) -> None:
        if hasattr(self, "_owned") and self._owned:  # not where the constructor was refused its arguments
            free(self._handle)  # at the end of the interpreter, the names of modules are gone

    @property
    def device(self) -> Place:
        """The device of the stream."""
        return self.place

    @property
    def stream_id(self) -> int:
        """The number of the stream on its device: 0 for the default one. Numbers are never reused."""
        number = c_uint64()
        check(library.pmps_stream_get_id(self._handle, byref(number)))
        return number.value

    def query(self) -> bool:
        """Whether all its work is done."""
        return self._idle() or _query(library.pmps_stream_query, self._handle)

    def synchronize(self) -> None:
        """Waits until all its work so far is done.

        Raises:
            DeviceError: work on it has failed; it is said once.
        """
        flush()
        if not self._idle():
            _wait(library.pmps_stream_wait_for, self._handle)

    def wait_event(self, event: Event) -> None:
        """Makes work submitted from now on wait for an event. The call does not block."""
        check(library.pmps_stream_wait_event(self._handle, event._handle))

    def wait_stream(self, stream: Stream) -> None:
        """Makes work submitted from now on wait for the work of another stream so far."""
        self.wait_event(stream.record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """Records an event, a new one unless it is given, after the work so far."""
        event = Event(device=self.place) if event is None else event
        event.record(self)
        return event

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self._handle.value == other._handle.value

    def __hash__(self) -> int:
        return hash(self._handle.value)

    def __repr__(self) -> str:
        return f"<paddle_mps.mps.Stream {self.stream_id} on {self.place}>"


class Event:
    """A point in the work of a stream. One that was never recorded counts as done.

    Args:
        enable_timing: whether `elapsed_time` will be asked.
        blocking: accepted; no wait spins.
        interprocess: False; events of other processes are an UnsupportedError.
        device: an mps device; None: the current one.

    Raises:
        DeviceError: the machine has no such device.
    """

    __slots__ = ("__weakref__", "_handle", "_owned", "_passed", "place")

    _passed: Callable[[], bool]

    def __init__(
        self,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        *,
        device: DeviceLike | None = None,
    ) -> None:
        self._owned = False
        if interprocess:
            raise UnsupportedError("[Event] interprocess is True; want False: events stay in their process")
        self.place = _place.mps_place(device)
        self._handle = c_void_p()
        flags = TIMING if enable_timing else 0
        check(library.pmps_event_new(byref(self.place.struct), flags, byref(self._handle)))
        self._owned = True
        self._passed = idle(self._handle.value or 0)

    def __del__(self, free: Callable[[c_void_p], None] = library.pmps_event_free) -> None:
        if hasattr(self, "_owned") and self._owned:
            free(self._handle)

    @property
    def device(self) -> Place:
        """The device of the event."""
        return self.place

    def record(self, stream: Stream | None = None) -> None:
        """Records the event after the work so far of a stream; None: this thread's."""
        check(library.pmps_event_record(self._handle, None if stream is None else stream._handle))

    def query(self) -> bool:
        """Whether the work before the event is done."""
        return self._passed() or _query(library.pmps_event_query, self._handle)

    def synchronize(self) -> None:
        """Waits until the work before the event is done. Streams and tensors report its failures."""
        if not self._passed():
            _wait(library.pmps_event_wait_for, self._handle)

    def wait(self, stream: Stream | None = None) -> None:
        """Makes work submitted to a stream (None: this thread's) from now on wait for the event."""
        (current_stream(self.place) if stream is None else stream).wait_event(self)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to another, by the clock of the device.

        Raises:
            ValueError: one of them was made without enable_timing, has not been recorded or is not done.
        """
        milliseconds = c_double()
        check(library.pmps_event_elapsed(self._handle, end_event._handle, byref(milliseconds)))
        return milliseconds.value


class _Current(threading.local):
    """Keeps a thread's current stream alive: the library only borrows it."""

    stream: Stream | None = None


_current = _Current()


def _wait(function: Any, *what: Any) -> None:
    """Calls a function of the library that waits in slices until the wait is over."""
    wait = c_uint64()
    check(function(*what, SLICE_MS, byref(wait)))
    while wait.value:
        check(function(*what, SLICE_MS, byref(wait)))


def _query(function: Any, handle: c_void_p) -> bool:
    done = c_bool()
    check(function(handle, byref(done)))
    return done.value


def _pointer(function: Any, place: Place) -> c_void_p:
    handle = c_void_p()
    check(function(byref(place.struct), byref(handle)))
    return handle


def settle(x: Tensor, writing: bool = False) -> None:
    """Waits for the work that computes a tensor; before writing also for the work that reads it.

    Raises:
        Exception: what made that work fail.
    """
    _wait(library.pmps_tensor_wait_for, x._handle, writing)


def drain(place: Place) -> None:
    """Waits for this thread's stream, ahead of an operator that the library waits for.

    The number of elements that `nonzero` finds is only known when it has finished.
    """
    if place.kind == _place.MPS and not _idle(place.index)():
        event = Event(device=place)
        event.record()
        event.synchronize()


@functools.cache
def _idle(index: int) -> Callable[[], bool]:
    """A cheap call: whether an mps device has nothing to wait for and to report."""
    return idle(_place.MPS << 32 | index)


def synchronize(place: Place) -> None:
    """Waits until all work of an mps device so far is done.

    Raises:
        DeviceError: work has failed; it is said once.
    """
    flush()
    if not _idle(place.index)():
        _wait(library.pmps_device_wait_for, byref(place.struct))


def current_stream(device: DeviceLike | None = None) -> Stream:
    """This thread's stream on an mps device."""
    place, mine = _place.mps_place(device), _current.stream
    if mine is not None and mine.place == place:
        return mine
    return default_stream(place)


def default_stream(device: DeviceLike | None = None) -> Stream:
    """The default stream of an mps device."""
    return Stream._borrowed(_pointer(library.pmps_stream_default, _place.mps_place(device)))


def set_stream(stream: Stream | None) -> Stream:
    """Makes a stream this thread's on its device, None the default one; returns what it was before."""
    if stream is not None and not isinstance(stream, Stream):
        raise TypeError(f"[set_stream] stream is {type(stream).__name__}; want a Stream or None")
    before = current_stream(None if stream is None else stream.place)
    check(library.pmps_stream_set_current(None if stream is None else stream._handle))
    _current.stream = stream
    return before


@contextlib.contextmanager
def stream_guard(stream: Stream | None = None) -> Iterator[None]:
    """Makes a stream this thread's inside a with block; None changes nothing."""
    if stream is None:
        yield
        return
    before = set_stream(stream)
    try:
        yield
    finally:
        set_stream(before)
