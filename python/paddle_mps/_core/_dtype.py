"""Element types: the objects behind paddle.float32 and its like, and everything that names one."""

from __future__ import annotations

from typing import Any, Union

import numpy as np

from ._caller import called


class DType:
    """An element type. There is one object a type, and it equals its own name: `x.dtype == "int8"`."""

    __slots__ = ("is_complex", "is_floating", "is_integer", "itemsize", "name", "number", "numpy")

    name: str
    number: int  # pmps_dtype
    itemsize: int
    numpy: np.dtype[Any]  # what Tensor.numpy() gives: the bits as uint16 for bfloat16
    is_complex: bool
    is_floating: bool
    is_integer: bool  # bool is no integer

    def __init__(self, name: str, number: int, numpy: str) -> None:
        self.name = name
        self.number = number
        self.numpy = np.dtype(numpy)
        self.itemsize = self.numpy.itemsize
        self.is_complex = "complex" in name
        self.is_floating = "float" in name
        self.is_integer = "int" in name

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.name == other
        return self is other

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"paddle.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return dtype, (self.name,)


DTypeLike = Union[DType, str, type, "np.dtype[Any]"]

bool_ = DType("bool", 1, "bool")
uint8 = DType("uint8", 2, "uint8")
int8 = DType("int8", 3, "int8")
int16 = DType("int16", 4, "int16")
int32 = DType("int32", 5, "int32")
int64 = DType("int64", 6, "int64")
float16 = DType("float16", 7, "float16")
bfloat16 = DType("bfloat16", 8, "uint16")
float32 = DType("float32", 9, "float32")
float64 = DType("float64", 10, "float64")
complex64 = DType("complex64", 11, "complex64")
complex128 = DType("complex128", 12, "complex128")

ALL = (bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128)
BY_NUMBER = {d.number: d for d in ALL}
# NumPy has no bfloat16: as in Paddle, an array of uint16 holds the bits of one.
BY_NUMPY = {d.numpy: d for d in ALL}

NAMES: dict[Any, DType] = {d.name: d for d in ALL}
NAMES.update(
    {
        "float": float64,
        "double": float64,
        "half": float16,
        "int": int64,
        "long": int64,
        "short": int16,
        "char": int8,
        "byte": uint8,
        "cfloat": complex64,
        "cdouble": complex128,
        "uint16": bfloat16,
        float: float64,
        int: int64,
        bool: bool_,
    }
)
_COMPUTED = (float16, bfloat16, float32, float64)
chosen_default = [float32]  # the dtype of floats that are given without one


def dtype(value: DTypeLike) -> DType:
    """The element type that a DType, a name, a Python type or a NumPy type stands for.

    Raises:
        TypeError: there is no such type, or this package does not have it (uint32, ...).
    """
    if isinstance(value, DType):
        return value
    try:
        return NAMES.get(value) or BY_NUMPY[np.dtype(value)]
    except (KeyError, TypeError):
        names = ", ".join(d.name for d in ALL)
        raise TypeError(f"[{called('dtype')}] dtype is {value!r}; want one of {names}") from None


def get_default_dtype() -> str:
    """The name of the dtype of floating-point tensors whose dtype is not given: "float32" at first."""
    return chosen_default[0].name


def default() -> DType:
    """get_default_dtype as a DType."""
    return chosen_default[0]


def set_default_dtype(d: DTypeLike) -> None:
    """Sets the dtype of floating-point tensors whose dtype is not given.

    Args:
        d: float16, bfloat16, float32 or float64, as a DType, a name or a NumPy type.

    Raises:
        TypeError: it is something else; Python's own float is refused, as in Paddle.
    """
    known = None if d is float or d is None else dtype(d)
    if known not in _COMPUTED:
        raise TypeError(f"[set_default_dtype] got {d!r}; want float16, bfloat16, float32 or float64")
    chosen_default[0] = known
