"""Compiled Triton kernels on the mps device: the file that one is kept in, and its launch.

A file is Metal source whose first line, a comment, has what a launch must know as JSON. Both ways to a
kernel end here, that through Triton's own launcher (package paddle_mps_triton) and that without Triton (`triton_aot`).
"""

from __future__ import annotations

import ctypes
import functools
import json
import operator
import struct
import warnings
from collections.abc import Sequence
from ctypes import c_void_p
from typing import Any

import numpy as np

from .._arrays._creation import to_tensor
from .._core import _place
from .._core._errors import UnsupportedError, exception
from .._core._library import quick
from .._core._objects import Tensor, information, meta
from .._devices import _stream
from ._shader import compile_shader

FORMAT = 1  # of the metadata: `triton_mps`

# How `struct` writes a scalar argument, by Triton's name of its type.
SCALARS = {
    "i1": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u1": "?", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
    "fp16": "e", "fp32": "f",
}  # fmt: skip
FLOATS: dict[str, Any] = {"fp16": np.float16, "fp32": np.float32}
ARGUMENT, GRID, NUMBER = 24, 24, 8  # bytes: of a KernelArg, of the grid, of the room of a scalar
WORDS = ARGUMENT // 8
MOST_PROGRAMS = (1 << 31) - 1  # along an axis of the grid: tl.program_id is an int32
UNUSUAL = (
    AttributeError,
    OverflowError,
    TypeError,
    ValueError,
    struct.error,
)  # of arguments that are no tensors and numbers of their types, and of such a grid

_run = quick["pmps_kernel_run"]  # without argtypes: what it is called with are ctypes objects
_run.restype = c_void_p
_run_reporting = quick["pmps_kernel_run_reporting"]
_run_reporting.restype = c_void_p


def unpack(file: bytes) -> tuple[str, dict[str, Any]]:
    """Source and metadata of a file.

    Raises:
        ValueError: it is none of a Triton kernel, or of a later version of this package.
    """
    source = file.decode("utf-8", "replace")
    head = source.partition("\n")[0]
    try:
        metadata = json.loads(head[len("// ") :]) if head.startswith("// {") else {}
    except ValueError:
        metadata = {}
    if "triton_mps" not in metadata:
        raise ValueError(f"[triton] the file begins with {head[:40]!r}; want a kernel that paddle-mps has compiled")
    if metadata["triton_mps"] != FORMAT:
        raise ValueError(
            f"[triton] the file has format {metadata['triton_mps']}; want {FORMAT}: compile the kernel again"
        )
    missing = [key for key in ("name", "args", "threads", "num_warps", "shared") if key not in metadata]
    if missing:
        raise ValueError(
            f"[triton] the first line of the file has no {missing[0]!r}; want a kernel as paddle-mps has compiled it"
        )
    return source, metadata


class Frame:
    """Memory of one call, at fixed addresses: the arguments as the library takes them, the grid, and the numbers."""

    __slots__ = ("args", "grid", "memory", "words")

    def __init__(self, params: Sequence[dict[str, Any]], packed: bool) -> None:
        sizes = [0 if is_pointer(p) else struct.calcsize("=" + SCALARS[p["type"]]) for p in params]
        numbers = sum(map(bool, sizes))
        if packed:
            sizes = [s for s in sizes if not s] + [NUMBER * max(numbers, 1)]
        self.memory = ctypes.create_string_buffer(ARGUMENT * len(sizes) + GRID + NUMBER * max(numbers, 1))
        base = ctypes.addressof(self.memory)
        self.args, self.grid = c_void_p(base), c_void_p(base + ARGUMENT * len(sizes))
        # Three words an argument: the handle of a tensor, or the address and the size of a number. A call sets handles.
        self.words = memoryview(self.memory).cast("B").cast("Q")
        address = base + ARGUMENT * len(sizes) + GRID
        for i, size in enumerate(sizes):
            if size:
                self.words[WORDS * i + 1] = address
                self.words[WORDS * i + 2] = size
                address += NUMBER


def is_pointer(param: dict[str, Any]) -> bool:
    """Whether a parameter is a pointer: a tensor."""
    return bool(param["type"].startswith("*"))


class Program:
    """A compiled kernel, ready to run: tritonlang/doc.go has its metadata and how it is launched.

    Argument i is [[buffer(i)]]: a pointer is a tensor, a scalar its own bytes. Where there are more arguments than buffers,
    the metadata says "packed": numbers are one buffer behind the pointers. A program of Triton's grid is a threadgroup.
    """

    def __init__(self, source: str, metadata: dict[str, Any]) -> None:
        self.metadata = metadata
        self.name: str = metadata["name"]
        self.params: list[dict[str, Any]] = metadata["args"]
        self.threads = int(metadata["threads"])
        self._library = compile_shader(source)
        self.kernel = getattr(self._library, self.name)
        self.max_threads = self.kernel.max_threads_per_threadgroup
        self._packed = bool(metadata.get("packed"))
        pointers = [i for i, p in enumerate(self.params) if is_pointer(p)]
        buffers = len(pointers) + 1 if self._packed else len(self.params)
        reports = metadata.get("reports")  # of a kernel that prints or asserts
        handle, count, group = (
            self.kernel._handle,
            ctypes.c_size_t(buffers),
            (ctypes.c_uint64 * 3)(self.threads, 1, 1),
        )
        text = ctypes.c_char_p(json.dumps(reports).encode()) if reports else None
        # What a call takes beside its frame: arguments and grid stand between.
        self.start = functools.partial(_run_reporting if reports else _run, handle)
        self.rest = (group, text) if reports else (group,)
        self.count = count
        self._numbers = [i for i, p in enumerate(self.params) if not is_pointer(p)]
        self._pointers = [(WORDS * (n if self._packed else i), i) for n, i in enumerate(pointers)]
        layout = struct.Struct(self._layout())
        self.pack = layout.pack_into
        self.at = ARGUMENT * buffers  # where the grid is in a frame, and numbers behind it
        self._frames: list[Frame] = []  # a thread takes one for the time of a call
        self.pop, self.push = self._frames.pop, self._frames.append

    def _layout(self) -> str:
        """The format of the grid and of numbers, 8 bytes each."""
        numbers = ""
        for p in self.params:
            if is_pointer(p):
                continue
            if p["type"] not in SCALARS:
                raise UnsupportedError(
                    f"[{self.name}] argument {p['name']} is of type {p['type']}; want one of {', '.join(SCALARS)}"
                )
            numbers += f"{SCALARS[p['type']]}{NUMBER - struct.calcsize('=' + SCALARS[p['type']])}x"
        return f"=QQQ{numbers}"

    def frame(self) -> Frame:
        """Memory for one more call at a time."""
        return Frame(self.params, self._packed)

    def run(self, x: int, y: int, z: int, values: Sequence[Any]) -> None:
        """Puts a run of x * y * z programs into this thread's stream; values are those of all parameters."""
        try:
            frame = self.pop()
        except IndexError:
            frame = self.frame()
        words = frame.words
        try:
            for at, i in self._pointers:
                words[at] = values[i]._handle
            self.pack(frame.memory, self.at, x * self.threads, y, z, *[values[i] for i in self._numbers])
        except UNUSUAL:
            self.push(frame)
            self.unusual(x, y, z, values)
            return
        error = self.start(frame.args, self.count, frame.grid, *self.rest)
        self.push(frame)
        if error:
            raise exception(error)

    def unusual(self, x: int, y: int, z: int, values: Sequence[Any]) -> None:
        """A run with arguments that are not all tensors of the mps device and numbers of their types.

        Raises:
            TypeError: an argument, or a size of the grid, is of another type.
            ValueError: the grid has a size, or an argument a value, that is out of range.
        """
        if not all(0 <= operator.index(n) <= MOST_PROGRAMS for n in (x, y, z)):
            raise ValueError(f"[{self.name}] the grid is {(x, y, z)}; want numbers from 0 to {MOST_PROGRAMS}")
        memory = Borrowed(self.name)
        usual = [memory.tensor(v, p) if is_pointer(p) else number(v, p, self.name) for v, p in zip(values, self.params)]
        self.run(x, y, z, usual)
        memory.give_back()


def number(value: Any, param: dict[str, Any], kernel: str) -> Any:
    """A scalar argument as struct takes it: what fits the type only as unsigned wraps, and a large float is infinite."""
    kind = param["type"]
    if kind in FLOATS:
        with np.errstate(over="ignore"):
            return float(FLOATS[kind](value))
    if kind not in SCALARS:
        raise UnsupportedError(
            f"[{kernel}] argument {param['name']} is of type {kind}; want one of {', '.join(SCALARS)}"
        )
    bits = int(kind[1:])
    if bits == 1:
        return bool(value)
    value = int(value)
    if not -(1 << bits - 1) <= value < 1 << bits:
        raise ValueError(f"[{kernel}] argument {param['name']} is {value}; want a number that {kind} can hold")
    low = 0 if kind[0] == "u" else -(1 << bits - 1)
    return (value - low) % (1 << bits) + low


class Borrowed:
    """Memory of other packages' tensors for one launch: shared where whole pages allow, else copied in and back out.

    Such tensors are read by their owner without a word to us, so the launch is waited for.
    """

    copies = 0  # of all launches so far
    _warned = False

    def __init__(self, kernel: str) -> None:
        self._kernel = kernel
        self._memory: dict[int, tuple[Any, np.ndarray[Any, Any], bool]] = {}  # by address

    def tensor(self, value: Any, param: dict[str, Any]) -> Any:
        """What the launch gets for an argument."""
        while hasattr(value, "base") and not hasattr(value, "_handle"):
            value = value.base  # triton.reinterpret
        if isinstance(value, Tensor):
            if meta(value).place.kind != _place.MPS:
                raise ValueError(
                    f"[{self._kernel}] argument {param['name']} is on {meta(value).place}; want a tensor on an mps device: x.to('mps')"
                )
            return value
        if value is None or not hasattr(value, "data_ptr"):
            raise TypeError(
                f"[{self._kernel}] argument {param['name']} is {type(value).__name__}; want a tensor on an mps device"
            )
        device = str(getattr(value, "device", "cpu"))
        if device != "cpu":
            raise UnsupportedError(
                f"[{self._kernel}] argument {param['name']} is a tensor on {device}; want one of paddle_mps, or on the CPU"
            )
        storage = value.untyped_storage() if hasattr(value, "untyped_storage") else value
        start, size = storage.data_ptr(), int(storage.nbytes() if callable(storage.nbytes) else storage.nbytes)
        whole = self._whole(start, size)
        offset = value.data_ptr() - start
        return whole[offset:] if offset else whole

    def _whole(self, start: int, size: int) -> Any:
        if start not in self._memory:
            array = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(start))
            try:
                shared = to_tensor(array, place="mps", zero_copy=True)
                self._memory[start] = shared, array, True
            except UnsupportedError:
                self._memory[start] = to_tensor(array, place="mps"), array, False
                Borrowed.copies += 1
                if not Borrowed._warned:
                    Borrowed._warned = True
                    warnings.warn(
                        f"[{self._kernel}] tensors on the CPU are copied to the GPU and back at each launch; "
                        "tensors of paddle_mps are not (paddle_mps._kernels._triton.Borrowed.copies counts)",
                        stacklevel=5,
                    )
        return self._memory[start][0]

    def give_back(self) -> None:
        """Waits for the launch, and copies out what was copied in."""
        for tensor, array, shared in self._memory.values():
            if not shared:
                array[:] = tensor.numpy()
        if self._memory:
            _stream.synchronize(_place.mps_place(None))


_offsets: dict[int, int] = {}  # bytes from the storage to the first element, by handle: handles are not used again


def offset_of(x: Tensor) -> int:
    """Bytes from the start of the storage, which is aligned to 256, to the first element. It waits for nothing."""
    handle = x._handle
    found = _offsets.get(handle)
    if found is None:
        if len(_offsets) > 1 << 14:
            _offsets.clear()
        info = information(handle)
        found = _offsets[handle] = info.offset * int(quick.pmps_dtype_size(info.dtype))
    return found


__all__ = ["Borrowed", "Program", "offset_of", "unpack"]
