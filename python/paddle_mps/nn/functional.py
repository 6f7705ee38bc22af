"""paddle.nn.functional: activation functions, layers, convolutions, pools and losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _operators
from .._call import into, renamed
from .._convert import REQUIRED, chosen, tensor
from .._inplace import in_place
from .._objects import Tensor
from .._ops import tanh, tanh_
from . import (
    _activation,
    _attention,
    _classification,
    _conv,
    _dropout,
    _embedding,
    _generated,
    _hierarchy,
    _layout,
    _losses,
    _margins,
    _mixing,
    _normalization,
    _patches,
    _pool,
    _resize,
    _sequences,
    _similarity,
    _transducer,
)
from ._activation import *  # noqa: F403
from ._attention import *  # noqa: F403
from ._classification import *  # noqa: F403
from ._conv import *  # noqa: F403
from ._dropout import *  # noqa: F403
from ._embedding import *  # noqa: F403
from ._generated import *  # noqa: F403
from ._hierarchy import *  # noqa: F403
from ._layout import *  # noqa: F403
from ._losses import *  # noqa: F403
from ._margins import *  # noqa: F403
from ._mixing import *  # noqa: F403
from ._normalization import *  # noqa: F403
from ._patches import *  # noqa: F403
from ._pool import *  # noqa: F403
from ._resize import *  # noqa: F403
from ._sequences import *  # noqa: F403
from ._similarity import *  # noqa: F403
from ._transducer import *  # noqa: F403

if TYPE_CHECKING:
    from .._dtype import DTypeLike

__all__ = ["gelu", "silu", "softmax", "softmax_", "tanh", "tanh_"]
__all__ += _activation.__all__
__all__ += _attention.__all__
__all__ += _classification.__all__
__all__ += _conv.__all__
__all__ += _dropout.__all__
__all__ += _embedding.__all__
__all__ += _generated.__all__
__all__ += _hierarchy.__all__
__all__ += _layout.__all__
__all__ += _losses.__all__
__all__ += _margins.__all__
__all__ += _mixing.__all__
__all__ += _normalization.__all__
__all__ += _patches.__all__
__all__ += _pool.__all__
__all__ += _resize.__all__
__all__ += _sequences.__all__
__all__ += _similarity.__all__
__all__ += _transducer.__all__


@renamed(input="x")
def gelu(x: Tensor, approximate: bool | str = False, name: str | None = None) -> Tensor:
    """0.5 * x * (1 + erf(x / sqrt(2))), element by element.

    Args:
        x: a tensor of a floating-point dtype.
        approximate: True or "tanh" for 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)));
            False or "none" for the exact function.

    Raises:
        ValueError: x is no tensor, or approximate is another string.
    """
    if isinstance(approximate, str):
        if approximate not in ("tanh", "none"):
            raise ValueError(f"[gelu] approximate is {approximate!r}; want a bool, 'tanh' or 'none'")
        approximate = approximate == "tanh"
    return _operators.gelu(x, approximate)


def silu(
    x: Tensor = REQUIRED,
    inplace: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    input: Tensor | None = None,
) -> Tensor:
    """x * sigmoid(x), element by element.

    Args:
        x: a tensor of a floating-point dtype; integers are computed in float32.
        inplace: whether the result takes the place of x, which is returned then.
        out: takes the result and is returned.

    Raises:
        ValueError: x is no tensor.
    """
    if input is not None:
        x = chosen("silu", "x", x, REQUIRED, "input", input)
    if inplace:
        return in_place(silu, x, operator=_operators.silu)
    result = _operators.silu(x)
    return result if out is None else into(out, result)


def softmax(
    x: Tensor = REQUIRED,
    axis: int = -1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    input: Tensor | None = None,
    dim: int | None = None,
) -> Tensor:
    """exp(x - max(x)) / sum(exp(x - max(x))) along an axis.

    Args:
        x: a tensor of a floating-point dtype.
        axis: the axis along which the results add up to 1.
        dtype: x is cast to it first.
        out: takes the result and is returned.
        input, dim: other names of x and axis.

    Raises:
        ValueError: x is no tensor, or the axis is out of range.
    """
    if input is not None or dim is not None:
        x = chosen("softmax", "x", x, REQUIRED, "input", input)
        axis = chosen("softmax", "axis", axis, -1, "dim", dim)
    if dtype is not None:
        x = tensor(x, "softmax", "x").cast(dtype)
    result = _operators.softmax(x, axis)
    return result if out is None else into(out, result)


def softmax_(x: Tensor, axis: int = -1, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """`softmax`, whose result takes the place of x; returns x."""
    return in_place(softmax, x, axis, dtype)
