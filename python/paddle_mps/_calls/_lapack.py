"""The way to NumPy's LAPACK and back: matrices as float64 or complex128 on the CPU, and what was computed as tensors again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .._core import _dtype
from .._core._convert import tensor
from .._core._errors import UnsupportedError
from .._core._objects import Tensor, from_array, meta
from . import _operators
from ._precision import rounded

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Numbers = npt.NDArray[Any]  # of float64 or complex128
else:  # importing numpy.typing takes more than a millisecond
    Floats = Numbers = np.ndarray


def matrices(name: str, x: Tensor, square: bool = False, error: type[Exception] = ValueError) -> Numbers:
    """The elements of x as float64 or complex128.

    Raises:
        ValueError: x is no tensor, or has less than two dimensions.
        error: the matrices are not square, and must be.
        UnsupportedError: x has integers or bools.
    """
    m = meta(tensor(x, name, "x"))
    if len(m.shape) < 2 or (square and m.shape[-1] != m.shape[-2]):
        raise error(f"[{name}] x has shape {list(m.shape)}; want {'[..., n, n]' if square else '[..., m, n]'}")
    return elements(name, x)


def elements(name: str, x: Tensor) -> Numbers:
    """The elements of a tensor of any rank as float64 or complex128."""
    dtype = meta(x).dtype
    if dtype.is_complex:
        return x.numpy().astype(np.complex128)
    if not dtype.is_floating:
        raise UnsupportedError(f"[{name}] x is {dtype.name}; want a floating-point or complex dtype")
    return numbers(name, x)


def numbers(name: str, x: Tensor) -> Floats:
    """The elements of a tensor of real numbers as float64."""
    if not meta(x).dtype.is_floating:
        raise UnsupportedError(f"[{name}] x is {meta(x).dtype.name}; want a floating-point dtype")
    wide = _operators.cast(x, _dtype.float32) if meta(x).dtype is _dtype.bfloat16 else x
    return wide.numpy().astype(np.float64)


def result(values: Any, x: Tensor) -> Tensor:
    """Values as a tensor of the precision and on the place of x: complex where they are."""
    m = meta(x)
    single = m.dtype in (_dtype.bfloat16, _dtype.float32, _dtype.complex64)
    if np.iscomplexobj(values):
        kind: Any = np.complex64 if single else np.complex128
    else:
        kind = np.float32 if single else np.float16 if m.dtype is _dtype.float16 else np.float64
    with np.errstate(all="ignore"):
        found = from_array(np.ascontiguousarray(values, kind).reshape(np.shape(values)), m.place)
    return rounded(found, x)


def adjoint(a: Numbers) -> Numbers:
    """The conjugate transposes of matrices; of real ones the transposes."""
    turned = np.swapaxes(a, -1, -2)
    return turned.conj() if np.iscomplexobj(a) else turned


def counts(values: Any, x: Tensor, dtype: type[Any]) -> Tensor:
    """Integers as a tensor on the place of x."""
    return from_array(np.ascontiguousarray(values, dtype).reshape(np.shape(values)), meta(x).place)


# LAPACK repeats these until they converge. For some matrices with infinities that is never, and nothing interrupts them.
ITERATIVE = (np.linalg.svd, np.linalg.pinv, np.linalg.eigh, np.linalg.eigvalsh, np.linalg.eig, np.linalg.eigvals)


def checked(name: str, function: Callable[..., Any], a: Any, *arguments: Any, **options: Any) -> Any:
    """What a function of NumPy answers for matrices a; its LinAlgError is a ValueError.

    Raises:
        ValueError: there is no result, or the function is iterative and an element is infinite or nan.
    """
    if function in ITERATIVE and not np.isfinite(a).all():
        raise ValueError(f"[{name}] the matrices have elements that are infinite or nan; want finite ones")
    try:
        return function(a, *arguments, **options)
    except np.linalg.LinAlgError as error:
        raise ValueError(f"[{name}] {error}; want matrices that have a result") from None


def singular_values(name: str, x: Tensor) -> Floats:
    found: Floats = checked(name, np.linalg.svd, matrices(name, x), compute_uv=False)
    return found
