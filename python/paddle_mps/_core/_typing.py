"""Types that many signatures use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from .._tensor import Tensor as Tensor
    from ._place import Place
else:  # the class is made last, from modules that use its type
    Tensor = Any

Scalar = Union[bool, int, float]
# Whole numbers: one, several, or a tensor of them.
Ints = Union[int, "Sequence[int | Tensor]", "Tensor"]
ShapeLike = Ints
PlaceLike = Union[str, "Place"]
DeviceLike = Union[int, str, "Place"]
# What to_tensor takes: a number, nested lists of numbers, a NumPy array or scalar, a tensor.
Data = Any
# What stands between the brackets of x[...].
Index = Any
