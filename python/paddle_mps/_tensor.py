"""The class Tensor."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import byref, c_uint64
from typing import TYPE_CHECKING, Any, Callable, SupportsIndex, overload

import numpy as np

from . import _arithmetic, _array, _call, _dlpack, _dtype, _ids, _indexing, _place, _repr, _stream
from ._call import call, expression, meta, reflected, swap, unary
from ._dtype import DType, DTypeLike
from ._errors import UnsupportedError, check
from ._library import library
from ._ops import Methods
from ._place import Place

if TYPE_CHECKING:
    from ._typing import Data, Index, PlaceLike, Scalar


class Size(list[int]):
    """The dimensions of a tensor: a list that also equals a tuple of the same numbers."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return list.__eq__(self, list(other) if isinstance(other, tuple) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __repr__(self) -> str:
        return f"paddle.Size({list.__repr__(self)})"

    __str__ = list.__repr__


class Tensor(Methods):
    """A view of memory on a device: shape, strides, dtype, place.

    Functions and operators make new tensors; slices, transposes and reshapes share the memory of
    what they were made of, as in Paddle. A tensor may be used from several threads.

    Tensor(data) is `to_tensor(data)` with floating-point elements, Tensor(2, 3) an empty tensor of
    that shape; dtype= and place= are those of `to_tensor`.
    """

    __slots__ = ("__weakref__", "_e", "_h", "_m")

    _h: int
    _e: tuple[int, ...] | None
    _m: _call.Meta

    def __new__(cls, *data: Data, dtype: DTypeLike | None = None, place: PlaceLike | None = None) -> Tensor:
        from ._creation import empty, to_tensor  # creation needs this class

        if len(data) == 1 and not isinstance(data[0], int):
            kept = isinstance(data[0], (Tensor, np.ndarray))
            return to_tensor(data[0], dtype or (None if kept else _dtype.default()), place)
        return empty(data, dtype, place=place)

    def __del__(self, defer: Callable[[int], None] = _call.defer, free: Callable[[int], None] = _call.free) -> None:
        if self._e is not None:
            defer(self._h)
        else:
            free(self._h)

    @property
    def shape(self) -> Size:
        """The dimensions, as a new list."""
        return Size(self._e if self._e is not None else meta(self).shape)

    @property
    def dtype(self) -> DType:
        """The element type."""
        return meta(self).dtype

    @property
    def place(self) -> Place:
        """Where the tensor lives."""
        return meta(self).place

    @property
    def device(self) -> str:
        """Where the tensor lives, as set_device takes it: "cpu", "mps:0"."""
        return _place.device_name(meta(self).place)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(meta(self).shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return meta(self).numel

    @property
    def strides(self) -> list[int]:
        """For each axis the distance of neighbours in memory, in elements."""
        return list(meta(self).strides)

    @property
    def offset(self) -> int:
        """The distance of the first element from the start of the memory, in elements."""
        return meta(self).offset

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
            raise ValueError(f"[mT] the tensor has {self.ndim} dimensions; want at least 2")
        return _array.transpose(self, -2, -1)

    @property
    def data(self) -> Tensor:
        """Another tensor over the same memory."""
        return self.detach()

    @property
    def grad(self) -> None:
        """None: there are no gradients yet."""

    @property
    def is_leaf(self) -> bool:
        """True: there are no gradients yet."""
        return True

    @property
    def stop_gradient(self) -> bool:
        """True: there are no gradients yet. Setting it to False is an UnsupportedError."""
        return True

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        if not value:
            raise UnsupportedError("[stop_gradient] got False; want True: there are no gradients yet")

    @property
    def requires_grad(self) -> bool:
        """False: there are no gradients yet. Setting it to True is an UnsupportedError."""
        return False

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.stop_gradient = not value

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
        return self.strides if dim is None else self.strides[dim]

    def get_strides(self) -> list[int]:
        """The strides in elements."""
        return self.strides

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.itemsize

    def data_ptr(self) -> int:
        """The address of the first element as the CPU sees it, after work on the tensor is done.

        It is valid while the tensor lives and is not moved by an in-place operator.
        """
        _stream.settle(self, writing=True)
        address = ctypes.c_void_p()
        check(library.pmps_tensor_map(self._h, byref(address)))
        library.pmps_tensor_unmap(self._h)
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
        """False: there are no complex dtypes."""
        return False

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy as a NumPy array, after work on the tensor is done; bfloat16 as bits in uint16.

        Raises:
            DeviceError: the work that computes the tensor failed.
        """
        m = meta(self)
        array: np.ndarray[Any, Any] = np.empty(m.shape, m.dtype.numpy)
        arguments = self._h, array.ctypes.data, array.nbytes
        if not library.pmps_fast_read(*arguments):
            _call.recover(library.pmps_fast_read, *arguments)
        return array

    def _values(self) -> np.ndarray[Any, Any]:
        """As `numpy`, with bfloat16 as float32."""
        x = self.cast(_dtype.float32) if meta(self).dtype is _dtype.bfloat16 else self
        return x.numpy()

    def item(self, *args: int) -> Any:
        """An element as a Python bool, int or float.

        Args:
            args: nothing for the only element; its index in row-major order; or one index an axis.

        Raises:
            ValueError: there are several elements, or no such one.
            TypeError: an index is no int.
        """
        if any(isinstance(a, bool) or not isinstance(a, int) for a in args):
            raise TypeError(f"[item] indices are {args}; want ints")
        shape, numel = meta(self).shape, meta(self).numel
        if not args:
            if numel != 1:
                raise ValueError(f"[item] the tensor has {numel} elements; want one, or indices")
            return self._values().item()
        if len(args) == 1:
            if not 0 <= args[0] < numel:
                raise ValueError(f"[item] index is {args[0]}; want one of {numel} elements")
            args = tuple(int(i) for i in np.unravel_index(args[0], shape))
        if len(args) != len(shape):
            raise ValueError(f"[item] got {len(args)} indices; want {len(shape)}")
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
        """(kDLCPU, 0) or (kDLMetal, index)."""
        p = meta(self).place
        return (_dlpack.CPU_DEVICE, 0) if p.kind == _place.CPU else (_dlpack.METAL_DEVICE, p.index)

    def __len__(self) -> int:
        if not self.ndim:
            raise AssertionError("[len] the tensor has no dimensions; want at least one")
        return meta(self).shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        return iter([self[i] for i in range(len(self))])

    def __bool__(self) -> bool:
        if meta(self).numel != 1:
            raise AssertionError(f"[bool] the tensor has {self.size} elements; want one (use any() or all())")
        return bool(self._values().item())

    def _number(self, kind: str) -> Any:
        if meta(self).numel != 1:
            raise AssertionError(f"[{kind}] the tensor has {self.size} elements; want one")
        if self.ndim:
            raise TypeError(f"[{kind}] the tensor has {self.ndim} dimensions; want none (use item())")
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
        return rebuild, (self.numpy(), m.dtype, m.place)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return self.clone()

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
        target, dtype, blocking = destination(args, kwargs)
        result = self if dtype is None else self.cast(dtype)
        if target is None:
            return result
        handle = c_uint64()
        check(library.pmps_tensor_to(result._h, byref(target.struct), False, byref(handle)))
        moved = _call.view(handle.value)
        if (blocking is None or blocking) and target != meta(self).place:
            _stream.settle(moved)
        return moved

    def astype(self, dtype: DTypeLike | None) -> Tensor:
        """The tensor in another dtype; over the same memory if it is its own. None means float64."""
        wanted = _dtype.float64 if dtype is None else _dtype.dtype(dtype)
        return self.detach() if wanted is meta(self).dtype else self.cast(wanted)

    def type_as(self, other: Tensor) -> Tensor:
        """The tensor in the dtype of another one."""
        return self.astype(meta(other).dtype)

    def clone(self) -> Tensor:
        """A contiguous copy."""
        return call(_ids.ASSIGN, (self,))

    def detach(self) -> Tensor:
        """Another tensor over the same memory."""
        handle = c_uint64()
        check(library.pmps_tensor_retain(self._h, byref(handle)))
        return _call.view(handle.value)

    def contiguous(self) -> Tensor:
        """The tensor itself, over the same memory, if it is contiguous; else a contiguous copy."""
        return self.detach() if self.is_contiguous() else self.clone()

    def __getitem__(self, key: Index) -> Tensor:
        return _indexing.get(self, key)

    def __setitem__(self, key: Index, value: Tensor | np.ndarray[Any, Any] | Scalar) -> None:
        _indexing.put(self, key, value)

    __add__ = expression(_ids.ADD, "__add__")
    __radd__ = reflected(_ids.ADD, "__radd__")
    __sub__ = expression(_ids.SUBTRACT, "__sub__")
    __rsub__ = reflected(_ids.SUBTRACT, "__rsub__")
    __mul__ = expression(_ids.MULTIPLY, "__mul__")
    __rmul__ = reflected(_ids.MULTIPLY, "__rmul__")
    __truediv__ = expression(_ids.DIVIDE, "__truediv__")
    __rtruediv__ = reflected(_ids.DIVIDE, "__rtruediv__")
    __floordiv__ = expression(_ids.FLOOR_DIVIDE, "__floordiv__")
    __rfloordiv__ = reflected(_ids.FLOOR_DIVIDE, "__rfloordiv__")
    __mod__ = expression(_ids.REMAINDER, "__mod__")
    __rmod__ = reflected(_ids.REMAINDER, "__rmod__")
    __pow__ = expression(_ids.POW, "__pow__")
    __rpow__ = reflected(_ids.POW, "__rpow__")
    __lt__ = expression(_ids.LESS_THAN, "__lt__")
    __le__ = expression(_ids.LESS_EQUAL, "__le__")
    __gt__ = expression(_ids.GREATER_THAN, "__gt__")
    __ge__ = expression(_ids.GREATER_EQUAL, "__ge__")
    __eq__ = expression(_ids.EQUAL, "__eq__")
    __ne__ = expression(_ids.NOT_EQUAL, "__ne__")

    def __hash__(self) -> int:
        return id(self)

    def __matmul__(self, y: Any) -> Tensor:
        return self.matmul(y) if isinstance(y, Tensor) else NotImplemented

    def __rmatmul__(self, y: Any) -> Tensor:
        if not isinstance(y, np.ndarray):
            return NotImplemented
        return _indexing.beside(y, self).matmul(self)

    def __neg__(self) -> Tensor:
        return unary(_ids.NEG, self)

    def __pos__(self) -> Tensor:
        return self.detach()

    def __abs__(self) -> Tensor:
        return unary(_ids.ABS, self)

    def __invert__(self) -> Tensor:
        return unary(_ids.BITWISE_NOT, self)

    def __and__(self, y: Any) -> Tensor:
        return _call.two(_ids.BITWISE_AND, self, _call.tensor(y, "and", "y"))

    def __or__(self, y: Any) -> Tensor:
        return _call.two(_ids.BITWISE_OR, self, _call.tensor(y, "or", "y"))

    def __xor__(self, y: Any) -> Tensor:
        return _call.two(_ids.BITWISE_XOR, self, _call.tensor(y, "xor", "y"))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__
    __lshift__ = expression(_ids.BITWISE_LEFT_SHIFT, "__lshift__")
    __rlshift__ = reflected(_ids.BITWISE_LEFT_SHIFT, "__rlshift__")
    __rshift__ = expression(_ids.BITWISE_RIGHT_SHIFT, "__rshift__")
    __rrshift__ = reflected(_ids.BITWISE_RIGHT_SHIFT, "__rrshift__")

    def fill_(self, value: Scalar) -> Tensor:
        """Writes a number into every element; returns the tensor.

        Raises:
            TypeError: value is no number.
        """
        if not isinstance(value, (bool, int, float)):
            raise TypeError(f"[fill_] value is {type(value).__name__}; want a number")
        _indexing.fill(self, value)
        return self

    def zero_(self) -> Tensor:
        """Writes zeros; returns the tensor."""
        return self.fill_(0)

    def copy_(self, other: Tensor, blocking: bool = True) -> Tensor:
        """Writes the elements of another tensor of any place, cast and broadcast; returns the tensor.

        Args:
            blocking: False to return before the copy is done; see `to`.
        """
        source = _call.tensor(other, "copy_", "other")
        if source.place != self.place:
            source = source.to(self.place, blocking=blocking)
        _indexing.fill(self, source)
        if blocking:
            _stream.settle(self)
        return self

    def set_value(self, value: Tensor | np.ndarray[Any, Any]) -> None:
        """Writes the elements of a tensor or array of the same shape.

        Raises:
            AssertionError: the shape is another.
        """
        given = _indexing.beside(value, self)
        if given.shape != self.shape:
            raise AssertionError(f"[set_value] the value has shape {list(given.shape)}; want {list(self.shape)}")
        self.copy_(given)

    def uniform_(self, min: float = 0, max: float = 1.0, seed: int = 0, name: str | None = None) -> Tensor:
        """Writes uniformly distributed values in [min, max); returns the tensor."""
        from ._sampling import uniform  # creation needs this class

        return self.copy_(uniform(self.shape, self.dtype, min, max, seed, place=self.place))

    def normal_(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> Tensor:
        """Writes normally distributed values; returns the tensor."""
        from ._sampling import normals  # creation needs this class

        return self.copy_(normals(self.shape, mean, std, self.dtype, self.place))

    def squeeze_(self, axis: Any = None, name: str | None = None) -> Tensor:
        """`squeeze`, whose result takes the place of the tensor; returns it."""
        swap(self, _array.squeeze(self, axis))
        return self

    def unsqueeze_(self, axis: Any, name: str | None = None) -> Tensor:
        """`unsqueeze`, whose result takes the place of the tensor; returns it."""
        swap(self, _array.unsqueeze(self, axis))
        return self

    def transpose_(self, perm: Any, name: str | None = None) -> Tensor:
        """`transpose`, whose result takes the place of the tensor; returns it."""
        swap(self, _array.transpose(self, perm))
        return self

    def t_(self, name: str | None = None) -> Tensor:
        """`t`, whose result takes the place of the tensor; returns it."""
        swap(self, _array.t(self))
        return self

    def flatten_(self, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Tensor:
        """`flatten`, whose result takes the place of the tensor; returns it."""
        swap(self, _array.flatten(self, start_axis, stop_axis))
        return self

    add = _arithmetic.add
    add_ = _arithmetic.add_
    subtract = _arithmetic.subtract
    subtract_ = _arithmetic.subtract_
    divide = _arithmetic.divide
    divide_ = _arithmetic.divide_
    pow = _arithmetic.pow
    pow_ = _arithmetic.pow_
    round = _arithmetic.round
    round_ = _arithmetic.round_
    sum = _arithmetic.sum
    mean = _arithmetic.mean
    where = _arithmetic.where
    clip = _arithmetic.clip
    clip_ = _arithmetic.clip_
    cast = _arithmetic.cast
    cast_ = _arithmetic.cast_
    masked_fill = _arithmetic.masked_fill
    masked_fill_ = _arithmetic.masked_fill_
    reshape = _array.reshape
    reshape_ = _array.reshape_
    view = _array.reshape
    transpose = _array.transpose
    permute = _array.permute
    t = _array.t
    squeeze = _array.squeeze
    unsqueeze = _array.unsqueeze
    expand = _array.expand
    broadcast_to = _array.broadcast_to
    expand_as = _array.expand_as
    slice = _array.slice
    flatten = _array.flatten
    split = _array.split
    chunk = _array.chunk
    unbind = _array.unbind
    tile = _array.tile
    flip = _array.flip
    gather = _array.gather
    nonzero = _array.nonzero
    numel = _array.numel
    rank = _array.rank
    bmm = _array.bmm


_call.use(Tensor)


def rebuild(array: np.ndarray[Any, Any], dtype: DType, place: Place) -> Tensor:
    """A pickled tensor."""
    from ._creation import from_array  # creation needs this class

    assert _dtype.BY_NUMPY[array.dtype] is dtype
    return from_array(array, place)


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
