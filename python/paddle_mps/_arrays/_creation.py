"""Tensors from data, from a value and from a range."""

from __future__ import annotations

import functools
import math
import struct
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import numpy as np

from .._calls import _complex, _operators
from .._calls._call import into, renamed, resolve
from .._calls._tracing import active as traced
from .._calls._tracing import paused
from .._core import _dtype, _place
from .._core._caller import called
from .._core._convert import FAR, REQUIRED, chosen, scalar, whole
from .._core._dtype import DType, DTypeLike
from .._core._errors import SizeError, UnsupportedError, rename
from .._core._objects import Tensor, address, blank, from_array, meta
from .._core._place import Place
from .._devices import _default_place
from . import _dlpack

if TYPE_CHECKING:
    from .._core._typing import Data, PlaceLike, Scalar, ShapeLike

Function = TypeVar("Function", bound=Callable[..., Any])


def where(place: PlaceLike | None, device: PlaceLike | None) -> Place:
    """The place that place= or device= names, or the current one; both are a TypeError."""
    if place is not None and device is not None:
        raise TypeError(f"[{called('place')}] got place= and device=; want one of them")
    given = place if place is not None else device
    return _place.current() if given is None else _place.place(given)


def fit(dtype: DType, place: PlaceLike | None, device: PlaceLike | None) -> tuple[DType, Place]:
    """A dtype, and the place of `where` for it: the current place may lack the dtype, see `_default_place.fit`."""
    if place is None and device is None:
        return _default_place.fit(dtype)
    return dtype, where(place, device)


def leaf(x: Tensor) -> Tensor:
    """A tensor that was just made, as a leaf that gets a gradient."""
    x.stop_gradient = False
    return x


def requiring(function: Function) -> Function:
    """Gives a function that makes tensors the argument requires_grad: with True the result is a leaf that has a gradient.

    One that is `renamed` loses that wrapper: this one does the same, in the time of one.
    """
    names: dict[str, str] = getattr(function, "names", {})
    if names:
        function = function.__wrapped__  # type: ignore[attr-defined]

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            return function(*args)
        if names and not kwargs.keys().isdisjoint(names):
            resolve(function, names, kwargs)
        made = function(*args, **kwargs)
        return leaf(made) if kwargs.get("requires_grad") else made

    return wrapper  # type: ignore[return-value]


def refuse(pin_memory: Any = False) -> None:
    """Raises for arguments that ask for pinned memory."""
    if pin_memory:
        raise UnsupportedError(
            f"[{called('pin_memory')}] pin_memory is True; want False: memory of mps devices is the CPU's own"
        )


def dims(shape: ShapeLike | None) -> tuple[int, ...]:
    """A shape from anything that Paddle accepts as one; None is that of a 0-d tensor.

    Raises:
        TypeError: it contains anything but whole numbers.
        ValueError: a dimension is negative.
    """
    if shape.__class__ is list or shape.__class__ is tuple:
        for n in shape:  # type: ignore[union-attr]
            if n.__class__ is not int or not 0 <= n < FAR:
                break
        else:
            return tuple(shape)  # type: ignore[arg-type]
    found = () if shape is None else whole("shape", shape)
    if found and min(found) < 0:
        raise SizeError(f"[{called('shape')}] shape is {list(found)}; want dimensions from 0")
    return found


def floating(dtype: DTypeLike | None) -> DType:
    """The given dtype, or the default one."""
    return _dtype.default() if dtype is None else _dtype.dtype(dtype)


def sized(function: Function) -> Function:
    """`requiring`, which also lets the dimensions stand as arguments of their own, f(2, 3) for f([2, 3]), and takes size=."""
    value = {"zeros": 0, "ones": 1}.get(function.__name__)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and value is not None and (not kwargs or (len(kwargs) == 1 and "dtype" in kwargs)):
            made = usual(args[0], value, kwargs["dtype"] if kwargs else None)
            if made is not None:
                return made
        if len(args) > 1 and all(isinstance(a, int) and not isinstance(a, bool) for a in args):
            args = (args,)
        if not kwargs:
            return function(*args)
        if "size" in kwargs:
            resolve(function, {"size": "shape"}, kwargs)
        made = function(*args, **kwargs)
        return leaf(made) if kwargs.get("requires_grad") else made

    return wrapper  # type: ignore[return-value]


def value_of(x: Any) -> Any:
    """A bound or a fill value as a Python number: it may be a NumPy scalar or a tensor of one."""
    return x.item() if isinstance(x, (Tensor, np.ndarray, np.generic)) else x


def to_tensor(
    data: Data,
    dtype: DTypeLike | None = None,
    place: PlaceLike | None = None,
    stop_gradient: bool = True,
    *,
    device: PlaceLike | None = None,
    zero_copy: bool = False,
) -> Tensor:
    """A tensor with a copy of data.

    Args:
        data: a number, nested lists or tuples of numbers, a NumPy array or scalar, or a tensor. No gradient goes back to it.
        dtype: None: int64, bool, the default dtype or the complex one of its width for Python numbers; else the
            data's own. Of complex data a real dtype takes the real parts.
        place: where the tensor lives; None: the current place. device= is another name for it.
        stop_gradient: False for a leaf that gets a gradient; only of floating-point dtypes.
        zero_copy: share the memory of a NumPy array or a tensor instead of copying it: writing through
            either is seen through the other, once `paddle.mps.synchronize` has returned if an mps device
            is one of the two. The GPU wants memory that begins with a page: see
            `paddle.mps.page_aligned_empty`.

    Raises:
        TypeError: data is of another type; or float64 or complex on an mps device, which has neither.
        ValueError: lists of different lengths, or an array of a dtype that is not supported.
        UnsupportedError: zero_copy with data that cannot be shared without a copy.
    """
    if not stop_gradient:
        return leaf(to_tensor(data, dtype, place, device=device, zero_copy=zero_copy))
    if zero_copy:
        return shared(data, dtype, where(place, device))
    if isinstance(data, Tensor):
        given: Tensor = data.detach()
        kind, target = fit(meta(given).dtype if dtype is None else _dtype.dtype(dtype), place, device)
        if target == meta(given).place:
            return _operators.cast(given, kind)
        if target.kind == _place.CPU:
            return _operators.cast(given.to(target), kind)
        return _operators.cast(given, kind).to(target)
    if isinstance(data, (np.ndarray, np.generic)):
        array = np.asarray(data)
    elif isinstance(data, (bool, int, float, complex, list, tuple)):
        array = from_python(data, dtype is None)
    else:
        raise TypeError(
            f"[{called('to_tensor')}] data is {type(data).__name__}; want a number, a list, a tuple, an array or a Tensor"
        )
    if dtype is not None:
        array = converted(array, _dtype.dtype(dtype))
    if place is None and device is None:
        return _default_place.placed(array)
    return from_array(array, where(place, device))


def from_python(data: Any, by_default: bool) -> np.ndarray[Any, Any]:
    """An array of Python numbers; floating-point ones in the default dtype if that is asked for.

    Tensors right in the list keep their dtype, as in Paddle; in lists inside of it they count as numbers.
    """
    try:
        array = np.array(data)
    except ValueError:
        raise ValueError(
            f"[{called('to_tensor')}] the lists differ in length; want lists of one length at each depth"
        ) from None
    if array.dtype.kind in "OUS" or array.dtype == np.uint64:
        raise ValueError(
            f"[{called('to_tensor')}] the data has {unfit(data) or array.dtype}; want bools, ints of 64 bits, floats and complex numbers"
        )
    if array.dtype.kind == "c" and by_default and not has_tensor(data):
        return array if _dtype.default() is _dtype.float64 else array.astype(np.complex64)
    if array.dtype.kind == "f" and by_default and not has_tensor(data):
        return converted(array, _dtype.default())
    if array.dtype.kind == "i" and not has_tensor(data):
        return array.astype(np.int64)
    return array


def unfit(data: Any) -> str:
    """What in nested lists is no element of a tensor, in words."""
    if isinstance(data, (list, tuple)):
        return next((found for found in map(unfit, data) if found), "")
    if isinstance(data, int) and not -(2**63) <= data < 2**63:
        return f"the int {data}"
    if isinstance(data, (bool, int, float, complex, np.bool_, np.number, Tensor)):
        return ""
    return repr(data) if isinstance(data, (str, bytes)) else f"a {type(data).__name__}"


def has_tensor(data: Any) -> bool:
    return isinstance(data, (list, tuple)) and any(isinstance(x, Tensor) for x in data)


def converted(array: np.ndarray[Any, Any], dtype: DType) -> np.ndarray[Any, Any]:
    """An array in another dtype: NumPy has no bfloat16 and warns where Paddle converts in silence."""
    if _dtype.BY_NUMPY.get(array.dtype) is dtype:
        return array
    if dtype is _dtype.bfloat16 or array.dtype == np.uint16 or array.dtype.kind in "fc":
        with paused():
            return from_array(array, _place.cpu).cast(dtype).numpy()
    return array.astype(dtype.numpy)


def shared(data: Data, dtype: DTypeLike | None, place: Place) -> Tensor:
    """A tensor of a place over the memory of data."""
    if not isinstance(data, (Tensor, np.ndarray)):
        raise UnsupportedError(
            f"[{called('to_tensor')}] zero_copy of {type(data).__name__}; want a NumPy array or a Tensor"
        )
    x = data.detach() if isinstance(data, Tensor) else _dlpack.from_dlpack(data)
    if dtype is not None and x.dtype is not _dtype.dtype(dtype):
        raise UnsupportedError(
            f"[{called('to_tensor')}] zero_copy of {x.dtype.name} as {dtype}; want the data's own dtype"
        )
    return x if meta(x).place == place else _dlpack.shared(x, place)


PAGE = 16384  # bytes, of Apple silicon


def page_aligned_empty(shape: ShapeLike, dtype: DTypeLike | None = None) -> np.ndarray[Any, Any]:
    """An array that `to_tensor(array, place="mps", zero_copy=True)` shares with the GPU.

    Its memory begins with a page, as the GPU requires, and nothing else is on its pages. What the
    elements are is not defined.

    Args:
        shape: dimensions, from 0.
        dtype: None: the default one.
    """
    kind, sizes = floating(dtype).numpy, dims(shape)
    size = math.prod(sizes) * kind.itemsize
    memory = np.empty(-(-size // PAGE) * PAGE + PAGE, np.uint8)
    start = -address(memory) % PAGE
    return memory[start : start + size].view(kind).reshape(sizes)


def full(
    shape: ShapeLike = REQUIRED,
    fill_value: Scalar | str | Tensor = REQUIRED,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    size: ShapeLike | None = None,
) -> Tensor:
    """A tensor of one value.

    Args:
        shape: dimensions, from 0.
        fill_value: a number, a string of one, or a tensor of one element.
        dtype: None: bool for a bool, complex128 for a complex number, else the default dtype, as in Paddle (of
            integers, too). Of a complex number a real dtype takes the real part.
        out: takes the result and is returned.
        device, place: where the tensor lives; None: the current place.
        requires_grad: True for a leaf that gets a gradient.
        size: another name of shape.

    Raises:
        TypeError: fill_value is of another type.
        ValueError: a dimension is negative, or the string is no number.
    """
    if size is not None:
        shape = chosen("full", "shape", shape, REQUIRED, "size", size)
    if pin_memory:
        refuse(pin_memory)
    if plain(fill_value):
        made = constant(shape, fill_value, dtype, out, device, place)
    else:
        made = converted_full(shape, fill_value, dtype, out, device, place)
    return leaf(made) if requires_grad else made


def converted_full(
    shape: Any, fill_value: Any, dtype: Any, out: Tensor | None, device: PlaceLike | None, place: PlaceLike | None
) -> Tensor:
    """`full` of what is no number yet, or not a plain one."""
    if shape is REQUIRED or fill_value is REQUIRED:
        missing = "shape" if shape is REQUIRED else "fill_value"
        raise TypeError(f"full() missing a required argument: {missing!r}")
    if isinstance(fill_value, Tensor) and meta(fill_value).numel != 1:
        raise ValueError(f"[{called('full')}] fill_value has {meta(fill_value).numel} elements; want one")
    value = value_of(fill_value)
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise ValueError(
                f"[{called('full')}] fill_value is {value!r}; want a number, a string of one or a Tensor"
            ) from None
    if not isinstance(value, _complex.NUMBERS) and scalar(value) is None:
        raise TypeError(
            f"[{called('full')}] fill_value is {type(value).__name__}; want a number, a string of one or a Tensor"
        )
    if dtype is None:
        dtype = _dtype.bool_ if isinstance(value, bool) else _dtype.default()
        if isinstance(value, _complex.NUMBERS) and not isinstance(fill_value, Tensor):
            dtype = _dtype.complex128
    return into(out, filled(dims(shape), value, *fit(_dtype.dtype(dtype), place, device)))


def plain(value: Any) -> bool:
    """Whether a fill value is a number that needs no conversion."""
    return value.__class__ is float or (value.__class__ is int and -FAR < value < FAR)


def constant(
    shape: ShapeLike | None, value: Any, dtype: DTypeLike | None, out: Tensor | None, device: PlaceLike | None,
    place: PlaceLike | None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of one real number: `full` without what other values need."""
    if pin_memory:
        refuse(pin_memory)
    if place is None and device is None:
        made = usual(shape, value, dtype)
        if made is not None:
            return made if out is None else into(out, made)
    made = filled(dims(shape), value, *fit(floating(dtype), place, device))
    return made if out is None else into(out, made)


def usual(shape: Any, value: float, dtype: Any) -> Tensor | None:
    """What `constant` makes at the current place, of arguments that programs usually pass; None for others.

    It calls nothing but the operator, because calls of Python functions take most of the time of a small tensor.
    """
    if shape.__class__ is not list and shape.__class__ is not tuple:
        return None
    for n in shape:
        if n.__class__ is not int or not 0 <= n < FAR:
            return None
    kind = _dtype.chosen_default[0] if dtype is None else dtype
    if kind.__class__ is str:
        kind = _dtype.NAMES.get(kind)
    if kind.__class__ is not DType:
        return None
    if kind.is_complex or not _place.here:
        return None
    target = _place.here[0]
    if target.kind != _place.CPU and kind.name in _default_place.RARE:
        return None
    return _operators.full(target.word, shape, value, kind)


def room(function: str, shape: list[int], dtype: DType, place: Place) -> None:
    """Raises what a result of a function would raise that there is no memory for, before work is done for it.

    Raises:
        ValueError: the shape has more bytes than addresses.
        OutOfMemoryError: the place has not as much memory.
    """
    if traced():
        return
    try:
        blank(tuple(shape), dtype, place)
    except Exception as error:
        rename(error, ("empty",), function)
        raise


def filled(shape: tuple[int, ...], value: Any, dtype: DType, place: Place) -> Tensor:
    if dtype.is_complex:
        return from_array(np.full(shape, value, dtype.numpy), place)
    if value.__class__ is not float and value.__class__ is not int and isinstance(value, _complex.NUMBERS):
        value = float(value.real)
    return _operators.full(place.word, shape, value, dtype)


def full_0d(x: Tensor, value: Any) -> Tensor:
    """A 0-d tensor of a number, in the dtype and place of x."""
    return filled((), value, meta(x).dtype, meta(x).place)


@sized
def zeros(
    shape: ShapeLike | None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of zeros; see `full`."""
    return constant(shape, 0, dtype, out, device, place, pin_memory)


@sized
def ones(
    shape: ShapeLike | None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of ones; see `full`."""
    return constant(shape, 1, dtype, out, device, place, pin_memory)


@sized
def empty(
    shape: ShapeLike | None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor with undefined elements; see `full`."""
    refuse(pin_memory)
    return into(out, blank(dims(shape), *fit(floating(dtype), place, device)))


def like(x: Tensor, dtype: DTypeLike | None, place: PlaceLike | None, device: PlaceLike | None) -> Any:
    """(shape, dtype, place) of x, unless others are given."""
    if not isinstance(x, Tensor):
        raise TypeError(f"[{called('like')}] x is {type(x).__name__}; want a Tensor")
    m = meta(x)
    kind, given = m.dtype if dtype is None else _dtype.dtype(dtype), m.place
    if place is not None or device is not None:
        given = where(place, device)
    elif dtype is not None and kind is not m.dtype:
        if not _place.is_displaced(given):
            kind, given = _default_place.beside(kind, given)
        elif called("like").endswith("_like") and not _default_place.lacks(_place.current(), kind):
            given = _place.current()
    return m.shape, kind, given


def alike(x: Tensor, value: float) -> Tensor:
    """One number in the shape, dtype and place of x."""
    if not isinstance(x, Tensor):
        like(x, None, None, None)  # raises
    m = meta(x)
    if m.dtype.is_complex:
        return filled(m.shape, value, m.dtype, m.place)
    return _operators.full(m.place.word, m.shape, value, m.dtype)


@requiring
@renamed(input="x")
def zeros_like(
    x: Tensor,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros in the shape, and unless given the dtype and place, of x."""
    if dtype is None and place is None and device is None and not pin_memory:
        return alike(x, 0)
    refuse(pin_memory)
    shape, kind, target = like(x, dtype, place, device)
    return filled(shape, 0, kind, target)


@requiring
@renamed(input="x")
def ones_like(
    x: Tensor,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Ones in the shape, and unless given the dtype and place, of x."""
    if dtype is None and place is None and device is None and not pin_memory:
        return alike(x, 1)
    refuse(pin_memory)
    shape, kind, target = like(x, dtype, place, device)
    return filled(shape, 1, kind, target)


@requiring
@renamed(input="x")
def full_like(
    x: Tensor,
    fill_value: Scalar | Tensor,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """One value in the shape, and unless given the dtype and place, of x."""
    if dtype is None and place is None and device is None and fill_value.__class__ is float and not pin_memory:
        return alike(x, fill_value)  # type: ignore[arg-type]
    shape, kind, target = like(x, dtype, place, device)
    refuse(pin_memory)
    if plain(fill_value):
        return filled(shape, fill_value, kind, target)
    return full(shape, fill_value, kind, place=target)


@requiring
@renamed(input="x")
def empty_like(
    x: Tensor,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Undefined elements in the shape, and unless given the dtype and place, of x."""
    refuse(pin_memory)
    return blank(*like(x, dtype, place, device))


def arange(
    start: Scalar | Tensor = 0,
    end: Scalar | Tensor | None = None,
    step: Scalar | Tensor = 1,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    name: str | None = None,
) -> Tensor:
    """start, start + step, ... before end; arange(n) counts from 0.

    Args:
        dtype: None: int64, or the default dtype if a bound or the step is a float.

    Raises:
        ValueError: the step is 0, or a bound is not finite.
    """
    if pin_memory:
        refuse(pin_memory)
    if end is None:
        start, end = 0, start
    if start.__class__ is int and end.__class__ is int and step.__class__ is int and dtype is None and out is None:
        quick = usual_range(start, end, step, place, device) if not requires_grad else None  # type: ignore[arg-type]
        if quick is not None:
            return quick
    ints = start.__class__ is end.__class__ is step.__class__ is int
    if not between(start, end, step, ints):
        start, end, step = checked([start, end, step])
    kind = _dtype.int64
    if dtype is not None:
        kind = _dtype.dtype(dtype)
    elif not ints and (isinstance(start, float) or isinstance(end, float) or isinstance(step, float)):
        kind = _dtype.chosen_default[0]
    if not ints and not kind.is_floating:
        start, end, step = int(start), int(end), int(step)
    if place is None and device is None and kind.name not in _default_place.RARE:
        made = counted(start, end, step, kind, _place.current())
    else:
        made = counted(start, end, step, *fit(kind, place, device))
    if out is not None:
        made = into(out, made)
    return leaf(made) if requires_grad else made


def usual_range(start: int, end: int, step: int, place: PlaceLike | None, device: PlaceLike | None) -> Tensor | None:
    """What `arange` makes of ints, as `usual` does; None for ints that need a check."""
    if place is not None or device is not None or step == 0 or not _place.here:
        return None
    if not (-FAR < start < FAR and -FAR < end < FAR and -FAR < step < FAR):
        return None
    count = -((start - end) // step)
    return _operators.range(_place.here[0].word, start, step, count if count > 0 else 0, _dtype.int64)


def between(start: Any, end: Any, step: Any, ints: bool) -> bool:
    """Whether start, end and step of arange are numbers far from the ends of the range of int64, and the step is not 0."""
    if ints:
        return bool(-FAR < start < FAR and -FAR < end < FAR and -FAR < step < FAR and step != 0)
    if not REAL.issuperset((start.__class__, end.__class__, step.__class__)):
        return False
    return bool(-AFAR < start < AFAR and -AFAR < end < AFAR and -AFAR < step < AFAR and step != 0)


AFAR = float(FAR)  # a float is compared with it in half the time
REAL = frozenset({int, float})


def checked(bounds: list[Any]) -> list[Any]:
    """start, end and step of arange as numbers.

    Raises:
        TypeError: one is no number.
        ValueError: the step is 0, or a bound is not finite.
    """
    bounds = [value_of(b) for b in bounds]
    if any(scalar(b) is None for b in bounds):
        raise TypeError(f"[arange] start, end and step are {bounds}; want numbers")
    if not all(math.isfinite(b) for b in bounds) or bounds[2] == 0:
        raise ValueError(f"[arange] start, end and step are {bounds}; want finite numbers and a step that is not 0")
    return bounds


def counted(start: Any, end: Any, step: Any, dtype: DType, place: Place) -> Tensor:
    if step == 0:
        raise ValueError(f"[arange] the step is 0 in {dtype.name}; want another one")
    exact = isinstance(start, int) and isinstance(end, int) and isinstance(step, int)
    count = -((start - end) // step) if exact else steps(start, end, step, dtype)
    if count >= 2**63:
        raise ValueError(f"[arange] start, end and step are {[start, end, step]}; want fewer than 2**63 elements")
    return _operators.range(place.word, start, step, count if count > 0 else 0, dtype)


def steps(start: float, end: float, step: float, dtype: DType) -> int:
    """How many steps it takes from start to end. As in Paddle, float32 is computed in float32.

    A difference or quotient of float32 numbers that is rounded to float64 and then to float32 is the one that is rounded once.
    """
    if step != 0:
        found = (end - start) / step
        fine = (start + end) * 1024.0, start * 1024.0, step * 1024.0
        if (
            float(found).is_integer() and -4096 < found < 4096 and -4096 < start < 4096 and -4096 < end < 4096
            and fine[0].is_integer() and fine[1].is_integer() and fine[2].is_integer()
        ):  # fmt: skip
            return int(found)  # multiples of 1 / 1024 of at most 24 bits: nothing is rounded in either dtype
    rounded = single if dtype is _dtype.float32 else float
    size = rounded(step)
    if size == 0:
        return 2**63
    found = rounded(rounded(rounded(end) - rounded(start)) / size)
    return math.ceil(found) if math.isfinite(found) else 2**63


SINGLE = struct.Struct("=f")


def single(number: float) -> float:
    """The nearest float32; an infinity beyond the largest."""
    try:
        nearest: float = SINGLE.unpack(SINGLE.pack(number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)
    return nearest


def linspace(
    start: Scalar | Tensor = REQUIRED,
    stop: Scalar | Tensor = REQUIRED,
    num: int | float | Tensor = REQUIRED,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
    end: Scalar | Tensor | None = None,
    steps: int | float | Tensor | None = None,
) -> Tensor:
    """num values at equal distances from start to stop, both included; of an integer dtype without their fractions,
    as start and stop are beforehand.

    Args:
        end, steps: other names of stop and num.

    Raises:
        ValueError: num is negative.
    """
    if end is not None or steps is not None:
        stop = chosen("linspace", "stop", stop, REQUIRED, "end", end)
        num = chosen("linspace", "num", num, REQUIRED, "steps", steps)
    if num is REQUIRED or stop is REQUIRED or start is REQUIRED:
        missing = "start" if start is REQUIRED else "stop" if stop is REQUIRED else "num"
        raise TypeError(f"linspace() missing a required argument: {missing!r}")
    given = num
    if num.__class__ is not int:
        given = num if plain(num) else value_of(num)
        if not plain(given) and scalar(given) is None:
            raise TypeError(f"[linspace] num is {given!r}; want a number")
    count = int(given)
    kind = _dtype.chosen_default[0] if dtype is None else _dtype.dtype(dtype)
    if place is None and device is None and kind.name not in _default_place.RARE:
        target = _place.here[0] if _place.here else _place.current()
    else:
        kind, target = fit(kind, place, device)
    if count < 0:
        raise ValueError(f"[linspace] num is {count}; want a number from 0")
    if count == 0:
        return into(out, blank((0,), kind, target))
    first: Any = start
    last: Any = stop
    if first.__class__ is not float and first.__class__ is not int:
        first = value_of(first)
    if last.__class__ is not float and last.__class__ is not int:
        last = value_of(last)
    if kind.is_integer:
        first, last = int(first), int(last)
    made = _operators.linspace(target.word, first, last, count, kind)
    if out is not None:
        made = into(out, made)
    return leaf(made) if requires_grad else made
