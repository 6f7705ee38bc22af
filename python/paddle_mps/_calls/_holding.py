"""Objects of Python that the library holds: hooks, and functions with gradients of their own.

The library knows an object by a number, and gives it back through the deleter. It holds a hook for as long as the tensor
of the hook, or what was computed from it, can be differentiated, so the tensor holds the hook, through the library,
where Python's collector does not see it. A hook that uses its own tensor is a cycle then, which would stay for ever.

So for the time of each full collection the library is asked what tensors and traced programs hold (core/holdings/holdings.go),
and they get references to just that, which the collector sees. What it frees then, it frees as any other cycle: a
tensor that goes frees its handle, with the last of them the library drops the hook. When the collection has ended, the
references are taken back. Whatever the library says later is right in the meantime too: an object of Python is only
forgotten when the library drops it, or when nothing that could make the library call it is left.

A tensor that is computed between the question and the collection, by another thread, may hold what only others held
when the question was asked. The references of tensors are behind a link, an object that shows them to the collector
only if no such tensor was made.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal takes a millisecond to import
import _thread
import ctypes
import gc
import itertools
import threading
import weakref
from collections.abc import Iterator
from typing import Any, Callable

from .._core import _builtin
from .._core._errors import GradientError, check
from .._core._library import Deleter, quick
from .._core._objects import Base, flush
from .._core._structs import MemoryStats, PlaceStruct

# Objects, and bytes of tensors, that are held without a look for cycles among them; and how many times as many without large tensors.
FIRST, ROOM, MANY = 64, 64 << 20, 16


def allocated() -> int:
    """The bytes of live tensors on all devices."""
    total = 0
    for kind in (0, 1):  # PMPS_CPU, PMPS_MPS
        if quick.pmps_device_count(kind) > 0:
            found = MemoryStats(ctypes.sizeof(MemoryStats))
            check(quick.pmps_memory_get_stats(ctypes.byref(PlaceStruct(kind, 0)), ctypes.byref(found)))
            total += found.allocated_bytes.current
    return total


class Kept:
    """An object that the library holds. While a collection runs, tensors and programs have the only references to it."""

    __slots__ = ("__weakref__", "what")

    def __init__(self, what: Any) -> None:
        self.what = what


class Entry:
    """The place of a number: what is kept, or while a collection runs a weak reference to that."""

    __slots__ = ("kept", "weak")

    def __init__(self, kept: Kept) -> None:
        self.kept: Kept | None = kept
        self.weak = weakref.ref(kept)


def unwrapped(error: BaseException) -> BaseException:
    """The RecursionError that ctypes has made an ArgumentError, where a hook has no room left to call the library; else error."""
    if isinstance(error, ctypes.ArgumentError) and "RecursionError" in str(error):
        return RecursionError(
            "[backward] a hook or PyLayer calls itself, or starts passes, without an end; want one that ends"
        )
    return error


class Callbacks:
    """Objects that the library calls back, by the number that it knows them by."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._entries: dict[int, Entry] = {}
        self._failed = threading.local()
        self._most, self._bytes = FIRST, 0
        self.deleter = Deleter(self.drop)

    def add(self, what: Any) -> int:
        """Keeps an object until the library calls the deleter with its number. Cycles are collected first if they may be many."""
        if len(self._entries) >= self._most and gc.isenabled() and self._grown():
            gc.collect()
            self._most, self._bytes = 2 * len(self._entries) + FIRST, allocated()
        number = next(self._numbers)
        self._entries[number] = Entry(Kept(what))
        return number

    def _grown(self) -> bool:
        """Whether objects that no one needs may hold much memory: there are twice as many as after the last collection, and tensors
        have half as much memory again, or there are many more objects. Python counts its own objects only, and would not hurry
        for a few that hold large tensors.
        """
        return len(self._entries) >= MANY * self._most or allocated() > 1.5 * self._bytes + ROOM

    def drop(self, number: int) -> None:
        """Forgets an object."""
        self._entries.pop(number, None)

    def call(self, number: int, work: Callable[[Any], None]) -> int:
        """Does work with an object; 1 after an exception, which `check` raises."""
        try:
            entry = self._entries[number]
            kept = entry.kept or entry.weak() or entry.kept  # in this order: a collection may begin or end meanwhile
            assert kept is not None
            work(kept.what)
        except BaseException as error:  # it goes on in Python, behind the library
            self._failed.error = unwrapped(error)
            return 1
        return 0

    def check(self, error: int | None) -> None:
        """Raises what a pass has returned, or what a callback has raised in it."""
        failed, self._failed.error = getattr(self._failed, "error", None), None
        try:
            check(error)
        except Exception as found:
            if failed is not None:
                raise failed from None
            if type(found) is ValueError:
                raise GradientError(*found.args) from None
            raise

    def __len__(self) -> int:
        return len(self._entries)


callbacks = Callbacks()
owners: set[type] = set()  # of programs, whose _handle is one


class MemberDef(ctypes.Structure):
    """Python's PyMemberDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class Slot(ctypes.Structure):
    """Python's PyType_Slot."""

    _fields_ = (("number", ctypes.c_int), ("value", ctypes.c_void_p))


class Spec(ctypes.Structure):
    """Python's PyType_Spec."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(Slot)),
    )


_TRAVERSE, _MEMBERS, _HAVE_GC, _OBJECT = 71, 72, 1 << 14, 16  # Py_tp_traverse, Py_tp_members, flag, T_OBJECT_EX


def link_type() -> Any:
    """The class of links: `items` holds what a tensor holds, and only the library shows it to the collector."""
    entries = _builtin.entries()
    offset = object.__basicsize__
    members = _builtin.forever((MemberDef * 2)(MemberDef(b"items", _OBJECT, offset, 0, None)))
    slots = (Slot * 3)(Slot(_TRAVERSE, entries.traverse), Slot(_MEMBERS, ctypes.addressof(members)))
    size = offset + ctypes.sizeof(ctypes.c_void_p)
    spec = Spec(b"paddle_mps.Link", size, 0, _HAVE_GC, slots)
    _builtin.place_link(offset)
    return _builtin.prototype("PyType_FromSpec", ctypes.py_object, ctypes.POINTER(Spec))(ctypes.byref(spec))


def raise_later(error: BaseException) -> None:
    """Raises an exception of a signal handler in the main thread, which handles signals, when it runs the program again.

    A KeyboardInterrupt comes from another SIGINT, which ends a call that waits, unless the program has a handler of its own.
    """
    main = threading.main_thread().ident
    if isinstance(error, KeyboardInterrupt) and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.pthread_kill(main or 0, _signal.SIGINT)
    else:
        throw = _builtin.prototype("PyThreadState_SetAsyncExc", ctypes.c_int, ctypes.c_ulong, ctypes.py_object)
        throw(main, type(error))


def subclasses(cls: type) -> Iterator[type]:
    """A class, and those that inherit from it."""
    yield cls
    for other in cls.__subclasses__():
        yield from subclasses(other)


class Collection:
    """Gives tensors what they hold for the time of a collection."""

    def __init__(self) -> None:
        entries = _builtin.entries()
        words = ctypes.POINTER(ctypes.c_uint64)
        number, pointer = ctypes.c_uint64, ctypes.c_void_p
        self._held = ctypes.PYFUNCTYPE(words, number, pointer, number, pointer, number)(entries.held)
        self._collected = ctypes.PYFUNCTYPE(None, pointer)(entries.collected)
        self._link = link_type()
        self._caller = ctypes.cast(callbacks.deleter, ctypes.c_void_p).value
        self._answer: Any = None
        self._failed: BaseException | None = None
        self._linked: list[weakref.ref[Any]] = []
        self._entries: list[Entry] = []

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        """For gc.callbacks.

        The collector prints exceptions and goes on. So what a signal handler raises here, such as a KeyboardInterrupt, is
        raised again behind it.
        """
        try:
            if phase == "start" and info["generation"] == 2 and len(callbacks) and not self._answer:
                self.start()
        except BaseException as error:
            self._failed = error
            if not self._answer:
                self._collected(None)  # it may have been on its way
        while phase == "stop" and self._answer:
            try:
                self.stop()
            except BaseException as error:
                self._failed = error
        if phase == "stop" and self._failed is not None:
            failed, self._failed = self._failed, None
            if threading.current_thread() is threading.main_thread():
                _thread.start_new_thread(raise_later, (failed,))

    def start(self) -> None:
        """Gives references."""
        flush()
        kinds = {*subclasses(Base), *owners}
        found = [x for x in gc.get_objects() if type(x) in kinds]
        tensors = [x for x in found if isinstance(x, Base) and hasattr(x, "_handle")]
        programs = [x for x in found if not isinstance(x, Base) and hasattr(x, "_handle")]
        handles = [(ctypes.c_uint64 * len(of))(*[x._handle for x in of]) for of in (tensors, programs)]
        self._answer = answer = self._held(self._caller, handles[0], len(tensors), handles[1], len(programs))
        if not answer:
            return
        count = len(tensors) + len(programs)
        groups: list[list[Any]] = [[] for _ in range(answer[count])]
        at = count + 1
        for group in groups:
            numbers = answer[at + 1 : at + 1 + answer[at]]
            at += 1 + len(numbers)
            for number in numbers:
                entry = callbacks._entries.get(number)
                if entry is not None and entry.kept is not None:
                    group.append(entry.kept)
                    self._entries.append(entry)
            group += [groups[i] for i in answer[at + 1 : at + 1 + answer[at]]]
            at += 1 + answer[at]
        for owner, number in zip(itertools.chain(tensors, programs), answer[:count]):
            if number:
                link = self._link()
                link.items = groups[number - 1]
                self._linked.append(weakref.ref(owner))
                owner._link = link
        for entry in self._entries:  # last: before, an exception would lose what is kept
            entry.kept = None

    def stop(self) -> None:
        """Takes references back. It may be called again after an exception."""
        for entry in self._entries:
            entry.kept = entry.weak()
        for reference in self._linked:
            owner = reference()
            if owner is not None and hasattr(owner, "_link"):
                del owner._link
        answer, self._answer, self._linked, self._entries = self._answer, None, [], []
        self._collected(answer)


def start() -> None:
    """Lets Python's collector see what the library holds, where the interpreter has one that can be told."""
    if _builtin.available() and hasattr(gc, "callbacks"):
        import atexit

        collection = Collection()
        gc.callbacks.append(collection)
        atexit.register(gc.callbacks.remove, collection)


start()
