"""Complex tensors and their parts: from real and imaginary parts, from magnitudes and angles, and back.

A complex element is two real ones in memory, the real part first, so that parts are views: what is written into
real(x) is seen in x. Complex tensors live on the CPU.
"""

from __future__ import annotations

from typing import Any

from .._arrays._array import bits
from .._arrays._shapes import broadcast_shape
from .._calls import _operators
from .._calls._call import into
from .._calls._derivative import derivative
from .._core import _dtype
from .._core._convert import tensor
from .._core._errors import TracingError, UnsupportedError, errors_of, outside_of_programs
from .._core._objects import Tensor, meta

__all__ = ["as_complex", "as_real", "complex", "imag", "polar", "real", "view_as_complex", "view_as_real"]

OF_PARTS = {_dtype.float32: _dtype.complex64, _dtype.float64: _dtype.complex128}
PARTS = {whole: part for part, whole in OF_PARTS.items()}


def of_parts(name: str, x: Any, parameter: str) -> Tensor:
    """A tensor that can be the parts of a complex one."""
    given = tensor(x, name, parameter)
    if meta(given).dtype not in OF_PARTS:
        raise UnsupportedError(f"[{name}] {parameter} is {meta(given).dtype.name}; want float32 or float64")
    return given


@errors_of("as_complex")
def complex(real: Tensor, imag: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """real + 1j * imag, element by element, for tensors that broadcast: complex64 of float32, complex128 of float64.

    Args:
        real, imag: tensors of one dtype, on the CPU.
        out: takes the result and is returned.

    Raises:
        ValueError: one is no tensor, the dtypes differ, or the shapes do not broadcast.
        UnsupportedError: the dtype is neither float32 nor float64.
        TypeError: the tensors are on an mps device.
    """
    x, y = of_parts("complex", real, "real"), of_parts("complex", imag, "imag")
    if meta(x).dtype is not meta(y).dtype:
        raise ValueError(f"[complex] real is {meta(x).dtype.name} and imag {meta(y).dtype.name}; want one dtype")
    shape = broadcast_shape(meta(x).shape, meta(y).shape)
    both = [_operators.expand(z, shape) for z in (x, y)]
    return into(out, as_complex(_operators.stack(both, -1)))


def _parts_of(d: list[Any], made: list[Any], given: Any) -> list[Any]:
    return [as_real(d[0])]


@derivative(_parts_of, "x")
def as_complex(x: Tensor, name: str | None = None) -> Tensor:
    """The complex numbers whose parts are the two elements along the last axis, without that axis.

    Args:
        x: float32 or float64 of shape [..., 2], on the CPU. The result shares its memory where the pairs lie in it
            like complex numbers, and is a copy elsewhere.

    Raises:
        ValueError: x is no tensor, its last axis has other than two elements, or they are no neighbours in memory.
        UnsupportedError: the dtype is neither float32 nor float64.
        TypeError: x is on an mps device.
    """
    given = of_parts("as_complex", x, "x")
    m = meta(given)
    if not m.shape or m.shape[-1] != 2:
        raise ValueError(f"[as_complex] x has shape {list(m.shape)}; want two elements along the last axis")
    if m.strides[-1] != 1 and m.numel:
        raise ValueError(f"[as_complex] the last stride is {m.strides[-1]}; want 1 (contiguous() makes such a copy)")
    try:
        whole = bits(given, OF_PARTS[m.dtype])
    except TracingError:
        raise outside_of_programs("as_complex") from None
    except ValueError:  # pairs that begin inside of pairs
        whole = bits(_operators.assign(given), OF_PARTS[m.dtype])
    return _operators.squeeze(whole, -1)


def as_real(x: Tensor, name: str | None = None) -> Tensor:
    """The real and the imaginary part along a new last axis, as a view: float32 of complex64, float64 of complex128.

    Raises:
        ValueError: x is no tensor.
        UnsupportedError: x is not complex.
    """
    return pairs("as_real", x)


def pairs(name: str, x: Any) -> Tensor:
    m = meta(tensor(x, name, "x"))
    if m.dtype not in PARTS:
        raise UnsupportedError(f"[{name}] x is {m.dtype.name}; want complex64 or complex128")
    try:
        return two_floats(x)
    except TracingError:
        raise outside_of_programs(name) from None


def _numbers_of(d: list[Any], made: list[Any], given: Any) -> list[Any]:
    return [as_complex(d[0].contiguous())]


@derivative(_numbers_of, "x")
def two_floats(x: Tensor) -> Tensor:
    return bits(_operators.unsqueeze(x, -1), PARTS[meta(x).dtype])


def part(name: str, x: Any, number: int) -> Tensor:
    found: Tensor = pairs(name, x)[..., number]
    return found


def real(x: Tensor, name: str | None = None) -> Tensor:
    """The real parts of a complex tensor, as a view of its shape: float32 of complex64, float64 of complex128.

    Raises:
        ValueError: x is no tensor.
        UnsupportedError: x is not complex.
    """
    return part("real", x, 0)


def imag(x: Tensor, name: str | None = None) -> Tensor:
    """The imaginary parts of a complex tensor, as a view of its shape: float32 of complex64, float64 of complex128.

    Raises:
        ValueError: x is no tensor.
        UnsupportedError: x is not complex.
    """
    return part("imag", x, 1)


def view_as_complex(input: Tensor) -> Tensor:
    """`as_complex` under PyTorch's name: pairs along the last axis as complex numbers, with its errors."""
    return as_complex(input)


def view_as_real(input: Tensor) -> Tensor:
    """`as_real` under PyTorch's name: the two parts along a new last axis, as a view, with its errors."""
    return as_real(input)


@errors_of("complex")
def polar(abs: Tensor, angle: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """abs * (cos(angle) + 1j * sin(angle)), element by element, for tensors that broadcast.

    Args:
        abs, angle: float32 or float64, on the CPU; of both, the result is complex128.
        out: takes the result and is returned.

    Raises:
        ValueError: one is no tensor, or the shapes do not broadcast.
        UnsupportedError: a dtype is neither float32 nor float64.
        TypeError: the tensors are on an mps device.
    """
    size, turn = of_parts("polar", abs, "abs"), of_parts("polar", angle, "angle")
    return complex(size * _operators.cos(turn), size * _operators.sin(turn), out=out)


class PartMethods:
    """The functions of this module that are methods of Tensor."""

    __slots__ = ()

    as_complex = as_complex
    as_real = as_real
    imag = imag
    polar = polar
    real = real
    view_as_complex = view_as_complex
    view_as_real = view_as_real
