"""What a kernel may rely on in a pointer that it is given."""

from __future__ import annotations

from typing import Any

from paddle_mps import Tensor
from paddle_mps._kernels._triton import offset_of

ALIGNMENT = 16  # bytes, which Triton's specialisation asks for


def aligned(argument: Any) -> bool:
    """Whether the address of a pointer argument is a multiple of 16. A tensor of ours is not waited for."""
    while not isinstance(argument, Tensor):
        inner = getattr(argument, "base", None)  # of triton.reinterpret, and of tensor descriptors
        if inner is None:
            return int(argument.data_ptr()) % ALIGNMENT == 0  # memory that is copied keeps its offset in the storage
        argument = inner
    return offset_of(argument) % ALIGNMENT == 0
