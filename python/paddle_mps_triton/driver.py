"""The driver that Triton discovers: it selects the device and launches compiled kernels on it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from . import _options


class Utilities:
    """What Triton asks of a device when a kernel is loaded."""

    def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> tuple[Any, Any, int, int, int]:
        """The pipeline of a compiled kernel: module, function, registers, spills, threads of a threadgroup at most."""
        from . import _launch

        program = _launch.program(kernel)
        return program, program, 32, 0, program.max_threads

    def unload_module(self, module: Any) -> None:
        """The pipeline is freed with the last reference to it."""

    def get_device_properties(self, device: int) -> dict[str, int]:
        """What tuning code reads. Registers and clocks are not published by Apple: stated as round numbers."""
        return {
            "max_shared_mem": _options.defaults.get("shared_memory", _options.MAX_SHARED),
            "multiprocessor_count": cores(),
            "max_num_regs": 65536,
            "warpSize": _options.WARP,
            "sm_clock_rate": 1_000_000,
            "mem_clock_rate": 1_000_000,
            "mem_bus_width": 128,
        }


def cores() -> int:
    """GPU cores, as far as paddle-mps knows them; 8, the least of all Apple silicon, otherwise."""
    import paddle_mps

    try:
        return int(getattr(paddle_mps.mps.get_device_properties(), "multi_processor_count", 0)) or 8
    except RuntimeError:
        return 8


class Pool(Mapping[str, int]):
    """Memory of the mps device, as memory_pool() gives it: a mapping, whose keys are attributes too. It says what is now."""

    _KEYS = ("current_allocated", "max_allocated")

    def __getitem__(self, name: str) -> int:
        if name not in self._KEYS:
            raise KeyError(f"[memory_pool] got {name!r}; want one of {list(self._KEYS)}")
        return int(getattr(self, name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._KEYS)

    def __len__(self) -> int:
        return len(self._KEYS)

    def __repr__(self) -> str:
        return repr(dict(self))

    @property
    def current_allocated(self) -> int:
        """Bytes of live tensors."""
        import paddle_mps

        return int(paddle_mps.mps.memory_allocated())

    @property
    def max_allocated(self) -> int:
        """The most bytes that live tensors had."""
        import paddle_mps

        return int(paddle_mps.mps.max_memory_allocated())


class MPSDriver(DriverBase):
    """Runs kernels on the mps device of paddle-mps."""

    def __init__(self) -> None:
        self.utils = Utilities()

    @property
    def launcher_cls(self) -> Any:
        """Called with a source and its metadata, it gives what launches the kernel."""
        from . import _launch

        return _launch.launcher

    @classmethod
    def is_active(cls) -> bool:
        """On a Mac with Apple silicon, unless PADDLE_MPS_TRITON is 0; elsewhere where it is 1."""
        wanted = os.environ.get("PADDLE_MPS_TRITON", "")
        return wanted == "1" or (wanted != "0" and sys.platform == "darwin" and os.uname().machine == "arm64")

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The type of an argument in Metal."""
        types = {"i1": "bool", "i8": "char", "i16": "short", "i32": "int", "i64": "long", "u1": "bool", "u8": "uchar"}
        types |= {"u16": "ushort", "u32": "uint", "u64": "ulong", "fp16": "half", "bf16": "bfloat", "fp32": "float"}
        return "device void *" if ty.startswith("*") else types[ty]

    def get_current_target(self) -> GPUTarget:
        return GPUTarget(_options.TARGET, "metal", _options.WARP)

    def get_current_device(self) -> int:
        """Apple machines have one GPU."""
        return 0

    def set_current_device(self, device: int) -> None:
        """There is no other one."""

    def get_current_stream(self, device: int) -> int:
        """Launches go to the stream of the thread, which the library knows."""
        return 0

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")  # whose memory kernels take

    def get_device_interface(self) -> Any:
        """Events and synchronize, as triton.testing wants them."""
        import paddle_mps

        return paddle_mps.mps

    def get_benchmarker(self) -> Callable[..., Sequence[float]]:
        from . import _bench

        return _bench.benchmark

    def get_empty_cache_for_benchmark(self) -> Any:
        """Memory larger than the caches, to be cleared between two runs."""
        import paddle_mps

        return paddle_mps.empty([16 << 20], dtype="int32", place="mps")

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()

    @staticmethod
    def set_kernel_config(
        num_warps: int | None = None,
        num_stages: int | None = None,
        max_threads: int | None = None,
        shared_memory: int | None = None,
    ) -> None:
        """Sets what a launch that does not say otherwise has, and the limits of all kernels compiled from now on.

        Args:
            num_warps: SIMD groups of a program, a power of 2 up to 32.
            num_stages: accepted; loads are not pipelined.
            max_threads: threads of a program at most; beyond, OutOfResources.
            shared_memory: bytes of threadgroup memory at most; beyond, OutOfResources.

        Raises:
            ValueError: a value is beyond what the hardware has.
        """
        _options.configure(
            num_warps=num_warps, num_stages=num_stages, max_threads=max_threads, shared_memory=shared_memory
        )

    @staticmethod
    def memory_pool() -> Pool:
        """Memory of the mps device: current_allocated and max_allocated, in bytes."""
        return Pool()


class _Announce:
    """Makes `triton.runtime.driver.MPSDriver` exist right after `import triton`.

    `triton.runtime.driver` is an object of a class that is made after the plug-ins are imported. At the first import of
    a module of Triton behind that the attribute is set, and this is done.
    """

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> None:
        made = sys.modules.get("triton.runtime.driver")
        config = getattr(made, "DriverConfig", None)
        if config is None:
            return
        config.MPSDriver = MPSDriver
        if self in sys.meta_path:
            sys.meta_path.remove(self)


_finder = _Announce()
sys.meta_path.insert(0, _finder)
_finder.find_spec("")
