"""get_flags and set_flags: Paddle's global switches, none of which this package needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core._errors import UnsupportedError

# They choose between ways to the same result, in PaddlePaddle. Any value is kept, and has no effect.
_hints: dict[str, Any] = {
    "FLAGS_allocator_strategy": "auto_growth",
    "FLAGS_benchmark": False,
    "FLAGS_conv_workspace_size_limit": 512,
    "FLAGS_cudnn_batchnorm_spatial_persistent": False,
    "FLAGS_cudnn_exhaustive_search": False,
    "FLAGS_eager_delete_tensor_gb": 0.0,
    "FLAGS_enable_pir_api": True,
    "FLAGS_fraction_of_cpu_memory_to_use": 1.0,
    "FLAGS_fraction_of_gpu_memory_to_use": 0.92,
    "FLAGS_max_inplace_grad_add": 0,
    "FLAGS_use_cinn": False,
    "FLAGS_use_mkldnn": False,
}

# They change what a program computes or reports. These values describe the package, others are refused.
_fixed: dict[str, Any] = {
    "FLAGS_check_nan_inf": False,
    "FLAGS_cudnn_deterministic": True,
    "FLAGS_embedding_deterministic": 1,
    "FLAGS_set_to_1d": False,
    "FLAGS_use_stride_kernel": True,
}


def get_flags(flags: str | Sequence[str]) -> dict[str, Any]:
    """The values of flags by name.

    Args:
        flags: a name such as "FLAGS_check_nan_inf", or a list or tuple of names.

    Raises:
        TypeError: flags is something else.
        ValueError: there is no such flag.
    """
    if not isinstance(flags, (str, list, tuple)):
        raise TypeError(f"[get_flags] flags is {type(flags).__name__}; want a name, a list or a tuple of names")
    names = [flags] if isinstance(flags, str) else flags
    return {name: _table("get_flags", name)[name] for name in names}


def set_flags(flags: dict[str, Any]) -> None:
    """Sets flags, which has no effect here: they tune or trace PaddlePaddle's own kernels.

    Raises:
        TypeError: flags is no dict.
        ValueError: there is no such flag.
        UnsupportedError: the flag asks for something that this package does not do, such as to look for nan.
    """
    if not isinstance(flags, dict):
        raise TypeError(f"[set_flags] flags is {type(flags).__name__}; want a dict of names and values")
    for name, value in flags.items():
        table = _table("set_flags", name)
        if table is _fixed and value != table[name]:
            raise UnsupportedError(f"[set_flags] {name} is {value!r}; want {table[name]!r}, which nothing changes here")
        table[name] = value


def _table(function: str, name: str) -> dict[str, Any]:
    """The table that has a flag."""
    for table in (_hints, _fixed):
        if name in table:
            return table
    raise ValueError(f"[{function}] got {name!r}; want one of {', '.join([*_hints, *_fixed])}")


__all__ = ["get_flags", "set_flags"]
