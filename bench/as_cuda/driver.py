"""The little of CUDA's driver that runs a compiled kernel, through ctypes: no package is needed."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_int, c_size_t, c_uint, c_void_p
from typing import Any

import numpy as np

COMPUTE_CAPABILITY = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
TYPES = {
    "i1": ctypes.c_bool, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "fp32": ctypes.c_float,
}  # fmt: skip


class Device:
    """GPU 0, in the context that PyTorch uses too."""

    def __init__(self) -> None:
        self._cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = c_int(), c_void_p()
        self.call("cuDeviceGet", byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", byref(context), device)
        self.call("cuCtxSetCurrent", context)
        numbers = []
        for attribute in COMPUTE_CAPABILITY:
            number = c_int()
            self.call("cuDeviceGetAttribute", byref(number), attribute, device)
            numbers.append(number.value)
        self.architecture = "sm_{}{}".format(*numbers)

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function of the driver.

        Raises:
            RuntimeError: it returned an error.
        """
        if code := getattr(self._cuda, name)(*arguments):
            text = ctypes.c_char_p()
            self._cuda.cuGetErrorName(code, byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'?').decode()}")

    def function(self, binary: bytes, name: str) -> c_void_p:
        """A kernel of a .cubin file."""
        module, function = c_void_p(), c_void_p()
        self.call("cuModuleLoadData", byref(module), binary)
        self.call("cuModuleGetFunction", byref(function), module, name.encode())
        return function

    def synchronize(self) -> None:
        self.call("cuCtxSynchronize")


class Memory:
    """A copy of an array on the GPU, whose address is a multiple of 256."""

    def __init__(self, device: Device, data: np.ndarray[Any, Any]) -> None:
        self._device, self._like = device, np.ascontiguousarray(data)
        self.address = c_void_p()
        device.call("cuMemAlloc_v2", byref(self.address), c_size_t(max(data.nbytes, 1)))
        device.call("cuMemcpyHtoD_v2", self.address, self._like.ctypes.data_as(c_void_p), c_size_t(data.nbytes))

    def data_ptr(self) -> int:
        return self.address.value or 0

    def numpy(self) -> np.ndarray[Any, Any]:
        out = np.empty_like(self._like)
        self._device.call("cuMemcpyDtoH_v2", out.ctypes.data_as(c_void_p), self.address, c_size_t(out.nbytes))
        return out

    def free(self) -> None:
        self._device.call("cuMemFree_v2", self.address)


class Launch:
    """A launch of a kernel: its arguments are fixed, so that it costs one call of the driver."""

    def __init__(
        self, device: Device, function: c_void_p, metadata: dict[str, Any], grid: Sequence[int], values: Sequence[Any]
    ) -> None:
        pairs = [(v, p["type"]) for v, p in zip(values, metadata["args"])]
        self._kept: list[Any] = [
            ctypes.c_uint64(v if isinstance(v, int) else v.data_ptr()) if kind.startswith("*") else TYPES[kind](v)
            for v, kind in pairs
        ]
        if metadata.get("packed"):  # numbers are one buffer behind the pointers, eight bytes each
            numbers = b"".join(
                bytes(v).ljust(8, b"\0") for v, (_, k) in zip(self._kept, pairs) if not k.startswith("*")
            )
            self._numbers = Memory(device, np.frombuffer(numbers, np.uint8))
            self._kept = [v for v, (_, kind) in zip(self._kept, pairs) if kind.startswith("*")]
            self._kept.append(ctypes.c_uint64(self._numbers.data_ptr()))
        pointers = (c_void_p * len(self._kept))(*[ctypes.addressof(v) for v in self._kept])
        x, y, z = (*grid, 1, 1)[:3]
        self._call, self._arguments = device.call, (
            "cuLaunchKernel", function, c_uint(x), c_uint(y), c_uint(z), c_uint(metadata["threads"]), c_uint(1), c_uint(1),
            c_uint(0), c_void_p(), pointers, c_void_p(),
        )  # fmt: skip

    def __call__(self) -> None:
        self._call(*self._arguments)
