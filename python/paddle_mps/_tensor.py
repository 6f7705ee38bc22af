"""The class Tensor: what a tensor is and converts to, and Python's operators. Functions that are methods come from `_families`."""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Iterator
from ctypes import byref, c_uint64
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from ._arrays import _array, _dlpack, _indexing, _repr
from ._arrays._creation import empty, full_0d, to_tensor
from ._calls import _operators
from ._calls._call import again, expression, reflected, unary
from ._calls._grad import no_grad
from ._core import _dtype, _ids, _place
from ._core._caller import called
from ._core._convert import index, real, tensor
from ._core._dtype import DType, DTypeLike
from ._core._errors import NoCudaError, TracingError, UnsupportedError, check, rename
from ._core._library import library
from ._core._objects import Base, address, from_array, graded_leaf, information, meta, register, retained, view
from ._core._place import Place
from ._core._size import Size, TensorSize
from ._devices import _default_place, _stream
from ._families import Families
from ._randomness._sampling import uniform

if TYPE_CHECKING:
    from ._core._typing import Data, Index, PlaceLike, Scalar

_names = itertools.count()  # next is one step for the interpreter, so that two threads never get one number

_neg = unary(_ids.NEG, _operators.neg)
_abs = unary(_ids.ABS, _operators.abs)
_invert = unary(_ids.BITWISE_NOT, _operators.bitwise_not)


def fill_(x: Tensor, value: Scalar) -> Tensor:
    """Writes a number into every element; returns the tensor.

    Raises:
        TypeError: value is no number.
    """
    if not isinstance(value, (bool, int, float)):
        raise TypeError(f"[fill_] value is {type(value).__name__}; want a number")
    graded_leaf(x, "fill_")
    _indexing.fill(x, value)
    return x


def zero_(x: Tensor) -> Tensor:
    """Writes zeros; returns the tensor."""
    graded_leaf(x, "zero_")
    return fill_(x, 0)


def bits_like(number: int, x: Tensor) -> Tensor:
    """A number, as Paddle takes it for the left operand of a bitwise operator: with the low bits that the dtype of x has."""
    kind = meta(x).dtype
    return (
        full_0d(x, bool(number)) if kind is _dtype.bool_ else _operators.cast(full_0d(x.astype("int64"), number), kind)
    )


@register
class Tensor(Families, Base):
    """A view of memory on a device: shape, strides, dtype, place.

    Functions and operators make new tensors; slices, transposes and reshapes share the memory of
    what they were made of, as in Paddle. A tensor may be used from several threads.

    Tensor(data) is `to_tensor(data)` with floating-point elements, Tensor(2, 3) an empty tensor of
    that shape; dtype= and place= are those of `to_tensor`.
    """

    __slots__ = ()

    def __new__(cls, *data: Data, dtype: DTypeLike | None = None, place: PlaceLike | None = None) -> Tensor:
        if len(data) == 1 and not isinstance(data[0], int):
            kept = isinstance(data[0], (Tensor, np.ndarray))
            return to_tensor(data[0], dtype or (None if kept else _dtype.default()), place)
        return empty(data, dtype, place=place)

    @property
    def shape(self) -> Size:
        """The dimensions, as a new list."""
        return Size(meta(self).shape if self._shape is None else self._shape)

    @property
    def dtype(self) -> DType:
        """The element type."""
        return meta(self).dtype

    @property
    def place(self) -> Place:
        """Where the tensor is."""
        place = meta(self).place
        return place if place.kind or not place.index else _place.cpu

    @property
    def device(self) -> str:
        """Where the tensor is, in the form that set_device takes: "cpu", "mps:0"."""
        return _place.device_name(meta(self).place)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(meta(self).shape)

    @property
    def size(self) -> TensorSize:
        """The number of elements, an int; called, as size() or size(axis), the dimensions."""
        m = meta(self)
        return TensorSize(m.numel, m.shape)

    @property
    def strides(self) -> list[int]:
        """For each axis the distance of neighbours in memory, in elements."""
        return list(meta(self).strides)

    @property
    def offset(self) -> int:
        """The distance of the first element from the start of the memory, in elements."""
        return int(information(self._handle).offset)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return meta(self).dtype.itemsize

    @property
    def T(self) -> Tensor:
        """All axes in reverse order, as a view."""
        return _array.transpose(self, list(range(self.ndim))[::-1])

    @property
    def mT(self) -> Tensor:
        """The last two axes swapped, as a view."""
        if self.ndim < 2:
            raise ValueError(f"[mT] the number of dimensions is {self.ndim}; want at least 2")
        return _array.transpose(self, -2, -1)

    @property
    def data(self) -> Tensor:
        """Another tensor over the same memory, with stop_gradient=True."""
        same: Tensor = self.detach()
        return same

    @property
    def name(self) -> str:
        """A name, of this object and not of its memory: one that was set, or a new one. None unsets it."""
        given = self._marked("name")
        if given is None:
            given = self._mark("name", f"generated_tensor_{next(_names)}")
        return str(given)

    @name.setter
    def name(self, value: str | None) -> None:
        if value is not None and not isinstance(value, str):
            raise TypeError(f"[name] got {type(value).__name__}; want a str")
        self._mark("name", value)

    @property
    def persistable(self) -> bool:
        """A mark for programs, False at first; nothing here depends on it."""
        return bool(self._marked("persistable"))

    @persistable.setter
    def persistable(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"[persistable] got {type(value).__name__}; want a bool")
        self._mark("persistable", value)

    def _marked(self, what: str) -> Any:
        return getattr(self, "_marks", {}).get(what)

    def _mark(self, what: str, value: Any) -> Any:
        """Sets a mark, and returns it."""
        if not hasattr(self, "_marks"):
            self._marks = {}
        self._marks[what] = value
        return value

    @property
    def layout(self) -> str:
        """ "NCHW", the only layout: tensors say by their strides how they lie in memory."""
        return "NCHW"

    def dim(self) -> int:
        """The number of dimensions."""
        return self.ndim

    ndimension = dim

    @overload
    def stride(self, dim: None = None) -> list[int]: ...
    @overload
    def stride(self, dim: int) -> int: ...
    def stride(self, dim: int | None = None) -> list[int] | int:
        """The strides, or the one of an axis, in elements."""
        return self.strides if dim is None else self.strides[index("dim", dim)]

    def get_strides(self) -> list[int]:
        """The strides in elements."""
        return self.strides

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.itemsize

    def data_ptr(self) -> int:
        """The address of the first element for the CPU, after work on the tensor is done.

        It is valid while the tensor lives and is not moved by an in-place operator.
        """
        _stream.settle(self, writing=True)
        address = ctypes.c_void_p()
        check(library.pmps_tensor_map(self._handle, byref(address)))
        library.pmps_tensor_unmap(self._handle)
        return address.value or 0

    def is_contiguous(self) -> bool:
        """Whether the elements lie in memory in row-major order, without gaps."""
        expected = 1
        for n, stride in zip(reversed(meta(self).shape), reversed(meta(self).strides)):
            if n != 1 and stride != expected:
                return False
            expected *= n
        return True

    def is_floating_point(self) -> bool:
        """Whether the dtype is float16, bfloat16, float32 or float64."""
        return meta(self).dtype.is_floating

    def is_complex(self) -> bool:
        """Whether the dtype is complex64 or complex128."""
        return meta(self).dtype.is_complex

    def numpy(self, force: bool = True) -> np.ndarray[Any, Any]:
        """A copy as a NumPy array, after work on the tensor is done; bfloat16 as bits in uint16.

        Args:
            force: either is a copy; there are no gradients to lose.

        Raises:
            DeviceError: the work that computes the tensor failed.
        """
        m = meta(self)
        array: np.ndarray[Any, Any] = np.empty(m.shape, m.dtype.numpy)
        arguments = self._handle, address(array), array.nbytes
        if not library.pmps_fast_read(*arguments):
            try:
                again(library.pmps_fast_read, *arguments)
            except (TracingError, TypeError) as error:  # the program knows bool(), item() and so on
                rename(error, ("read", "tensor_read"), called("numpy"))
                raise
        return array

    def _values(self) -> np.ndarray[Any, Any]:
        """As `numpy`, with bfloat16 as float32."""
        x = self.cast(_dtype.float32) if meta(self).dtype is _dtype.bfloat16 else self
        return x.numpy()

    def item(self, *args: int) -> Any:
        """An element as a Python bool, int, float or complex.

        Args:
            args: nothing for the only element; its index in row-major order; or one index an axis.

        Raises:
            ValueError: there are several elements, or no such one.
            TypeError: an index is no int.
        """
        if any(isinstance(a, bool) for a in args):
            raise TypeError(f"[{called('item')}] indices are {args}; want ints")
        args = tuple([index("item", a) for a in args])
        shape, numel = meta(self).shape, meta(self).numel
        if not args:
            if numel != 1:
                raise ValueError(f"[{called('item')}] the tensor has {numel} elements; want one, or indices")
            return self._values().item()
        if len(args) == 1:
            if not 0 <= args[0] < numel:
                raise ValueError(f"[{called('item')}] index is {args[0]}; want one of {numel} elements")
            args = tuple(int(i) for i in np.unravel_index(args[0], shape))
        if len(args) != len(shape):
            raise ValueError(f"[{called('item')}] got {len(args)} indices; want {len(shape)}")
        return self[args].item()

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers; a 0-d tensor as a number."""
        return self._values().tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False and meta(self).place.kind == _place.CPU and dtype is None:
            return np.from_dlpack(self)
        if copy is False:
            raise ValueError("[numpy] copy=False of a tensor on an mps device or in another dtype; want a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    __module__ = "paddle_mps"  # where programs find it: type(x) is <class 'paddle_mps.Tensor'>
    __array_ufunc__ = None  # array + tensor is a tensor; np.add(array, tensor) is a TypeError

    def __dlpack__(
        self,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule with the tensor's memory, or with that of a copy.

        Raises:
            BufferError: the memory is not where dl_device says.
        """
        if stream is not None:
            raise UnsupportedError(f"[dlpack] stream is {stream!r}; want None: the export waits by itself")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"[dlpack] device is {dl_device}; want {self.__dlpack_device__()}, where the memory is")
        _stream.settle(self, writing=True)
        versioned = max_version is not None and max_version[0] >= 1
        return _dlpack.to_dlpack(self.clone() if copy else self, versioned)

    def __dlpack_device__(self) -> tuple[int, int]:
        """(kDLCPU, 0): memory of mps devices is the CPU's, too, and so the capsules say."""
        return _dlpack.CPU_DEVICE, 0

    def __len__(self) -> int:
        if not self.ndim:
            raise AssertionError("[len] the tensor has no dimensions; want at least one")
        return meta(self).shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        # A 0-d tensor has no elements to go through, as in Paddle: np.iterable and what asks it want no error.
        return iter([self[i] for i in range(len(self))] if self.ndim else [])

    def __bool__(self) -> bool:
        if meta(self).numel != 1:
            raise AssertionError(f"[bool] the tensor has {self.size} elements; want one (use any() or all())")
        return bool(self._values().item())

    def _number(self, kind: str) -> Any:
        if meta(self).numel != 1:
            raise AssertionError(f"[{kind}] the tensor has {self.size} elements; want one")
        if self.ndim:
            raise TypeError(f"[{kind}] the tensor has shape {list(self.shape)}; want no dimensions (use item())")
        return self._values().item()

    def __int__(self) -> int:
        return int(self._number("int"))

    def __index__(self) -> int:
        return int(self._number("index"))

    def __float__(self) -> float:
        return float(self._number("float"))

    def __complex__(self) -> complex:
        return complex(self._number("complex"))

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if not self.ndim else object.__format__(self, spec)

    def __repr__(self) -> str:
        return _repr.text(self)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        m = meta(self)
        place = None if _place.is_displaced(m.place) else m.place
        return rebuild, (self.numpy(), m.dtype, place, self.stop_gradient)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        """A leaf of its own, as in Paddle: gradients of the copy are not those of the tensor."""
        copy: Tensor = self.detach().clone()
        if not self.stop_gradient:
            copy.stop_gradient = False
        if self.persistable:
            copy.persistable = True
        return copy

    def cpu(self) -> Tensor:
        """The tensor on the CPU: itself, over the same memory, if it is there."""
        return self.to(_place.cpu)

    def mps(self, device_id: int | None = None, blocking: bool = True) -> Tensor:
        """The tensor on an mps device (None: the current one): itself if it is there.

        Args:
            blocking: False to return before the copy is done; see `to`.

        Raises:
            DeviceError: the machine has no such device.
            TypeError: a float64 tensor; mps devices have no float64.
        """
        return self.to(_place.mps_place(device_id), blocking=blocking)

    def cuda(self, device_id: int | None = None, blocking: bool = True) -> Tensor:
        """Refused: there is no CUDA device.

        Raises:
            NoCudaError: always. It is a ValueError, as in Paddle, and a RuntimeError.
        """
        raise NoCudaError("[cuda] there is no CUDA device; want x.mps()")

    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """The tensor on another place, in another dtype, or both.

        to(device, dtype=None, blocking=None), to(dtype, blocking=None), to(other, blocking=None):
        device is 'cpu', 'mps', 'mps:N' or a Place; other is a tensor, whose place and dtype are taken.
        With blocking=False, or non_blocking=True, the copy may still be under way on return. It keeps
        its source: both tensors may be used, written to and deleted at once.

        Raises:
            DeviceError: the machine has no such device, or the work behind a tensor that is waited for failed.
            TypeError: the arguments are none of these.
            ValueError: there is no device or dtype of that name.
        """
        if len(args) == 1 and not kwargs and args[0].__class__ is str and args[0] in _dtype.NAMES:
            return self.cast(args[0])
        target, dtype, blocking = destination(args, kwargs)
        last = target is not None and target.kind == _place.CPU  # which has all dtypes
        result = self if dtype is None or last else self.cast(dtype)
        if target is None:
            return result
        handle = c_uint64()
        check(library.pmps_tensor_to(result._handle, byref(target.target), False, byref(handle)))
        moved = view(handle.value)
        if (blocking is None or blocking) and target != meta(self).place:
            _stream.settle(moved)
        return _operators.cast(moved, dtype) if last and dtype is not None else moved

    def astype(self, dtype: DTypeLike | None) -> Tensor:
        """The tensor in another dtype; over the same memory if it is its own. None means float64."""
        wanted = _dtype.float64 if dtype is None else _dtype.dtype(dtype)
        return retained(self._handle) if wanted is meta(self).dtype else self.cast(wanted)

    def type_as(self, other: Tensor) -> Tensor:
        """The tensor in the dtype of another one."""
        return self.astype(meta(tensor(other, "type_as", "other")).dtype)

    def clone(self, name: str | None = None) -> Tensor:
        """A contiguous copy."""
        return _operators.assign(self)

    def contiguous(self) -> Tensor:
        """The tensor itself, over the same memory, if it is contiguous; else a contiguous copy."""
        return retained(self._handle) if self.is_contiguous() else self.clone()

    def __getitem__(self, key: Index) -> Tensor:
        return _indexing.get(self, key)

    def __setitem__(self, key: Index, value: Tensor | np.ndarray[Any, Any] | Scalar | complex) -> None:
        _indexing.put(self, key, value)

    __add__ = expression(_ids.ADD, _operators.add_expression, "__add__")
    __radd__ = reflected(_ids.ADD, _operators.add_expression, "__radd__")
    __sub__ = expression(_ids.SUBTRACT, _operators.subtract_expression, "__sub__")
    __rsub__ = reflected(_ids.SUBTRACT, _operators.subtract_expression, "__rsub__")
    __mul__ = expression(_ids.MULTIPLY, _operators.multiply_expression, "__mul__")
    __rmul__ = reflected(_ids.MULTIPLY, _operators.multiply_expression, "__rmul__")
    __truediv__ = expression(_ids.DIVIDE, _operators.divide_expression, "__truediv__")
    __rtruediv__ = reflected(_ids.DIVIDE, _operators.divide_expression, "__rtruediv__")
    __floordiv__ = expression(_ids.FLOOR_DIVIDE, _operators.floor_divide_expression, "__floordiv__")
    __rfloordiv__ = reflected(_ids.FLOOR_DIVIDE, _operators.floor_divide_expression, "__rfloordiv__")
    __mod__ = expression(_ids.REMAINDER, _operators.remainder_expression, "__mod__")
    __rmod__ = reflected(_ids.REMAINDER, _operators.remainder_expression, "__rmod__")
    __pow__ = expression(_ids.POW, _operators.pow_expression, "__pow__")
    __rpow__ = reflected(_ids.POW, _operators.pow_expression, "__rpow__")
    __lt__ = expression(_ids.LESS_THAN, _operators.less_than_expression, "__lt__")
    __le__ = expression(_ids.LESS_EQUAL, _operators.less_equal_expression, "__le__")
    __gt__ = expression(_ids.GREATER_THAN, _operators.greater_than_expression, "__gt__")
    __ge__ = expression(_ids.GREATER_EQUAL, _operators.greater_equal_expression, "__ge__")
    __eq__ = expression(_ids.EQUAL, _operators.equal_expression, "__eq__")
    __ne__ = expression(_ids.NOT_EQUAL, _operators.not_equal_expression, "__ne__")

    def __hash__(self) -> int:
        return id(self)

    def __matmul__(self, y: Any) -> Tensor:
        if y.__class__ is self.__class__:
            return _operators.matmul(self, y, False, False)
        if not isinstance(y, (np.ndarray, Tensor)):
            return NotImplemented
        return self.matmul(_indexing.factor(y, self))

    def __rmatmul__(self, y: Any) -> Tensor:
        if not isinstance(y, (np.ndarray, Tensor)):
            return NotImplemented
        return _indexing.factor(y, self).matmul(self)

    def __neg__(self) -> Tensor:
        return _neg(self)

    def __pos__(self) -> Tensor:
        return retained(self._handle)

    def __abs__(self) -> Tensor:
        return _abs(self)

    def __invert__(self) -> Tensor:
        return _invert(self)

    def __and__(self, y: Any) -> Tensor:
        return _operators.bitwise_and(self, tensor(y, "bitwise_and", "y"))

    def __or__(self, y: Any) -> Tensor:
        return _operators.bitwise_or(self, tensor(y, "bitwise_or", "y"))

    def __xor__(self, y: Any) -> Tensor:
        return _operators.bitwise_xor(self, tensor(y, "bitwise_xor", "y"))

    def __rand__(self, x: object) -> Any:
        return _operators.bitwise_and(bits_like(x, self), self) if isinstance(x, int) else NotImplemented

    def __ror__(self, x: object) -> Any:
        return _operators.bitwise_or(bits_like(x, self), self) if isinstance(x, int) else NotImplemented

    def __rxor__(self, x: object) -> Any:
        return _operators.bitwise_xor(bits_like(x, self), self) if isinstance(x, int) else NotImplemented

    __lshift__ = expression(_ids.BITWISE_LEFT_SHIFT, _operators.bitwise_left_shift_expression, "__lshift__")
    __rlshift__ = reflected(_ids.BITWISE_LEFT_SHIFT, _operators.bitwise_left_shift_expression, "__rlshift__")
    __rshift__ = expression(_ids.BITWISE_RIGHT_SHIFT, _operators.bitwise_right_shift_expression, "__rshift__")
    __rrshift__ = reflected(_ids.BITWISE_RIGHT_SHIFT, _operators.bitwise_right_shift_expression, "__rrshift__")

    fill_ = fill_
    zero_ = zero_

    def copy_(self, other: Tensor, blocking: bool = True) -> Tensor:
        """Writes the elements of another tensor of any place, cast and broadcast; returns the tensor.

        Args:
            blocking: False to return before the copy is done; see `to`.
        """
        source = tensor(other, "copy_", "other")
        if meta(source).dtype is not meta(self).dtype and _default_place.lacks(meta(self).place, meta(source).dtype):
            source = _operators.cast(source, meta(self).dtype)
        if source.place != self.place:
            source = source.to(self.place, blocking=blocking)
        if self.stop_gradient or not self.is_leaf:
            _indexing.fill(self, source)
        else:  # a leaf takes other values, as when weights are loaded, and stays one
            with no_grad():
                _indexing.fill(self, source)
        if blocking:
            _stream.settle(self)
        return self

    def set_value(self, value: Tensor | np.ndarray[Any, Any]) -> None:
        """Writes the elements of a tensor or array of the same shape.

        Raises:
            AssertionError: value is neither, or its shape or dtype is another.
        """
        if not isinstance(value, (Tensor, np.ndarray)):
            raise AssertionError(f"[set_value] the value is {type(value).__name__}; want a Tensor or an array")
        kind = value.dtype if isinstance(value, Tensor) else _dtype.BY_NUMPY.get(value.dtype, value.dtype)
        if list(value.shape) != self.shape or kind is not self.dtype:
            got = getattr(kind, "name", kind)
            raise AssertionError(
                f"[set_value] the value is {got} of shape {list(value.shape)}; want {self.dtype.name} of shape "
                f"{list(self.shape)}"
            )
        with no_grad():
            self.copy_(_indexing.beside(value, self))
        check(library.pmps_tensor_end_history(self._handle))

    def uniform_(self, min: float = 0, max: float = 1.0, seed: int = 0, name: str | None = None) -> Tensor:
        """Writes uniformly distributed values in [min, max); returns the tensor.

        Raises:
            ValueError: min is not below max, or one is infinite.
        """
        real("uniform_", "min", min), real("uniform_", "max", max)
        if not -math.inf < min < max < math.inf:
            raise ValueError(f"[uniform_] the range is [{min}, {max}); want min below max, both finite")
        graded_leaf(self, "uniform_")
        return self.copy_(uniform(self.shape, self.dtype, min, max, seed, place=self.place))


def rebuild(array: np.ndarray[Any, Any], dtype: DType, place: Place | None, stop_gradient: bool = True) -> Tensor:
    """A pickled tensor; without a place one that was on the CPU because of its dtype."""
    assert _dtype.BY_NUMPY[array.dtype] is dtype
    x: Tensor = _default_place.placed(array) if place is None else from_array(array, place)
    if not stop_gradient:
        x.stop_gradient = False
    return x


def destination(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Place | None, DType | None, Any]:
    """(place, dtype, blocking) from the arguments of Tensor.to."""
    unknown = set(kwargs) - {"device", "dtype", "other", "blocking", "non_blocking"}
    if (not args and not kwargs) or len(args) > 3 or unknown:
        raise TypeError(
            f"[to] got {len(args)} arguments and {sorted(kwargs)}; want (device, dtype, blocking), "
            "(dtype, blocking) or (other, blocking)"
        )
    first, *rest = args or (None,)
    blocking = kwargs.get("blocking", not kwargs.get("non_blocking", False))
    if isinstance(kwargs.get("other", first), Tensor):
        m = meta(kwargs.get("other", first))
        return m.place, m.dtype, rest[0] if rest else blocking
    if names_dtype(first):
        return None, _dtype.dtype(first), rest[0] if rest else blocking
    device = kwargs.get("device", first)
    dtype = kwargs.get("dtype", rest[0] if rest else None)
    target = None if device is None else _place.place(device)
    return target, None if dtype is None else _dtype.dtype(dtype), rest[1] if len(rest) > 1 else blocking


def names_dtype(value: Any) -> bool:
    """Whether the first argument of Tensor.to is a dtype and not a device."""
    if isinstance(value, str):
        return value in _dtype.NAMES
    return isinstance(value, (DType, np.dtype, type))
