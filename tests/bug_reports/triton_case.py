"""What the programs about Triton kernels have in common, beside case.py. They need the package triton and a Metal device."""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("PADDLE_MPS_DEVICE", "metal")
os.environ.setdefault("PADDLE_MPS_TRITON", "1")

import numpy as np
from case import bad, check, finish, same, without

import paddle_mps as paddle

try:
    import triton
    import triton.language as tl
except ImportError:
    without("triton")


def dev(array: Any) -> paddle.Tensor:
    """A tensor of the GPU."""
    return paddle.to_tensor(np.ascontiguousarray(array), place="mps")


def zeros(shape: Any, dtype: str = "float32") -> paddle.Tensor:
    """Zeros on the GPU."""
    return dev(np.zeros(shape, dtype))


__all__ = ["bad", "check", "dev", "finish", "same", "tl", "triton", "zeros"]
