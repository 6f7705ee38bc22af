"""paddle.fft: discrete Fourier transforms on the CPU, by the FFT that NumPy carries.

Transforms of float32 and complex64 have results of single precision, those of float64 and complex128 of double
precision, and integers count as the default dtype. Complex tensors are on the CPU only: of tensors of an mps device
there are the transforms with real results, and the frequencies and shifts.

In every function `norm` says which direction is scaled: "backward" divides what is inverse by n, "forward" what is
not, "ortho" both by the square root of n. `out` takes the result and is returned. `input` is another name for x, and
`dim` for axis and axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .._arrays._creation import arange, filled, requiring
from .._arrays._shapes import roll
from .._calls import _operators
from .._calls._call import into, renamed
from .._calls._derivative import derivative
from .._core import _dtype
from .._core._caller import axes_text, dimensions_text
from .._core._convert import axis_of, real, said, tensor, whole
from .._core._dtype import DTypeLike
from .._core._errors import TracingError, UnsupportedError, outside_of_programs
from .._core._objects import Tensor, from_array, meta
from .._core._place import device_name
from .._devices import _default_place

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._core._typing import PlaceLike

    Array = npt.NDArray[Any]

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]  # fmt: skip

OPPOSITE: dict[str, Any] = {"backward": "forward", "ortho": "ortho", "forward": "backward"}
DOUBLE = (_dtype.float64, _dtype.complex128)


def operand(name: str, x: Any, real: bool) -> tuple[Array, bool]:
    """The elements of x, and whether they are of double precision.

    Args:
        real: complex elements are refused.
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"[{name}] x is {type(x).__name__}; want a Tensor")
    dtype = meta(x).dtype
    wide = _dtype.default() if dtype.is_integer else dtype
    if not (wide in (_dtype.float32, _dtype.float64) or (wide.is_complex and not real)):
        kinds = "float32, float64 or integers" if real else "float32, float64, complex64, complex128 or integers"
        raise UnsupportedError(f"[{name}] x is {dtype.name}; want {kinds}")
    try:
        return x.numpy().astype(wide.numpy, copy=False), wide in DOUBLE
    except TracingError:
        raise outside_of_programs(name) from None


def on_cpu(name: str, x: Any) -> None:
    """Checks that x is where complex tensors are."""
    if isinstance(x, Tensor) and not _default_place.has_complex(meta(x).place):
        raise TypeError(
            f"[{name}] x is on {device_name(meta(x).place)}; want x.cpu(): complex tensors are on the CPU only"
        )


def scaling(name: str, norm: Any) -> str:
    if not isinstance(norm, str) or norm not in OPPOSITE:
        raise ValueError(f"[{name}] norm is {norm!r}; want 'forward', 'backward' or 'ortho'")
    return str(norm)


def lengths(name: str, s: Any, axes: Any, rank: int) -> tuple[list[int], list[int] | None]:
    """The axes, counted from the front, and the lengths along them; None for those of x."""
    sizes = None if s is None else numbers(name, "s", s)
    if sizes is not None and (len(sizes) > rank or any(n <= 0 for n in sizes)):
        raise ValueError(f"[{name}] s is {s!r}; want at most {rank} lengths above 0")
    if axes is None:
        found = list(range(rank - (rank if sizes is None else len(sizes)), rank))
    else:
        found = [axis_of(name, a, rank) for a in numbers(name, "axes", axes)]
    if not found or len(set(found)) < len(found):
        raise ValueError(f"[{name}] axes are {axes!r} of {rank}; want one or several, each once")
    if sizes is not None and len(sizes) != len(found):
        raise ValueError(f"[{name}] got {len(sizes)} lengths and {axes_text(len(found))}; want as many")
    return found, sizes


def numbers(name: str, what: str, given: Any) -> list[int]:
    """A sequence of ints."""
    if not isinstance(given, Sequence) or not all(isinstance(n, int) for n in given):
        raise ValueError(f"[{name}] {what} is {given!r}; want a list or tuple of ints")
    return list(given)


def one(name: str, n: Any, axis: Any) -> tuple[list[int] | None, list[int]]:
    """(s, axes) of a transform along one axis."""
    if not isinstance(axis, int) and axis is not None:
        raise ValueError(f"[{name}] axis is {axis!r}; want an int")
    if n is not None and not isinstance(n, int):
        raise ValueError(f"[{name}] n is {n!r}; want an int")
    return None if n is None else [n], [-1 if axis is None else axis]


def two(name: str, x: Any, s: Any, axes: Any) -> tuple[Any, Any]:
    """(s, axes) of a transform along two axes, after a check that they are two."""
    if isinstance(x, Tensor) and len(meta(x).shape) < 2:
        raise ValueError(f"[{name}] x has {dimensions_text(len(meta(x).shape))}; want at least 2")
    for what, given in (("s", s), ("axes", axes)):
        if given is not None and (not isinstance(given, Sequence) or len(given) != 2):
            raise ValueError(f"[{name}] {what} is {given!r}; want two ints")
    return s, (-2, -1) if axes is None else axes


def _adjoint(d: list[Any], made: list[Any], given: Any) -> list[Any]:
    """The adjoint of a transform: the one in the opposite direction, scaled as this one, cut or filled up as x was.

    Of a half of the last axis it is a sum: the elements that are their own conjugates count once, others twice.
    """
    x, dy = given.x, d[0]
    rank = len(meta(x).shape)
    axes, _ = lengths(given.name, given.s, given.axes, rank)
    norm = OPPOSITE[given.norm]
    name, last = given.name, axes[-1]
    hermite = "h" in name  # the transforms of conjugates, which are scaled as the opposite direction
    if given.kind == "c2c":
        found = (fftn if name.startswith("i") else ifftn)(dy, axes=axes, norm=norm)
    elif given.kind == "r2c":
        n = given.s[-1] if given.s is not None else meta(x).shape[last]
        dy = dy.conj() if hermite else dy
        scale = norm if not hermite else given.norm
        whole_axis = cut(dy, [last], [n])
        found = ifftn(whole_axis, axes=axes, norm=scale).real()
    else:
        n = meta(made[0]).shape[last]
        scale = norm if not hermite else given.norm
        half = rfftn(dy, axes=axes, norm=scale)
        twice = np.full(meta(half).shape[last], 2.0)
        twice[0] = 1.0
        if n % 2 == 0 and n > 0:
            twice[-1] = 1.0
        factors = from_array(
            twice.reshape([-1 if a == last else 1 for a in range(rank)]).astype(meta(dy).dtype.numpy), meta(x).place
        )
        found = half * factors
        found = found.conj() if hermite else found
        if not meta(x).dtype.is_complex:
            found = found.real()
    return [cut(found, axes, [meta(x).shape[a] for a in axes])]


def cut(x: Tensor, axes: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """x with other sizes along axes: without its last elements, or with zeros behind them."""
    for axis, n in zip(axes, sizes):
        have = meta(x).shape[axis]
        if have > n:
            x = _operators.slice(x, [axis], [0], [n])
        elif have < n:
            m = meta(x)
            shape = [n - have if a == axis else size for a, size in enumerate(m.shape)]
            x = _operators.concat([x, filled(tuple(shape), 0, m.dtype, m.place)], axis)
    return x


@derivative(_adjoint, "x")
def transformed(
    name: str, x: Tensor, kind: str, s: Any, axes: Any, norm: Any, function: Callable[..., Array], out: Tensor | None
) -> Tensor:
    """A transform of x by a function of NumPy.

    Args:
        kind: "c2c", "r2c" with a half of the last axis, or "c2r" with all of it from a half.
        function: of the array, the lengths, the axes and the norm.
    """
    if kind != "c2r":
        on_cpu(name, x)
    values, double = operand(name, x, kind == "r2c")
    given = scaling(name, norm)
    at, sizes = lengths(name, s, axes, values.ndim)
    shape = list(values.shape)
    for axis, n in zip(at, sizes or ()):
        shape[axis] = n
    if kind == "r2c":
        shape[at[-1]] = shape[at[-1]] // 2 + 1
    elif kind == "c2r" and sizes is None:
        shape[at[-1]] = max(2 * (shape[at[-1]] - 1), 0)
    real, whole = (np.float64, np.complex128) if double else (np.float32, np.complex64)
    dtype = real if kind == "c2r" else whole
    if not values.size or 0 in shape:  # NumPy has no transform of nothing
        found: Array = np.zeros(shape, dtype)
    else:
        with np.errstate(all="ignore"):
            found = function(values, sizes, at, given).astype(dtype, copy=False)
    return into(out, _default_place.array_beside(found, meta(x).place))


def hermitian(x: Array, s: Any, axes: Any, norm: str) -> Array:
    """The transform of what has a real spectrum: the inverse of the conjugate, scaled as the direct one."""
    return np.fft.irfftn(np.conj(x), s, axes, OPPOSITE[norm])


def inverse_hermitian(x: Array, s: Any, axes: Any, norm: str) -> Array:
    found: Array = np.fft.rfftn(x, s, axes, OPPOSITE[norm])
    found.imag = 0 - found.imag  # what is real has the imaginary part 0.0, and -0.0 as a conjugate
    return found


@renamed(input="x", dim="axis")
def fft(
    x: Tensor,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The transform along an axis: complex, of the shape of x.

    Args:
        n: the length along the axis, to which x is cut or filled up with zeros; None: that of x.
        axis: along which.

    Raises:
        TypeError: x is no tensor, or is on an mps device.
        ValueError: n is not above 0, the axis is out of range, or there is no such norm.
        UnsupportedError: x is of half precision or of bools.
    """
    return transformed("fft", x, "c2c", *one("fft", n, axis), norm, np.fft.fftn, out)


@renamed(input="x", dim="axis")
def ifft(
    x: Tensor,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `fft`.

    Args:
        n: the length along the axis, to which x is cut or filled up with zeros; None: that of x.
        axis: along which.

    Raises:
        TypeError: x is no tensor, or is on an mps device.
        ValueError: n is not above 0, the axis is out of range, or there is no such norm.
        UnsupportedError: x is of half precision or of bools.
    """
    return transformed("ifft", x, "c2c", *one("ifft", n, axis), norm, np.fft.ifftn, out)


@renamed(input="x", dim="axis")
def rfft(
    x: Tensor,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The first n // 2 + 1 elements of the transform of real numbers, of which the others are conjugates.

    Args:
        n: the length along the axis, to which x is cut or filled up with zeros; None: that of x.
        axis: along which.

    Raises:
        TypeError: x is no tensor, or is on an mps device.
        ValueError: n is not above 0, the axis is out of range, or there is no such norm.
        UnsupportedError: x is complex, of half precision or of bools.
    """
    return transformed("rfft", x, "r2c", *one("rfft", n, axis), norm, np.fft.rfftn, out)


@renamed(input="x", dim="axis")
def irfft(
    x: Tensor,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `rfft`: n real numbers from n // 2 + 1 complex ones.

    Args:
        n: the length along the axis, to which x is cut or filled up with zeros; None: 2 * (m - 1) for m elements.
        axis: along which.

    Raises:
        TypeError: x is no tensor.
        ValueError: n is not above 0, the axis is out of range, or there is no such norm.
        UnsupportedError: x is of half precision or of bools.
    """
    return transformed("irfft", x, "c2r", *one("irfft", n, axis), norm, np.fft.irfftn, out)


@renamed(input="x", dim="axis")
def hfft(
    x: Tensor,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The transform, which is real, of n // 2 + 1 elements that stand for n: the others are conjugates.

    Args:
        n: the length along the axis, to which x is cut or filled up with zeros; None: 2 * (m - 1) for m elements.
        axis: along which.

    Raises:
        TypeError: x is no tensor.
        ValueError: n is not above 0, the axis is out of range, or there is no such norm.
        UnsupportedError: x is of half precision or of bools.
    """
    return transformed("hfft", x, "c2r", *one("hfft", n, axis), norm, hermitian, out)


@renamed(input="x", dim="axis")
def ihfft(
    x: Tensor,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `hfft`: n // 2 + 1 complex numbers from n real ones.

    Args:
        n: the length along the axis, to which x is cut or filled up with zeros; None: that of x.
        axis: along which.

    Raises:
        TypeError: x is no tensor, or is on an mps device.
        ValueError: n is not above 0, the axis is out of range, or there is no such norm.
        UnsupportedError: x is complex, of half precision or of bools.
    """
    return transformed("ihfft", x, "r2c", *one("ihfft", n, axis), norm, inverse_hermitian, out)


@renamed(input="x", dim="axes")
def fft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`fftn` along two axes, the last two unless others are given.

    Args:
        s: two lengths, to which x is cut or filled up with zeros; None: those of x.

    Raises:
        TypeError: x is no tensor, or is on an mps device.
        ValueError: x has fewer than two axes, s or axes are not two, a length is not above 0, an axis is out of range,
            or there is no such norm.
        UnsupportedError: x is of a dtype that `fftn` does not take.
    """
    return transformed("fft2", x, "c2c", *two("fft2", x, s, axes), norm, np.fft.fftn, out)


@renamed(input="x", dim="axes")
def ifft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`ifftn` along two axes, the last two unless others are given.

    Args:
        s: two lengths, to which x is cut or filled up with zeros; None: those of x.

    Raises:
        TypeError: x is no tensor, or is on an mps device.
        ValueError: x has fewer than two axes, s or axes are not two, a length is not above 0, an axis is out of range,
            or there is no such norm.
        UnsupportedError: x is of a dtype that `ifftn` does not take.
    """
    return transformed("ifft2", x, "c2c", *two("ifft2", x, s, axes), norm, np.fft.ifftn, out)


@renamed(input="x", dim="axes")
def rfft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`rfftn` along two axes, the last two unless others are given.

    Args:
        s: two lengths, to which x is cut or filled up with zeros; None: those of x.

    Raises:
        TypeError: x is no tensor, or is on an mps device.
        ValueError: x has fewer than two axes, s or axes are not two, a length is not above 0, an axis is out of range,
            or there is no such norm.
        UnsupportedError: x is of a dtype that `rfftn` does not take.
    """
    return transformed("rfft2", x, "r2c", *two("rfft2", x, s, axes), norm, np.fft.rfftn, out)


@renamed(input="x", dim="axes")
def irfft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`irfftn` along two axes, the last two unless others are given.

    Args:
        s: two lengths, to which x is cut or filled up with zeros; None: those of x.

    Raises:
        TypeError: x is no tensor.
        ValueError: x has fewer than two axes, s or axes are not two, a length is not above 0, an axis is out of range,
            or there is no such norm.
        UnsupportedError: x is of a dtype that `irfftn` does not take.
    """
    return transformed("irfft2", x, "c2r", *two("irfft2", x, s, axes), norm, np.fft.irfftn, out)


@renamed(input="x", dim="axes")
def hfft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`hfftn` along two axes, the last two unless others are given.

    Args:
        s: two lengths, to which x is cut or filled up with zeros; None: those of x.

    Raises:
        TypeError: x is no tensor.
        ValueError: x has fewer than two axes, s or axes are not two, a length is not above 0, an axis is out of range,
            or there is no such norm.
        UnsupportedError: x is of a dtype that `hfftn` does not take.
    """
    return transformed("hfft2", x, "c2r", *two("hfft2", x, s, axes), norm, hermitian, out)


@renamed(input="x", dim="axes")
def ihfft2(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = (-2, -1),
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`ihfftn` along two axes, the last two unless others are given.

    Args:
        s: two lengths, to which x is cut or filled up with zeros; None: those of x.

    Raises:
        TypeError: x is no tensor, or is on an mps device.
        ValueError: x has fewer than two axes, s or axes are not two, a length is not above 0, an axis is out of range,
            or there is no such norm.
        UnsupportedError: x is of a dtype that `ihfftn` does not take.
    """
    return transformed("ihfft2", x, "r2c", *two("ihfft2", x, s, axes), norm, inverse_hermitian, out)


@renamed(input="x", dim="axes")
def fftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The transform along several axes: complex, of the shape of x.

    Args:
        s: the lengths along the axes, to which x is cut or filled up with zeros; None: those of x.
        axes: along which; None: the last len(s), or all.

    Raises:
        TypeError: x is no tensor, or is on an mps device.
        ValueError: a length is not above 0, an axis is out of range or stands twice, there are not as many lengths as
            axes, or there is no such norm.
        UnsupportedError: x is of half precision or of bools.
    """
    return transformed("fftn", x, "c2c", s, axes, norm, np.fft.fftn, out)


@renamed(input="x", dim="axes")
def ifftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `fftn`.

    Args:
        s: the lengths along the axes, to which x is cut or filled up with zeros; None: those of x.
        axes: along which; None: the last len(s), or all.

    Raises:
        TypeError: x is no tensor, or is on an mps device.
        ValueError: a length is not above 0, an axis is out of range or stands twice, there are not as many lengths as
            axes, or there is no such norm.
        UnsupportedError: x is of half precision or of bools.
    """
    return transformed("ifftn", x, "c2c", s, axes, norm, np.fft.ifftn, out)


@renamed(input="x", dim="axes")
def rfftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The transform of real numbers along several axes, and of the last of them the first n // 2 + 1 elements.

    Args:
        s: the lengths along the axes, to which x is cut or filled up with zeros; None: those of x.
        axes: along which; None: the last len(s), or all.

    Raises:
        TypeError: x is no tensor, or is on an mps device.
        ValueError: a length is not above 0, an axis is out of range or stands twice, there are not as many lengths as
            axes, or there is no such norm.
        UnsupportedError: x is complex, of half precision or of bools.
    """
    return transformed("rfftn", x, "r2c", s, axes, norm, np.fft.rfftn, out)


@renamed(input="x", dim="axes")
def irfftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `rfftn`: real, with n elements along the last of the axes from n // 2 + 1.

    Args:
        s: the lengths along the axes of the result, to which x is cut or filled up with zeros; None: those of x.
        axes: along which; None: the last len(s), or all.

    Raises:
        TypeError: x is no tensor.
        ValueError: a length is not above 0, an axis is out of range or stands twice, there are not as many lengths as
            axes, or there is no such norm.
        UnsupportedError: x is of half precision or of bools.
    """
    return transformed("irfftn", x, "c2r", s, axes, norm, np.fft.irfftn, out)


@renamed(input="x", dim="axes")
def hfftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`fftn` with a real result, along the last of the axes from the first n // 2 + 1 of n elements; see `hfft`.

    Args:
        s: the lengths along the axes of the result, to which x is cut or filled up with zeros; None: those of x.
        axes: along which; None: the last len(s), or all.

    Raises:
        TypeError: x is no tensor.
        ValueError: a length is not above 0, an axis is out of range or stands twice, there are not as many lengths as
            axes, or there is no such norm.
        UnsupportedError: x is of half precision or of bools.
    """
    return transformed("hfftn", x, "c2r", s, axes, norm, hermitian, out)


@renamed(input="x", dim="axes")
def ihfftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The inverse of `hfftn`.

    Args:
        s: the lengths along the axes, to which x is cut or filled up with zeros; None: those of x.
        axes: along which; None: the last len(s), or all.

    Raises:
        TypeError: x is no tensor, or is on an mps device.
        ValueError: a length is not above 0, an axis is out of range or stands twice, there are not as many lengths as
            axes, or there is no such norm.
        UnsupportedError: x is complex, of half precision or of bools.
    """
    return transformed("ihfftn", x, "r2c", s, axes, norm, inverse_hermitian, out)


@requiring
def fftfreq(
    n: int,
    d: float = 1.0,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: PlaceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of the elements of `fft`: 0, 1, ..., -2, -1 over d * n.

    Args:
        n: how many elements.
        d: the distance of samples.
        dtype: None: the default one.
        out: takes the result and is returned.
        device: where the tensor lives; None: the current place.

    Raises:
        ValueError: n or d is 0.
        TypeError: n is no int.
    """
    return frequencies("fftfreq", n, d, False, dtype, out, device, requires_grad)


@requiring
def rfftfreq(
    n: int,
    d: float = 1.0,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: PlaceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of the elements of `rfft`: 0, 1, ..., n // 2 over d * n, of shape [n // 2 + 1].

    Arguments and errors are those of `fftfreq`.
    """
    return frequencies("rfftfreq", n, d, True, dtype, out, device, requires_grad)


def frequencies(
    name: str, n: int, d: float, half: bool, dtype: Any, out: Tensor | None, device: Any, requires_grad: bool
) -> Tensor:
    """The numbers of the elements of a transform of n, those from 0 in front, over n * d; with half those from 0 only."""
    if not isinstance(n, int):
        raise TypeError(f"[{name}] n is {said(n)}; want an int")
    real(name, "d", d)
    first, end = (0, n // 2 + 1) if half else (-(n // 2), (n + 1) // 2)
    if n * d == 0:
        raise ValueError(f"[{name}] n is {n} and d is {d}; want neither to be 0")
    kind = _dtype.default() if dtype is None else dtype
    counts = arange(first, end, dtype=kind, device=device, requires_grad=requires_grad)
    found: Tensor = roll(counts, first, 0) * (1.0 / (n * d))
    return into(out, found)


@renamed(input="x", dim="axes")
def fftshift(x: Tensor, axes: int | Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """x with the halves of axes exchanged, so that the frequency 0 is in the middle. A copy, where x is.

    Args:
        axes: an axis, several, or None for all.

    Raises:
        ValueError: x is no tensor, or an axis of several is out of range.
        IndexError: the axis is out of range.
    """
    return _operators.fftshift(x, exchanged("fftshift", x, axes))


@renamed(input="x", dim="axes")
def ifftshift(x: Tensor, axes: int | Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """The inverse of `fftshift`, which differs from it where an axis has an odd number of elements. A copy, where x is.

    Args:
        axes: an axis, several, or None for all.

    Raises:
        ValueError: x is no tensor, or an axis of several is out of range.
        IndexError: the axis is out of range.
    """
    return _operators.ifftshift(x, exchanged("ifftshift", x, axes))


def exchanged(name: str, x: Any, axes: Any) -> Sequence[int]:
    """The axes whose halves are exchanged."""
    rank = len(meta(tensor(x, name, "x")).shape)
    given = range(rank) if axes is None else whole("axes", axes)
    return [axis_of(name, a, rank, IndexError if isinstance(axes, int) else ValueError) for a in given]
