"""Types of inputs and outputs, by the names and numbers of ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

# The numbers of TensorProto.DataType, and NumPy's dtypes where it has them.
NUMBERS = {
    name: number
    for number, name in enumerate(
        "undefined float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 complex64 "
        "complex128 bfloat16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2 "
        "int2".split()
    )
}
_NUMPY: dict[str, Any] = {
    "float": np.float32,
    "double": np.float64,
    "string": np.object_,
    **{name: getattr(np, name) for name in "uint8 int8 uint16 int16 int32 int64 float16 uint32 uint64".split()},
    "bool": np.bool_,
}
BY_NAME: dict[str, np.dtype[Any]] = {name: np.dtype(kind) for name, kind in _NUMPY.items()}
_BY_DTYPE = {dtype: name for name, dtype in BY_NAME.items()}


def elem_of(dtype: np.dtype[Any]) -> str:
    """The name of a dtype, such as `float`; texts, objects and records are all strings, as for onnxruntime.

    Raises:
        RuntimeError: ONNX has no such tensors, or onnxruntime does not take them.
    """
    name = _BY_DTYPE.get(dtype.newbyteorder("="))
    if name is None and dtype.kind in "USOV":
        name = "string"
    if name is None:
        raise RuntimeError(f"Numpy_type {dtype.num} can't be converted to MLDataType.")
    return name


def tensor_type(elem: str) -> str:
    """The type of tensors with such elements: `tensor(float)`."""
    return f"tensor({elem})"


def dtype_of(element_type: Any) -> np.dtype[Any]:
    """The dtype that an argument names: a dtype of NumPy, or a number of ONNX.

    Raises:
        ValueError: there is none.
    """
    if isinstance(element_type, int) and not isinstance(element_type, bool):
        for name, number in NUMBERS.items():
            if number == element_type and name in BY_NAME:
                return BY_NAME[name]
        raise ValueError(f"[onnxruntime] element type is {element_type}; want one of NumPy's dtypes")
    dtype: np.dtype[Any] = np.dtype(element_type)
    return dtype
