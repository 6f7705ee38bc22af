"""IOBinding: inputs and results of a session that are bound to memory before it runs."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays._creation import to_tensor
from .._core._objects import Tensor
from ._types import dtype_of, elem_of, tensor_type
from ._values import Array, Held, OrtValue, array_of, place_of

if TYPE_CHECKING:
    from ._session import InferenceSession


def memory_at(pointer: int, shape: Sequence[int], element_type: Any) -> Array:
    """The array at an address of the CPU, which the caller keeps alive."""
    dtype = dtype_of(element_type)
    size = int(np.prod(tuple(shape), dtype=np.int64)) * dtype.itemsize
    raw = np.ctypeslib.as_array((ctypes.c_uint8 * max(size, 1)).from_address(pointer))
    return raw[:size].view(dtype).reshape(tuple(shape))


class IOBinding:
    """The inputs and results of runs of a session. Arrays of the CPU are read when the session runs, not before."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._inputs: dict[str, OrtValue] = {}
        # The result by name: memory for it, or the device where it is wanted.
        self._outputs: dict[str, OrtValue | tuple[str, int]] = {}
        self._made: dict[str, OrtValue] = {}

    def bind_cpu_input(self, name: str, arr_on_cpu: Array) -> None:
        """Binds an input to an array."""
        self.bind_ortvalue_input(name, OrtValue.ortvalue_from_numpy(arr_on_cpu))

    def bind_input(
        self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int], buffer_ptr: int
    ) -> None:
        """Binds an input to memory at an address, of the CPU.

        Raises:
            RuntimeError: the device is another one; bind an OrtValue instead.
        """
        self.bind_ortvalue_input(name, _at(device_type, device_id, element_type, shape, buffer_ptr))

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """Binds an input to a value.

        Raises:
            RuntimeError: the model has no such input.
        """
        if name not in self._session._input_names:
            raise RuntimeError(f"Failed to find NodeArg with name: {name} in the def list")
        self._inputs[name] = ortvalue

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: Any = None,
        shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """Binds a result to memory at an address, or asks for it on a device."""
        if buffer_ptr is not None and shape is not None and element_type is not None:
            self._outputs[name] = _at(device_type, device_id, element_type, shape, buffer_ptr)
            return
        place_of(device_type, device_id)
        self._outputs[name] = (device_type.lower(), device_id)

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Binds a result to a value, which gets its elements."""
        self._outputs[name] = ortvalue

    def synchronize_inputs(self) -> None:
        """Does nothing: copies to a device are in order with what reads them."""

    def synchronize_outputs(self) -> None:
        """Does nothing: a run returns when its results are there."""

    def get_outputs(self) -> list[OrtValue]:
        """The results of the last run, in the order in which they were bound."""
        return list(self._made.values())

    def get_outputs_as_ortvaluevector(self) -> list[OrtValue]:
        """As `get_outputs`."""
        return self.get_outputs()

    def copy_outputs_to_cpu(self) -> list[Array]:
        """The results of the last run as arrays."""
        return [value.numpy().copy() for value in self._made.values()]

    def clear_binding_inputs(self) -> None:
        """Unbinds the inputs."""
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        """Unbinds the results."""
        self._outputs.clear()
        self._made.clear()

    def _keep(self, made: dict[str, Held]) -> None:
        """Writes results to where they are bound."""
        small = self._session._small
        self._made = {name: _bound(name, made[name], small.get(name), to) for name, to in self._outputs.items()}


def _at(device_type: str, device_id: int, element_type: Any, shape: Sequence[int], pointer: int) -> OrtValue:
    """The memory at an address as a value."""
    if not place_of(device_type, device_id).is_cpu_place():
        raise RuntimeError(f"[onnxruntime] got an address on {device_type}; want an OrtValue there, or one of cpu")
    return OrtValue(memory_at(pointer, shape, element_type))


def _bound(name: str, x: Held, small: str | None, to: OrtValue | tuple[str, int]) -> OrtValue:
    """A result as the value that it is bound to. small is the type of its elements, if NumPy has none."""
    if isinstance(to, tuple):
        place = place_of(*to)
        if place.is_cpu_place():
            return OrtValue(array_of(x), small)
        if not isinstance(x, Tensor):
            raise RuntimeError(f"[onnxruntime] result {name!r} of {small or x.dtype} is bound to {to[0]}; want cpu")
        return OrtValue(x.to(place))
    array, shape = array_of(x), to.shape()
    elem = small or elem_of(array.dtype)
    if elem != to._elem():
        got, want = tensor_type(to._elem()), tensor_type(elem)
        raise RuntimeError(f"Error in execution: Unexpected output data type. Actual: ({got}) , expected: ({want})")
    if len(shape) != array.ndim:
        raise RuntimeError(
            f"Error in execution: Invalid rank for output: {name} Got: {len(shape)} Expected: {array.ndim} "
            "Please fix either the inputs/outputs or the model."
        )
    wrong = [(i, got, want) for i, (got, want) in enumerate(zip(shape, array.shape)) if got != want]
    if wrong:
        lines = "".join(f" index: {i} Got: {got} Expected: {want}\n" for i, got, want in wrong)
        raise RuntimeError(
            f"Error in execution: Got invalid dimensions for output: {name} for the following indices\n{lines}"
            " Please fix either the inputs/outputs or the model."
        )
    if isinstance(to._held, Tensor):
        to._held = to_tensor(array, place=place_of(to.device_name(), 0))
    else:
        to._held[...] = array
    return to
