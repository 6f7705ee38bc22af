"""Triton kernels that were compiled ahead of time, on machines without Triton.

`paddle-mps triton compile` makes a file from Triton IR or from a Python file; `load` reads it:

    kernel = paddle_mps.triton_aot.load("add.metal")
    kernel[(triton_cdiv(n, 1024),)](x, y, out, n)

Tensors are those of `paddle_mps` on an mps device. Constants (tl.constexpr) are fixed in the file and not passed.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence
from typing import Any, Callable

from ._core import _place
from ._core._dtype import DType
from ._core._objects import Tensor, meta
from ._kernels._triton import SCALARS, Program, number, offset_of, unpack

__all__ = ["Kernel", "load"]

# The dtypes whose memory a pointer of Triton's may be: unsigned integers and float8 have the bits of another one.
_POINTEES = {
    "i1": ("bool",), "i8": ("int8", "uint8"), "u8": ("uint8", "int8"), "i16": ("int16",), "u16": ("int16",), "i32": ("int32",),
    "u32": ("int32",), "i64": ("int64",), "u64": ("int64",), "fp16": ("float16",), "bf16": ("bfloat16",), "fp32": ("float32",),
    "fp8e5": ("uint8", "int8"), "fp8e4nv": ("uint8", "int8"),
}  # fmt: skip


class Kernel:
    """A compiled kernel: `kernel[grid](*arguments)` puts a run of it into this thread's stream."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._checked: dict[tuple[Any, ...], bool] = {}

    @property
    def name(self) -> str:
        """The name of the function in Python."""
        return self._program.name

    @property
    def num_warps(self) -> int:
        """SIMD groups of a program."""
        return int(self._program.metadata["num_warps"])

    @property
    def shared(self) -> int:
        """Bytes of threadgroup memory of a program."""
        return int(self._program.metadata["shared"])

    @property
    def signature(self) -> list[tuple[str, str]]:
        """Name and type of each parameter."""
        return [(p["name"], p["type"]) for p in self._program.params]

    def __getitem__(self, grid: int | Sequence[int]) -> Callable[..., None]:
        sizes = [grid] if isinstance(grid, int) else list(grid)
        if not 1 <= len(sizes) <= 3 or not all(isinstance(n, int) and n >= 0 for n in sizes):
            raise ValueError(f"[{self.name}] the grid is {grid!r}; want one to three numbers from 0")
        x, y, z = sizes + [1] * (3 - len(sizes))
        return lambda *arguments: self._program.run(x, y, z, self._check(arguments))

    def _check(self, arguments: tuple[Any, ...]) -> list[Any]:
        """The arguments, held to what the kernel was compiled for."""
        params = self._program.params
        if len(arguments) != len(params):
            names = ", ".join(p["name"] for p in params)
            raise TypeError(f"[{self.name}] got {len(arguments)} arguments; want {len(params)}: {names}")
        return [
            self._pointer(value, p) if p["type"].startswith("*") else self._number(value, p)
            for value, p in zip(arguments, params)
        ]

    def _number(self, value: Any, param: dict[str, Any]) -> Any:
        if not isinstance(value, (bool, int, float)) or (
            isinstance(value, float) and not param["type"].startswith("fp")
        ):
            raise TypeError(
                f"[{self.name}] argument {param['name']} is {value!r}; want a number of type {param['type']}"
            )
        if param["type"] in SCALARS and param.get("divisible", 1) > 1 and value % param["divisible"]:
            raise ValueError(
                f"[{self.name}] argument {param['name']} is {value}; the kernel was compiled for multiples of {param['divisible']}"
            )
        return number(value, param, self.name)

    def _pointer(self, value: Any, param: dict[str, Any]) -> Tensor:
        if not isinstance(value, Tensor):
            raise TypeError(
                f"[{self.name}] argument {param['name']} is {type(value).__name__}; want a tensor of paddle_mps"
            )
        described, pointee = meta(value), param["type"][1:]
        wanted = _POINTEES.get(pointee, (pointee,))
        if _short(described.dtype) not in wanted:
            raise TypeError(
                f"[{self.name}] argument {param['name']} has dtype {_short(described.dtype)}; want {' or '.join(wanted)}"
            )
        if described.place.kind != _place.MPS:
            raise ValueError(
                f"[{self.name}] argument {param['name']} is on {described.place}; want a tensor on an mps device: x.to('mps')"
            )
        align = param.get("divisible", 1)
        if align > 1 and offset_of(value) % align:
            raise ValueError(
                f"[{self.name}] argument {param['name']} begins {offset_of(value)} bytes into its memory; "
                f"the kernel was compiled for addresses that are multiples of {align}"
            )
        return value

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}: {kind}" for name, kind in self.signature)
        return f"<paddle_mps.triton_aot.Kernel {self.name}({parameters}), {self.num_warps} warps>"


def _short(dtype: DType) -> str:
    return f"{dtype}".rpartition(".")[2]


def load(path: str | os.PathLike[str]) -> Kernel:
    """Loads a kernel that `paddle-mps triton compile` has written.

    Raises:
        ValueError: the file is none.
        UnsupportedError: the mps device is emulated: it runs no shaders.
    """
    return Kernel(Program(*unpack(pathlib.Path(path).read_bytes())))
