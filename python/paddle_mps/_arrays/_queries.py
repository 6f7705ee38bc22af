"""Questions about a tensor that its description answers."""

from __future__ import annotations

from .._core import _convert
from .._core._objects import Tensor, meta
from ._creation import to_tensor


def _asked(x: Tensor, function: str) -> Tensor:
    """x, which must be a tensor; here a TypeError, as in Paddle."""
    if not isinstance(x, Tensor):
        raise TypeError(f"[{function}] x is {type(x).__name__}; want a Tensor")
    return x


def is_complex(x: Tensor) -> bool:
    """Whether the dtype of x is complex. Raises a TypeError if x is no tensor."""
    return meta(_asked(x, "is_complex")).dtype.is_complex


def is_floating_point(x: Tensor) -> bool:
    """Whether x is float16, bfloat16, float32 or float64. Raises a TypeError if x is no tensor."""
    return meta(_asked(x, "is_floating_point")).dtype.is_floating


def is_integer(x: Tensor) -> bool:
    """Whether x is uint8, int8, int16, int32 or int64; bool is no integer. Raises a TypeError if x is no tensor."""
    return meta(_asked(x, "is_integer")).dtype.is_integer


def is_empty(x: Tensor, name: str | None = None) -> Tensor:
    """A bool tensor of no dimensions, where x is: whether x has no elements.

    Raises:
        ValueError: x is no tensor.
    """
    m = meta(_convert.tensor(x, "is_empty", "x"))
    return to_tensor(m.numel == 0, place=m.place)


class QueryMethods:
    """The methods of a tensor that answer questions of this kind: there are dense tensors on one device only."""

    __slots__ = ()

    is_empty = is_empty
    is_integer = is_integer

    @property
    def is_cuda(self) -> bool:
        """False."""
        return False

    def is_tensor(self) -> bool:
        """True."""
        return True

    def is_dense(self) -> bool:
        """True: there are no sparse tensors."""
        return True

    def is_sparse(self) -> bool:
        """False: there are no sparse tensors."""
        return False

    def is_dist(self) -> bool:
        """False: there are no distributed tensors."""
        return False

    is_sparse_coo = is_sparse_csr = is_selected_rows = is_sparse


__all__ = ["is_complex", "is_empty", "is_floating_point", "is_integer"]
