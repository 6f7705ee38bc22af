"""paddle.tensor: called, it makes a tensor; its attributes are the functions of paddle.

Programs write `paddle.tensor([1.0, 2.0])`, as with PyTorch, and older ones `from paddle.tensor import add`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ._arrays._creation import refuse, requiring, to_tensor

if TYPE_CHECKING:
    from ._core._dtype import DTypeLike
    from ._core._objects import Tensor
    from ._core._typing import PlaceLike


@requiring
def tensor(
    data: Any,
    dtype: DTypeLike | None = None,
    device: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor with a copy of data, as of `to_tensor`.

    Args:
        data: a number, a list, a tuple, an array or a Tensor.
        dtype: None: that of the data, floats of Python as the default dtype.
        device: where the tensor lives; None: the current place.
        requires_grad: whether gradients are wanted: stop_gradient=False.

    Raises:
        TypeError: the data can be no tensor, or gradients are wanted of integers.
        ValueError: the lists of data differ in length.
        UnsupportedError: pin_memory is set: memory of mps devices is the CPU's own.
    """
    refuse(pin_memory)
    return to_tensor(data, dtype, device=device)


class Functions(ModuleType):
    """The class of modules that have the functions of the package."""

    def __getattr__(self, name: str) -> Any:
        """A public function of the package.

        Raises:
            AttributeError: there is none of that name.
        """
        if not name.startswith("_"):
            return getattr(sys.modules[__package__ or ""], name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


class TensorModule(Functions):
    """The class of this module, which can be called."""

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        made: Tensor = tensor(*args, **kwargs)
        return made


sys.modules[__name__].__class__ = TensorModule

# Paddle's own modules of these functions, from which programs import them. Here they are not divided.
for _name in "attribute creation einsum linalg logic manipulation math ops random search stat".split():
    _module = Functions(f"{__name__}.{_name}", "Functions of paddle, as in Paddle's module of this name.")
    _module.__package__ = __name__
    sys.modules[_module.__name__] = _module
    if _name not in ("einsum", "linalg"):  # which paddle has itself, as a function and as a module
        globals()[_name] = _module

__all__ = ["tensor"]
