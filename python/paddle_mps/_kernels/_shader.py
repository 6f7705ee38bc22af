"""Kernels of a program's own, in Metal's shading language: `mps.compile_shader`, `mps.load_metallib`."""

from __future__ import annotations

import ctypes
import numbers
import os
import struct
from collections.abc import Callable, Mapping, Sequence
from ctypes import byref, c_char_p, c_void_p
from typing import TYPE_CHECKING, Any, Union

from .._core import _place
from .._core._errors import ShaderError, check
from .._core._library import library
from .._core._objects import Tensor
from .._core._structs import KernelArg, KernelInfo

if TYPE_CHECKING:
    Threads = Union[int, Sequence[int]]
    Casts = Union[str, Mapping[int, str]]

# What arg_casts calls a number, and how `struct` writes it. bfloat16 is the high half of a float32.
CASTS = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "uint64": "Q", "fp16": "e", "fp32": "f", "bf16": "",
}  # fmt: skip


class ShaderLibrary:
    """Compiled source. Its kernels are attributes: `lib.name(...)`; `dir(lib)` lists them."""

    def __init__(self, handle: c_void_p) -> None:
        self._handle = handle
        self._kernels: dict[str, Kernel] = {}
        names = c_void_p()
        check(library.pmps_library_get_names(handle, byref(names)))
        text = ctypes.string_at(names.value or 0).decode()
        library.pmps_text_free(names)
        self._names = text.split("\n") if text else []

    def __del__(self, free: Callable[[c_void_p], None] = library.pmps_library_free) -> None:
        free(self._handle)  # at the end of the interpreter, the names of modules are gone

    def __dir__(self) -> list[str]:
        return list(self._names)

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("_") and name not in self.__dict__.get("_names", ()):
            raise AttributeError(name)
        if name not in self._kernels:
            if name not in self._names:
                raise AttributeError(f"[compile_shader] the library has no kernel {name}; want one of {self._names}")
            handle = c_void_p()
            check(library.pmps_library_get_kernel(self._handle, name.encode(), byref(handle)))
            self._kernels[name] = Kernel(name, handle)
        return self._kernels[name]

    def __repr__(self) -> str:
        return f"<paddle_mps.mps.ShaderLibrary of {', '.join(self._names)}>"


class Kernel:
    """A kernel of a library. Calling it puts it into this thread's stream."""

    def __init__(self, name: str, handle: c_void_p) -> None:
        self._name, self._handle = name, handle
        self._info = KernelInfo(ctypes.sizeof(KernelInfo))
        check(library.pmps_kernel_get_info(handle, byref(self._info)))

    def __del__(self, free: Callable[[c_void_p], None] = library.pmps_kernel_free) -> None:
        free(self._handle)

    @property
    def max_threads_per_threadgroup(self) -> int:
        """How many threads a threadgroup may have."""
        return int(self._info.max_threads_per_threadgroup)

    @property
    def thread_execution_width(self) -> int:
        """How many threads run in step."""
        return int(self._info.thread_execution_width)

    @property
    def static_thread_group_memory_length(self) -> int:
        """Bytes of threadgroup memory that the kernel declares."""
        return int(self._info.static_threadgroup_memory)

    def __call__(
        self,
        *args: Any,
        threads: Threads | None = None,
        group_size: Threads | None = None,
        arg_casts: Casts | None = None,
    ) -> None:
        """Runs the kernel; argument i is what it has at [[buffer(i)]].

        A tensor is seen as it lies in memory, from its first element on: strides are the kernel's business.

        Args:
            args: tensors of the mps device; numbers, and lists of numbers, for what the kernel only
                reads: float is Metal's float, int and bool its long.
            threads: the size of the grid, one to three numbers; None: an element of the first tensor each.
            group_size: the size of a threadgroup, as many numbers as threads has; None: the library's choice.
            arg_casts: the types of numbers, one for all of them or a dict by position: "fp16", "fp32",
                "bf16", "bool", "int8" to "int64", "uint8" to "uint64".

        Raises:
            ValueError: an argument is missing or on another device, or a size does not suit the kernel.
            TypeError: an argument is neither a tensor nor a number, or a number that the kernel writes.
        """
        memory = [None if isinstance(a, Tensor) else self._bytes(i, a, arg_casts) for i, a in enumerate(args)]
        given = (KernelArg * len(args))()
        for one, value, raw in zip(given, args, memory):
            if raw is None:
                one.tensor = value._handle
            else:
                one.data, one.size = ctypes.cast(c_char_p(raw), c_void_p), len(raw)
        grid, group = self._sizes(threads, group_size)
        check(library.pmps_kernel_run(self._handle, given, len(args), grid, group))

    def _bytes(self, position: int, value: Any, casts: Casts | None) -> bytes:
        """A number, or several, as the kernel reads them."""
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        if not values or not all(isinstance(v, numbers.Real) for v in values):
            raise TypeError(
                f"[{self._name}] argument {position} is {value!r}; want a tensor, a number or a list of numbers"
            )
        cast = casts.get(position) if isinstance(casts, Mapping) else casts
        if cast is None:
            cast = "int64" if all(isinstance(v, numbers.Integral) for v in values) else "fp32"
        if cast not in CASTS:
            raise ValueError(f"[{self._name}] arg_casts is {cast!r}; want one of {', '.join(CASTS)}")
        try:
            return b"".join(pack(cast, v) for v in values)
        except (struct.error, OverflowError):
            raise ValueError(
                f"[{self._name}] argument {position} is {value!r}; want numbers that {cast} can hold"
            ) from None

    def _sizes(self, threads: Threads | None, group_size: Threads | None) -> tuple[Any, Any]:
        """Both sizes for the library."""
        grid, axes = self._triple("threads", threads)
        group, group_axes = self._triple("group_size", group_size)
        if group is not None and group_axes != (axes if grid is not None else 1):
            raise ValueError(f"[{self._name}] group_size is {group_size}; want as many numbers as threads has")
        return grid, group

    def _triple(self, what: str, size: Threads | None) -> tuple[Any, int]:
        """One to three numbers as three, and how many they were."""
        if size is None:
            return None, 0
        given: list[Any] = list(size) if isinstance(size, Sequence) else [size]
        if not 1 <= len(given) <= 3 or not all(isinstance(n, numbers.Integral) and 0 <= int(n) < 2**63 for n in given):
            raise ValueError(f"[{self._name}] {what} is {size!r}; want one to three numbers from 0")
        axes = [int(n) for n in given] + [1] * (3 - len(given))
        return (ctypes.c_uint64 * 3)(*axes), len(given)

    def __repr__(self) -> str:
        return f"<paddle_mps.mps.Kernel {self._name}>"


def pack(cast: str, value: Any) -> bytes:
    """A number as bytes of the type that arg_casts names."""
    if cast == "bf16":
        bits: int = struct.unpack("=I", struct.pack("=f", value))[0]
        if value != value:
            return struct.pack("=H", bits >> 16 | 0x40)
        return struct.pack("=H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)  # to nearest, ties to even
    return struct.pack("=" + CASTS[cast], float(value) if cast in ("fp16", "fp32") else value)


def compile_shader(source: str) -> ShaderLibrary:
    """Compiles Metal's shading language; the kernels in it are attributes of the result.

        lib = paddle.mps.compile_shader('''
            kernel void full(device float *out, constant float &value, uint i [[thread_position_in_grid]]) {
                out[i] = value;
            }''')
        x = paddle.zeros([16], place="mps")
        lib.full(x, 3.14)

    The compiler's math is safe: NaN and infinity exist. Source that wants otherwise says so by a pragma.

    Raises:
        ShaderError: it does not compile; a SyntaxError with the line, and a RuntimeError.
        UnsupportedError: the device has no shaders: it is not metal.
    """
    if not isinstance(source, str) or "\0" in source:
        raise TypeError("[compile_shader] source is not a str without zeros; want the text of shaders")
    try:
        return _made(library.pmps_library_new, source.encode())
    except ShaderError as e:
        lines = source.split("\n")
        if e.lineno and e.lineno <= len(lines):
            e.text = lines[e.lineno - 1]
        raise


def load_metallib(source: bytes | bytearray | memoryview | str | os.PathLike[str]) -> ShaderLibrary:
    """Loads a library that Apple's compiler has made before: a .metallib file, or the bytes of one.

    Raises:
        ValueError: it is no library.
        UnsupportedError: the device has no shaders: it is not metal.
    """
    if not isinstance(source, (bytes, bytearray, memoryview)):
        path = os.fsencode(source)
        if b"\0" in path:
            raise ValueError(f"[load_metallib] the path is {source!r}; want one without zeros")
        return _made(library.pmps_library_load, path)
    import tempfile  # most programs compile no shaders

    with tempfile.NamedTemporaryFile(suffix=".metallib") as file:
        file.write(source)
        file.flush()
        return _made(library.pmps_library_load, os.fsencode(file.name))


def _made(function: Any, text: bytes) -> ShaderLibrary:
    handle = c_void_p()
    check(function(byref(_place.mps_place(None).struct), text, byref(handle)))
    return ShaderLibrary(handle)
