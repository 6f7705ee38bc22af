"""Memory: statistics, limits, history and snapshots.

Names, units and keys are those of torch.cuda.memory, where they apply to a single pool. Functions
take the device that they are about as in `_device`; 'cpu' is allowed too, and means the CPU's memory.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from collections.abc import Mapping
from ctypes import byref
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Callable

from .._core import _place
from .._core._builtin import forever
from .._core._errors import check
from .._core._library import ReclaimCallback, StackCallback, library, when_loaded
from .._core._objects import collect, flush
from .._core._place import Place, mps_place
from .._core._structs import MemoryStats, Stat
from ._device import get_device_properties, is_available

if TYPE_CHECKING:
    from .._core._typing import DeviceLike


def counted(device: DeviceLike | None) -> Place | None:
    """The place whose memory is meant: an mps device, or by name the CPU; None: there is no mps device."""
    if device is not None and not isinstance(device, int) and _place.place(device).kind == _place.CPU:
        return _place.place(device)
    place = mps_place(device)
    return place if is_available() else None


def ask(device: DeviceLike | None) -> MemoryStats | None:
    """The memory statistics of a device, None where there is no mps device at all."""
    place = counted(device)
    if place is None:
        return None
    flush()
    found = MemoryStats()
    found.struct_size = ctypes.sizeof(MemoryStats)
    check(library.pmps_memory_get_stats(byref(place.struct), byref(found)))
    return found


def figure(device: DeviceLike | None, stat: str, field: str) -> int:
    found = ask(device)
    return 0 if found is None else int(getattr(getattr(found, stat), field))


def memory_allocated(device: DeviceLike | None = None) -> int:
    """Bytes that live tensors of an mps device hold; with device="cpu", those of the CPU."""
    return figure(device, "allocated_bytes", "current")


def max_memory_allocated(device: DeviceLike | None = None) -> int:
    """The largest value of `memory_allocated` so far, or since it was reset."""
    return figure(device, "allocated_bytes", "peak")


def memory_reserved(device: DeviceLike | None = None) -> int:
    """Bytes that an mps device has taken from the system, for tensors and for reuse."""
    return figure(device, "reserved_bytes", "current")


def max_memory_reserved(device: DeviceLike | None = None) -> int:
    """The largest value of `memory_reserved` so far, or since it was reset."""
    return figure(device, "reserved_bytes", "peak")


current_allocated_memory = memory_allocated
driver_allocated_memory = memory_reserved


def reset_peak_memory_stats(device: DeviceLike | None = None) -> None:
    """Makes the peaks of a device the current values."""
    flush()
    place = counted(device)
    if place is not None:
        check(library.pmps_memory_reset_peak(byref(place.struct)))


# The library keeps all peaks together, so either name resets both.
reset_max_memory_allocated = reset_peak_memory_stats
reset_max_memory_reserved = reset_peak_memory_stats


def reset_accumulated_memory_stats(device: DeviceLike | None = None) -> None:
    """Sets the sums ("allocated", "freed") of a device, and its counts of retries, OOMs and programs, to 0."""
    flush()
    place = counted(device)
    if place is not None:
        check(library.pmps_memory_reset_accumulated(byref(place.struct)))


def memory_stats_as_nested_dict(device: DeviceLike | None = None) -> dict[str, Any]:
    """`memory_stats` as nested dictionaries: {"allocated_bytes": {"all": {"current": ...}}}."""
    found = ask(device)
    result: dict[str, Any] = {}
    for name in [f[0] for f in MemoryStats._fields_ if f[0] != "struct_size"] if found else []:
        value = getattr(found, name)
        if isinstance(value, ctypes.Structure):
            fields = {f[0]: getattr(value, f[0]) for f in value._fields_}
            value = {"all": fields} if isinstance(value, Stat) else fields
        result[name] = value
    return result


def memory_stats(device: DeviceLike | None = None) -> dict[str, int]:
    """All memory statistics by names like torch's, in order; empty without an mps device.

    Each of allocated_bytes, active_bytes, reserved_bytes, requested_bytes, inactive_split_bytes (in
    bytes) and allocation, active, segment, inactive_split (numbers of blocks and heaps) has ".all.current",
    ".all.peak", ".all.allocated" and ".all.freed"; "all" is the one pool there is. Beside them
    num_alloc_retries, num_ooms, limit_bytes, the bytes that the device may reserve, and available_bytes,
    those it may still: places on one memory share the machine's.

    Compiled programs have program_cache.entries and .bytes, .hits and .misses (calls that found their
    program, and those that had to wait for a compiler), .evictions and .cleared (entries that made room
    for others, and those that `empty_cache` took), .compilations, .failures and .compile_ns.

    refused_shaders and refused_graphs count what Metal and MPSGraph did not compile; second_way_steps
    are the steps that ran on the GPU all the same, by another kernel.

    Where PADDLE_MPS_CACHE_DIR names a folder, stored_graphs.hits and .misses are graphs of MPSGraph that
    were loaded from it, and those that were not there; .writes and .dropped those added, and those removed
    because they were damaged or could not be loaded; .bytes what the folder holds.
    """
    flat: dict[str, int] = {}

    def add(prefix: str, value: Mapping[str, Any] | int) -> None:
        if isinstance(value, int):
            flat[prefix] = value
        else:
            for key, inner in value.items():
                add(f"{prefix}.{key}" if prefix else key, inner)

    add("", memory_stats_as_nested_dict(device))
    return dict(sorted(flat.items()))


def mem_get_info(device: DeviceLike | None = None) -> tuple[int, int]:
    """(free, total) bytes of an mps device, as this process may use them.

    Raises:
        DeviceError: the machine has no such device.
    """
    properties = get_device_properties(device)
    found = ask(device)
    return properties.total_memory if found is None else found.available_bytes, properties.total_memory


def recommended_max_memory(device: DeviceLike | None = None) -> int:
    """Bytes that one process should not exceed on an mps device; 0 without one."""
    return get_device_properties(device).recommended_memory if is_available() else 0


def empty_cache(device: DeviceLike | None = None) -> None:
    """Frees the cached memory and the compiled programs of a device; what Metal has refused is compiled again."""
    collect()
    place = counted(device)
    if place is not None:
        check(library.pmps_memory_empty_cache(byref(place.struct)))


def set_per_process_memory_fraction(fraction: float, device: DeviceLike | None = None) -> None:
    """Limits what an mps device may reserve.

    Args:
        fraction: of `recommended_max_memory`, from 0 to 2. 0 stands for as much as the machine allows.
            A limit above 95 % of the machine's memory is refused.
        device: an mps device; None: the current one.

    Raises:
        TypeError: fraction is no number.
        ValueError: fraction is below 0 or above 2.
        DeviceError: the machine has no such device.
    """
    if isinstance(fraction, bool) or not isinstance(fraction, (int, float)):
        raise TypeError(f"[set_per_process_memory_fraction] fraction is {fraction!r}; want a number from 0 to 2")
    if not 0 <= fraction <= 2:
        raise ValueError(f"[set_per_process_memory_fraction] fraction is {fraction}; want 0 to 2")
    place = mps_place(device)
    properties = get_device_properties(device)
    most = properties.total_memory // 100 * 95
    limit = most if fraction == 0 else min(int(properties.recommended_memory * fraction), most)
    check(library.pmps_memory_set_limit(byref(place.struct), max(limit, 1)))


def get_per_process_memory_fraction(device: DeviceLike | None = None) -> float:
    """What an mps device may reserve, as a fraction of `recommended_max_memory`."""
    found = ask(device)
    recommended = get_device_properties(device).recommended_memory
    return 0.0 if found is None else float(found.limit_bytes) / recommended


def reclaim(need: int, user: object) -> bool:
    """Frees unreachable tensors when the library has no memory left; returns whether there were any."""
    before = library.pmps_live_handles()
    collect()
    return bool(library.pmps_live_handles() < before)


_reclaim = forever(ReclaimCallback(reclaim))  # the library keeps its address
when_loaded(lambda: library.pmps_memory_on_pressure(_reclaim, None))


class Stacks:
    """The call stacks that allocations came from, each under a number from 1 on.

    A stack is kept as pairs of code and line, which cost little to take; it becomes text on
    request. Equal stacks have one number. When there are too many, further ones have none.
    """

    MOST = 1 << 16
    DEEPEST = 64
    _HERE = os.path.dirname(os.path.dirname(__file__)) + os.sep  # the folder of the package

    def __init__(self) -> None:
        self._numbers: dict[tuple[tuple[CodeType, int], ...], int] = {}
        self.callback = forever(StackCallback(self.take))  # a call under way may still use it

    def take(self, user: object) -> int:
        """The number of the stack that has called into the package."""
        frame: FrameType | None = sys._getframe().f_back  # None in a thread that is not Python's
        while frame is not None and frame.f_code.co_filename.startswith(self._HERE):
            frame = frame.f_back
        stack: list[tuple[CodeType, int]] = []
        while frame is not None and len(stack) < self.DEEPEST:
            stack.append((frame.f_code, frame.f_lineno))
            frame = frame.f_back
        if not stack:
            return 0
        key = tuple(stack)
        number = self._numbers.get(key)
        if number is None:
            if len(self._numbers) >= self.MOST:
                return 0
            number = self._numbers[key] = len(self._numbers) + 1
        return number

    def frames(self) -> list[list[dict[str, Any]]]:
        """All stacks in the order of their numbers, the innermost frame first."""
        return [
            [{"filename": code.co_filename, "line": line, "name": code.co_name} for code, line in stack]
            for stack in list(self._numbers)
        ]


_stacks: Stacks | None = None
_recorded: list[Place] = []  # places whose allocations call _stacks


def record_memory_history(
    enabled: str | None = "all",
    context: str | None = "all",
    stacks: str = "python",
    max_entries: int = 100_000,
    device: DeviceLike | None = None,
) -> None:
    """Records the events of a device's memory, with the Python stacks of allocations.

    Args:
        enabled: None ends the recording; "all" records; "state" records no more than a map of the memory
            needs, which here is the same.
        context: None records no stacks; "alloc", "state" and "all" those of allocations. Frees have
            none: a tensor's last user need not be who frees it.
        stacks: "python", the only kind.
        max_entries: how many of the latest events to keep, 1 to 2**24.
        device: an mps device, or 'cpu'; None: the current mps device.

    Raises:
        ValueError: an argument is none of these.
        DeviceError: the machine has no such device.
    """
    global _stacks
    if enabled not in (None, "state", "all") or context not in (None, "state", "alloc", "all"):
        raise ValueError(
            f"[record_memory_history] enabled is {enabled!r} and context {context!r}; "
            "want None, 'state', 'all', and 'alloc' as a context"
        )
    if stacks not in ("python", "all"):
        raise ValueError(f"[record_memory_history] stacks is {stacks!r}; want 'python'")
    if enabled is not None and not 1 <= max_entries <= 1 << 24:
        raise ValueError(f"[record_memory_history] max_entries is {max_entries}; want 1 to {1 << 24}")
    place = counted(device)
    if place is None:
        place = mps_place(device)  # the call below says why there is none
    if enabled is None:
        check(library.pmps_memory_record_history(byref(place.struct), 0, StackCallback(), None))
        return
    if _stacks is None:
        _stacks = Stacks()
    callback = StackCallback() if context is None else _stacks.callback
    _recorded.append(place)
    check(library.pmps_memory_record_history(byref(place.struct), max_entries, callback, None))


_on_pressure: list[Callable[[int | None, int | None], None]] = []  # one function, once the library is loaded
when_loaded(
    lambda: _on_pressure.append(
        ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(
            ctypes.cast(library.pmps_memory_on_pressure, ctypes.c_void_p).value or 0
        )
    )
)


@atexit.register
def _disconnect() -> None:
    """Removes the callbacks before the interpreter ends: the library stays, and a program in C that embeds Python
    may allocate later.

    A sub-interpreter may end with the process, when a thread that has given its lock away never gets it back: the
    first call keeps the lock.
    """
    for disconnect in _on_pressure:
        disconnect(None, None)
    for place in _recorded:
        library.pmps_error_free(library.pmps_memory_record_history(byref(place.struct), 0, StackCallback(), None))


def _snapshot(device: DeviceLike | None) -> dict[str, Any]:
    """The library's snapshot with stacks as numbers, and the stacks."""
    import json  # as below, at the first snapshot

    place = counted(device) or mps_place(device)
    flush()
    text = ctypes.c_void_p()
    check(library.pmps_memory_snapshot(byref(place.struct), byref(text)))
    try:
        found: dict[str, Any] = json.loads(ctypes.string_at(text.value or 0))
    finally:
        library.pmps_text_free(text)
    found["stacks"] = [] if _stacks is None else _stacks.frames()
    return found


def memory_snapshot(device: DeviceLike | None = None) -> list[dict[str, Any]]:
    """The memory of a device: its heaps ("segments") and the blocks in them, in the order of addresses.

    Each segment has id, address, total_size, allocated_size, active_size, requested_size and blocks; a
    block has address, size, requested_size, state ("active_allocated", "active_pending_free" or
    "inactive") and frames, the stack that it was allocated from if one was recorded. Sizes of blocks
    add up to `memory_reserved`, those of allocated ones to `memory_allocated`.

    Raises:
        DeviceError: the machine has no such device.
    """
    found = _snapshot(device)
    for segment in found["segments"]:
        for block in segment["blocks"]:
            number = block.pop("stack", 0)
            block["frames"] = found["stacks"][number - 1] if number else []
    segments: list[dict[str, Any]] = found["segments"]
    return segments


def dump_snapshot(filename: str = "dump_snapshot.json", device: DeviceLike | None = None) -> None:
    """Writes a device's memory and its history to a file for `paddle-mps memory-viz`.

    Raises:
        OSError: the file cannot be written.
        DeviceError: the machine has no such device.
    """
    import json

    found = _snapshot(device)
    with open(filename, "w", encoding="utf-8") as file:
        json.dump(found, file)


_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def _size(n: float) -> str:
    """A number of bytes as text of at most 8 characters."""
    for unit in _UNITS:
        if abs(n) < 1024 or unit == _UNITS[-1]:
            return f"{n:.0f} {unit}" if unit == "B" or abs(n) >= 1000 else f"{n:.4g} {unit}"
        n /= 1024
    raise AssertionError


_ROWS = (
    ("Allocated memory", "allocated_bytes", True),
    ("Active memory", "active_bytes", True),
    ("Requested memory", "requested_bytes", True),
    ("Reserved memory", "reserved_bytes", True),
    ("Non-releasable memory", "inactive_split_bytes", True),
    ("Allocations", "allocation", False),
    ("Active allocations", "active", False),
    ("Heaps", "segment", False),
    ("Non-releasable blocks", "inactive_split", False),
)
_BRIEF = ("allocated_bytes", "reserved_bytes", "allocation", "segment")


def memory_summary(device: DeviceLike | None = None, abbreviated: bool = False) -> str:
    """The memory statistics of a device as a table to print.

    Args:
        device: an mps device, or 'cpu'; None: the current mps device.
        abbreviated: only the lines of allocated and reserved memory, and nothing of compiled programs.
    """
    stats = memory_stats(device)
    name = "no mps device" if not stats else _place.device_name(counted(device) or mps_place(device))
    width = 75
    ooms, retries, limit = (stats.get(key, 0) for key in ("num_ooms", "num_alloc_retries", "limit_bytes"))
    failures = f"OOMs: {ooms}   |   retries: {retries}   |   limit: {_size(limit)}"
    line = "|" + "=" * width + "|"
    rows = [
        line,
        f"|{f'paddle_mps memory of {name}':^{width}}|",
        f"|{failures:^{width}}|",
        line,
        f"| {'Metric':<22}|{'Current':^12}|{'Peak':^12}|{'Total':^12}|{'Freed':^12}|",
        "|" + "-" * width + "|",
    ]
    for title, key, is_bytes in _ROWS:
        if abbreviated and key not in _BRIEF:
            continue
        values = [stats.get(f"{key}.all.{part}", 0) for part in ("current", "peak", "allocated", "freed")]
        cells = [_size(v) if is_bytes else str(v) for v in values]
        rows.append(f"| {title:<22}|" + "|".join(f"{c:>11} " for c in cells) + "|")
    if not abbreviated:
        rows += _programs(stats, line)
    return "\n".join([*rows, line])


def _programs(stats: Mapping[str, int], line: str) -> list[str]:
    """The lines of `memory_summary` about compiled programs."""
    entries, held, hits, misses, evicted, ns = (
        stats.get(f"program_cache.{part}", 0)
        for part in ("entries", "bytes", "hits", "misses", "evictions", "compile_ns")
    )
    cells = [str(hits), str(misses), str(evicted), f"{ns / 1e9:.4f} s"]
    return [
        line,
        f"| {'Compiled programs':<22}|{'Hits':^12}|{'Misses':^12}|{'Evicted':^12}|{'Compiling':^12}|",
        "|" + "-" * (len(line) - 2) + "|",
        f"| {f'{entries}, {_size(held)}':<22}|" + "|".join(f"{c:>11} " for c in cells) + "|",
    ]
