"""OrtValue: an array that is an input or a result, in memory of the CPU or of an mps device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from .._arrays._creation import to_tensor
from .._core._objects import Tensor, meta
from .._core._place import MPSPlace, Place, cpu
from .._devices._device import is_available
from .._models import _elements
from ._types import BY_NAME, NUMBERS, dtype_of, elem_of, tensor_type

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]
    Held = Union[Array, Tensor]
else:  # the oldest NumPy has no such expression
    Array = np.ndarray
    Held = object


def place_of(device_type: str, device_id: int) -> Place:
    """The place that onnxruntime's names mean: `cpu` or `mps`.

    Raises:
        RuntimeError: the machine has no such device, or this package none for it.
        Exception: there is no such name, as in onnxruntime.
    """
    kind = device_type.lower()
    if kind == "cpu":
        return cpu
    if kind == "mps" and is_available():
        return MPSPlace(device_id)
    if kind in ("mps", "cuda", "gpu", "rocm", "dml", "cann", "webgpu"):
        raise RuntimeError(
            f"Can't allocate memory on the device {device_type!r} using this package of OnnxRuntime. Want cpu"
            + (" or mps." if is_available() else ".")
        )
    raise Exception("Unsupported device type: " + device_type)


def array_of(x: Held) -> Array:
    """A result as an array, that of a tensor or itself."""
    return x.numpy() if isinstance(x, Tensor) else x


class OrtDevice:
    """A device by its name and number."""

    def __init__(self, device_type: str, device_id: int) -> None:
        self._type, self._id = device_type, device_id

    @staticmethod
    def make(ort_device_name: str, device_id: int) -> OrtDevice:
        """The device with a name and a number."""
        place_of(ort_device_name, device_id)
        return OrtDevice(ort_device_name.lower(), device_id)

    def device_type(self) -> str:
        """`cpu` or `mps`."""
        return self._type

    def device_id(self) -> int:
        """The number of the device."""
        return self._id


class OrtValue:
    """An array with a type and a device. One of the CPU shares the memory of the NumPy array that it is made of.

    Args:
        held: the array, or a tensor of a device.
        elem: the name of the type of elements, if NumPy has none; the array has their bits.
    """

    def __init__(self, held: Held, elem: str | None = None) -> None:
        self._held, self._named = held, elem

    @staticmethod
    def ortvalue_from_numpy(numpy_obj: Array, device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """A value with the elements of an array: the same memory on the CPU, a copy elsewhere.

        Raises:
            RuntimeError: it is no array, or one of texts.
        """
        if not isinstance(numpy_obj, np.ndarray) or elem_of(numpy_obj.dtype) == "string":
            raise RuntimeError("Creation of OrtValues is currently only supported from non-string numpy arrays")
        place = place_of(device_type, device_id)
        if place.is_cpu_place():
            return OrtValue(_plain(numpy_obj))
        if elem_of(numpy_obj.dtype) in _elements.UNSIGNED:
            raise RuntimeError(f"[onnxruntime] got an array of {numpy_obj.dtype} for {device_type}; want one for cpu")
        return OrtValue(to_tensor(numpy_obj, place=place))

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(data: Array, /, onnx_element_type: int) -> OrtValue:
        """A value whose elements have the bits of those of an array, and a type of ONNX by its number; the same memory. It is
        how values of 8-bit floats are made. Elements of 4 and 2 bits take a byte each, other than in onnxruntime.

        Raises:
            RuntimeError: there is no such type, or its elements have another size.
        """
        name = next((name for name, number in NUMBERS.items() if number == onnx_element_type and number), None)
        if name is None:
            raise RuntimeError(f"Not a valid ONNX Tensor data type: {onnx_element_type}")
        kind = BY_NAME.get(name) if name != "string" else None
        size = 1 if name in _elements.SMALL else 0 if kind is None else kind.itemsize
        if not isinstance(data, np.ndarray) or data.dtype.itemsize != size or data.dtype.hasobject:
            got = data.dtype if isinstance(data, np.ndarray) else type(data).__name__
            raise RuntimeError(f"Items size in the incoming array: got {got}; want one of {size} bytes for {name}")
        plain = _plain(data)
        return OrtValue(plain.view(np.uint8), name) if kind is None else OrtValue(plain.view(kind))

    @staticmethod
    def ortvalue_from_shape_and_type(
        shape: Sequence[int], element_type: Any = np.float32, device_type: str = "cpu", device_id: int = 0
    ) -> OrtValue:
        """A value of a shape and a dtype, for results."""
        return OrtValue.ortvalue_from_numpy(np.zeros(tuple(shape), dtype_of(element_type)), device_type, device_id)

    @staticmethod
    def from_dlpack(data: Any, /) -> OrtValue:
        """A value that shares the memory of an object with `__dlpack__`, of the CPU."""
        return OrtValue(_plain(np.from_dlpack(data)))

    def numpy(self) -> Array:
        """The elements: the same memory on the CPU, a copy elsewhere."""
        return array_of(self._held)

    def shape(self) -> list[int]:
        """The size of each dimension."""
        return list(meta(self._held).shape) if isinstance(self._held, Tensor) else list(self._held.shape)

    def data_type(self) -> str:
        """The type: `tensor(float)`."""
        return tensor_type(self._elem())

    def element_type(self) -> int:
        """The number of the type of the elements in ONNX."""
        return NUMBERS[self._elem()]

    def device_name(self) -> str:
        """`cpu` or `mps`."""
        return "mps" if isinstance(self._held, Tensor) else "cpu"

    def data_ptr(self) -> int:
        """The address of the first element.

        Raises:
            RuntimeError: it is memory of a device, which programs for onnxruntime could not read.
        """
        if isinstance(self._held, Tensor):
            raise RuntimeError("[onnxruntime] data_ptr of a value on mps; want numpy()")
        return int(self._held.ctypes.data)

    def tensor_size_in_bytes(self) -> int:
        """The number of bytes of the elements."""
        kind: np.dtype[Any] = meta(self._held).dtype.numpy if isinstance(self._held, Tensor) else self._held.dtype
        return int(np.prod(self.shape(), dtype=np.int64)) * kind.itemsize

    def has_value(self) -> bool:
        """True: there are no values without elements."""
        return True

    def is_tensor(self) -> bool:
        """True: there are no other values."""
        return True

    def is_sparse_tensor(self) -> bool:
        """False."""
        return False

    def is_tensor_sequence(self) -> bool:
        """False."""
        return False

    def update_inplace(self, np_arr: Array) -> None:
        """Replaces the elements by those of an array of the same number of bytes.

        Raises:
            RuntimeError: the sizes differ.
        """
        if not isinstance(np_arr, np.ndarray) or np_arr.nbytes != self.tensor_size_in_bytes():
            raise RuntimeError("The input size of numpy arrays does not match the size of the OrtValue.")
        given = _plain(np_arr)
        if isinstance(self._held, Tensor):
            same = given.reshape(-1).view(meta(self._held).dtype.numpy).reshape(self.shape())
            self._held = to_tensor(same, place=meta(self._held).place)
        else:
            self._held.reshape(-1).view(np.uint8)[:] = given.reshape(-1).view(np.uint8)

    def _elem(self) -> str:
        if self._named is not None:
            return self._named
        return elem_of(np.dtype(meta(self._held).dtype.numpy) if isinstance(self._held, Tensor) else self._held.dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The elements, for `numpy.asarray`."""
        made = np.array(self.numpy(), dtype) if copy else np.asarray(self.numpy(), dtype)
        if copy is False and dtype is not None and made.dtype != self.numpy().dtype:
            raise ValueError(f"the elements are {self.numpy().dtype}; want a copy of them as {made.dtype}")
        return made

    def __dlpack__(self, *, stream: Any = None) -> Any:
        return self.numpy().__dlpack__() if stream is None else self.numpy().__dlpack__(stream=stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, index = self.numpy().__dlpack_device__()
        return int(kind), int(index)


def _plain(array: Array) -> Array:
    """An array in C order and the byte order of the machine: itself if it is that."""
    return np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)
