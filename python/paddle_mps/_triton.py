"""Compiled Triton kernels on the mps device: the file that one is kept in, and its launch.

A file is Metal source whose first line, a comment, has what a launch must know as JSON: see `Program`. Both ways to a
kernel end here, that through Triton's own launcher (package paddle_mps_triton) and that without Triton (`triton_aot`).
"""

from __future__ import annotations

import ctypes
import json
import struct
import warnings
from collections.abc import Sequence
from ctypes import c_void_p
from typing import Any

import numpy as np

from . import _place, _stream
from ._creation import to_tensor
from ._errors import UnsupportedError, exception
from ._library import quick
from ._objects import information, meta
from ._shader import compile_shader
from ._structs import KernelArg
from ._tensor import Tensor

HEAD = "// paddle-mps-triton: "

# How `struct` writes a scalar argument, by Triton's name of its type.
SCALARS = {
    "i1": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u1": "?", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
    "fp16": "e", "fp32": "f",
}  # fmt: skip
ARGUMENT = struct.calcsize("=QQQ")  # bytes of a KernelArg

_run = quick["pmps_kernel_run"]  # without argtypes: what it is called with are ctypes objects
_run.restype = c_void_p


def pack(source: str, metadata: dict[str, Any]) -> bytes:
    """A file of a kernel. Equal input makes equal bytes."""
    return f"{HEAD}{json.dumps(metadata, sort_keys=True, separators=(',', ':'))}\n{source}".encode()


def unpack(file: bytes) -> tuple[str, dict[str, Any]]:
    """Source and metadata of a file.

    Raises:
        ValueError: it is none of a Triton kernel.
    """
    head, _, source = file.decode("utf-8", "replace").partition("\n")
    if not head.startswith(HEAD):
        raise ValueError(f"[triton] the file begins with {head[:40]!r}; want a kernel that paddle-mps has compiled")
    try:
        return source, json.loads(head[len(HEAD) :])
    except ValueError:
        raise ValueError(
            "[triton] the first line of the file is damaged; want a kernel that paddle-mps has compiled"
        ) from None


class Frame:
    """Memory of one call: what the C function gets, at fixed addresses."""

    __slots__ = ("args", "grid", "group", "memory", "scalars")

    def __init__(self, buffers: int, size: int, threads: int) -> None:
        self.memory = ctypes.create_string_buffer(ARGUMENT * (buffers + 1) + 24 + size)
        base = ctypes.addressof(self.memory)
        self.args = c_void_p(base)
        self.grid = c_void_p(base + ARGUMENT * (buffers + 1))
        self.scalars = base + ARGUMENT * (buffers + 1) + 24
        self.group = (ctypes.c_uint64 * 3)(threads, 1, 1)


assert ctypes.sizeof(KernelArg) == ARGUMENT


class Program:
    """A compiled kernel, ready to run.

    Its metadata: `entry`, the name of the kernel in the source; `num_warps`; `shared`, bytes of threadgroup memory; and
    `params`, for each parameter its `name`, its `type` as Triton writes it ("*fp32", "i32") and `align`, the bytes that
    the address of a pointer was promised to be a multiple of. Pointers are buffers 0 and up, in their order. Scalars
    are packed with natural alignment into one buffer behind them.
    """

    def __init__(self, source: str, metadata: dict[str, Any]) -> None:
        self.metadata = metadata
        self.threads = 32 * int(metadata["num_warps"])
        self._library = compile_shader(source)
        kernel = getattr(self._library, metadata["entry"])
        self.name = metadata.get("name", metadata["entry"])
        self.kernel = kernel
        self.max_threads = kernel.max_threads_per_threadgroup
        self._handle = kernel._handle
        params = metadata["params"]
        self.pointers = tuple(i for i, p in enumerate(params) if p["type"].startswith("*"))
        self.numbers = tuple(i for i, p in enumerate(params) if not p["type"].startswith("*"))
        self._layout(params)
        self._frames: list[Frame] = []

    def _layout(self, params: Sequence[dict[str, Any]]) -> None:
        """The format of a frame: an argument for each pointer, that of the scalars, the grid, the scalars."""
        scalars, size = "", 0
        for i in self.numbers:
            code = SCALARS[params[i]["type"]]
            width = struct.calcsize("=" + code)
            gap = -size % width
            scalars += "x" * gap + code
            size += gap + width
        self.size = size
        has = 1 if size else 0
        self.count = ctypes.c_size_t(len(self.pointers) + has)
        middle = "QQQ" if has else f"{ARGUMENT}x"
        self._format = struct.Struct("=" + "Q16x" * len(self.pointers) + middle + "QQQ" + scalars)

    def run(self, x: int, y: int, z: int, values: Sequence[Any]) -> None:
        """Puts a run of x * y * z programs into this thread's stream; values are those of all parameters."""
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = Frame(len(self.pointers), self.size, self.threads)
        scalars = (0, frame.scalars, self.size) if self.size else ()
        try:
            self._format.pack_into(
                frame.memory, 0,
                *[values[i]._handle for i in self.pointers], *scalars, x * self.threads, y, z, *[values[i] for i in self.numbers],
            )  # fmt: skip
        except (AttributeError, TypeError, struct.error):
            self._frames.append(frame)
            self._unusual(x, y, z, values)
            return
        error = _run(self._handle, frame.args, self.count, frame.grid, frame.group)
        self._frames.append(frame)
        if error:
            raise exception(error)

    def _unusual(self, x: int, y: int, z: int, values: Sequence[Any]) -> None:
        """A run with arguments that are not all tensors of the mps device and numbers of their types."""
        params = self.metadata["params"]
        wrapped = [number(v, params[i], self.name) if i in self.numbers else v for i, v in enumerate(values)]
        memory = Borrowed(self.name)
        for i in self.pointers:
            wrapped[i] = memory.tensor(values[i], params[i])
        self.run(x, y, z, wrapped)
        memory.give_back()


def number(value: Any, param: dict[str, Any], kernel: str) -> Any:
    """A scalar argument as struct takes it: what fits the type only as unsigned wraps."""
    kind = param["type"]
    if kind in ("fp32", "fp16"):
        return float(value)
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
                        "tensors of paddle_mps are not (paddle_mps._triton.Borrowed.copies counts)",
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


__all__ = ["Borrowed", "Program", "offset_of", "pack", "unpack"]
