"""Streams and events, and waits that a Ctrl-C can end.

A wait in C cannot see a signal. So Python waits in slices: between two of them it handles signals.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from ctypes import byref, c_bool, c_double, c_void_p
from typing import TYPE_CHECKING, Any

from . import _place
from ._call import flush
from ._errors import UnsupportedError, check
from ._library import library
from ._place import Place
from ._structs import PlaceStruct

if TYPE_CHECKING:
    from ._typing import DeviceLike

SLICE_MS = 100


class Stream:
    """A queue of work on an mps device, in order. Streams order themselves where they share tensors.

    Args:
        device: an mps device; None: the current one.
        priority: None or 2, the only priority that there is.

    Raises:
        DeviceError: the machine has no such device.
    """

    __slots__ = ("__weakref__", "_handle", "_owned", "place")

    def __init__(self, device: DeviceLike | None = None, priority: int | None = None) -> None:
        self._owned = False
        if priority not in (None, 2):
            raise UnsupportedError(f"[Stream] priority is {priority!r}; want None or 2: all streams are equal")
        self.place = _place.mps_place(device)
        self._handle = c_void_p()
        check(library.pmps_stream_new(byref(self.place.struct), byref(self._handle)))
        self._owned = True
        _streams.add(self)

    @classmethod
    def _borrowed(cls, handle: c_void_p) -> Stream:
        stream = object.__new__(cls)
        stream._handle, stream._owned = handle, False
        where = PlaceStruct()
        check(library.pmps_stream_get_place(handle, byref(where)))
        stream.place = _place.of(where.kind, where.index)
        return stream

    def __del__(self) -> None:
        if self._owned:
            library.pmps_stream_free(self._handle)

    @property
    def device(self) -> Place:
        """The device of the stream."""
        return self.place

    def query(self) -> bool:
        """Whether all its work is done."""
        return _query(self._handle)

    def synchronize(self) -> None:
        """Waits until all its work is done.

        Raises:
            DeviceError: work on it has failed; it is said once.
        """
        _wait(self._handle)

    def wait_event(self, event: Event) -> None:
        """Work submitted from now on waits for an event; the caller does not."""
        check(library.pmps_stream_wait_event(self._handle, event._handle))

    def wait_stream(self, stream: Stream) -> None:
        """Work submitted from now on waits for the work of another stream so far."""
        self.wait_event(stream.record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """Records an event, a new one unless it is given, behind the work so far."""
        event = Event(device=self.place) if event is None else event
        event.record(self)
        return event

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self._handle.value == other._handle.value

    def __hash__(self) -> int:
        return hash(self._handle.value)

    def __repr__(self) -> str:
        return f"<paddle_mps.mps.Stream on {self.place} at {self._handle.value:#x}>"


_streams: weakref.WeakSet[Stream] = weakref.WeakSet()


class Event:
    """A point in the work of a stream.

    Args:
        enable_timing, blocking: accepted; every event has its time, and waits never spin.
        interprocess: False; events of other processes are an UnsupportedError.
        device: an mps device; None: the current one.
    """

    __slots__ = ("__weakref__", "_handle", "_owned", "place")

    def __init__(
        self,
        enable_timing: bool = True,
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
        check(library.pmps_event_new(byref(self.place.struct), byref(self._handle)))
        self._owned = True

    def __del__(self) -> None:
        if self._owned:
            library.pmps_event_free(self._handle)

    def record(self, stream: Stream | None = None) -> None:
        """Puts the event behind the work so far of a stream; None: this thread's."""
        check(library.pmps_event_record(self._handle, None if stream is None else stream._handle))

    def query(self) -> bool:
        """Whether the work before the event is done."""
        done = c_bool()
        check(library.pmps_event_query(self._handle, byref(done)))
        return done.value

    def synchronize(self) -> None:
        """Waits until the work before the event is done."""
        check(library.pmps_event_synchronize(self._handle))

    def wait(self, stream: Stream | None = None) -> None:
        """Work submitted to a stream (None: this thread's) from now on waits for the event."""
        (current_stream(self.place) if stream is None else stream).wait_event(self)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to another, as the device passed them.

        Raises:
            ValueError: one of them has not been recorded or is not done.
        """
        milliseconds = c_double()
        check(library.pmps_event_elapsed(self._handle, end_event._handle, byref(milliseconds)))
        return milliseconds.value


class _Current(threading.local):
    """What keeps a thread's current streams alive: the library only borrows them."""

    stream: Stream | None = None


_current = _Current()


def _query(handle: c_void_p) -> bool:
    done = c_bool()
    check(library.pmps_stream_query(handle, byref(done)))
    return done.value


def _wait(handle: c_void_p) -> None:
    flush()
    done = c_bool(False)
    while not done.value:
        check(library.pmps_stream_wait_for(handle, SLICE_MS, byref(done)))


def _pointer(function: Any, place: Place) -> c_void_p:
    handle = c_void_p()
    check(function(byref(place.struct), byref(handle)))
    return handle


def wait_interruptibly(place: Place) -> None:
    """Waits for this thread's stream on a device, unless it has nothing to do."""
    handle = _pointer(library.pmps_stream_get_current, place)
    if not _query(handle):
        _wait(handle)


def synchronize(place: Place) -> None:
    """Waits until all work of a device is done.

    Raises:
        DeviceError: work has failed; it is said once.
    """
    _wait(_pointer(library.pmps_stream_default, place))
    for stream in list(_streams):
        if stream.place == place:
            _wait(stream._handle)
    check(library.pmps_device_synchronize(byref(place.struct)))


def current_stream(device: DeviceLike | None = None) -> Stream:
    """This thread's stream on an mps device."""
    return Stream._borrowed(_pointer(library.pmps_stream_get_current, _place.mps_place(device)))


def default_stream(device: DeviceLike | None = None) -> Stream:
    """The stream that an mps device has from the start."""
    return Stream._borrowed(_pointer(library.pmps_stream_default, _place.mps_place(device)))


def set_stream(stream: Stream | None) -> Stream | None:
    """Makes a stream this thread's on its device, None the default one; returns what was set before."""
    check(library.pmps_stream_set_current(None if stream is None else stream._handle))
    before, _current.stream = _current.stream, stream
    return before


@contextlib.contextmanager
def stream_guard(stream: Stream | None) -> Iterator[None]:
    """Makes a stream this thread's inside a with block; None leaves everything as it is."""
    if stream is None:
        yield
        return
    before = set_stream(stream)
    try:
        yield
    finally:
        set_stream(before)
