"""Arguments of operators: converts what Python accepts to operands and attributes.

An attribute is (name, kind, value) here, or None for the default. The built-in functions read the usual
types by themselves; this is for all others, and for what is wrong with an argument.
"""

from __future__ import annotations

import functools
import operator
import struct
from typing import Any, Callable, TypeVar

import numpy as np

from . import _dtype, _place
from ._caller import axis_text, called
from ._meta import Meta
from ._objects import Tensor, meta

Function = TypeVar("Function", bound=Callable[..., Any])

# pmps_arg_kind and pmps_attr_kind.
NOTHING, TENSOR, BOOL, INT, FLOAT = range(5)
A_BOOL, A_INT, A_FLOAT, A_INTS, A_DTYPE, A_STRING, A_FLOATS, A_STRINGS, A_TENSOR = range(1, 10)


class _Required:
    """The default of a parameter that has none, but that may be given under another name."""

    def __repr__(self) -> str:
        return "<required>"


REQUIRED: Any = _Required()


def scalar(value: object, name: str = "scalar") -> tuple[int, int | float] | None:
    """(kind, number) of a Python or NumPy scalar, None for anything else.

    Args:
        name: what errors name if no function of the package was called: the operator of an expression.

    Raises:
        ValueError: an integer does not fit into 64 bits.
        TypeError: a complex number, which operators of the library do not take; see `_complex`.
    """
    if value.__class__ is float:  # most often, and every question takes 50 ns
        return FLOAT, value  # type: ignore[return-value]
    if isinstance(value, (bool, np.bool_)):
        return BOOL, int(value)
    if isinstance(value, (int, np.integer)):
        number = int(value)
        if not -(2**63) <= number < 2**63:
            raise ValueError(f"[{called(name)}] got {number}; want an integer of 64 bits")
        return INT, number
    if isinstance(value, (float, np.floating)):
        return FLOAT, float(value)
    if isinstance(value, (complex, np.complexfloating)):
        raise TypeError(f"[{called(name)}] got the complex number {value}; want a bool, an int or a float")
    return None


def word(kind: int, number: float) -> int:
    """The bits of a scalar: of an int64 or of a double."""
    if kind == FLOAT:
        bits: int = struct.unpack("=Q", struct.pack("=d", number))[0]
        return bits
    return int(number) & (2**64 - 1)


_OPERAND = struct.Struct("=IIQ")


def operand(x: object) -> bytes:
    """A pmps_arg: a tensor, a scalar, or None for an optional operand that is not given."""
    if isinstance(x, Tensor):
        return _OPERAND.pack(TENSOR, 0, x._handle)
    if x is None:
        return _OPERAND.pack(NOTHING, 0, 0)
    known = scalar(x)
    if known is None:
        raise TypeError(f"[{called('operand')}] got {type(x).__name__}; want a Tensor, a bool, an int or a float")
    return _OPERAND.pack(known[0], 0, word(*known))


def tensor(x: object, function: str, name: str) -> Tensor:
    """x, which must be a tensor.

    Raises:
        ValueError: it is something else.
        TypeError: it is not given.
    """
    if isinstance(x, Tensor):
        return x
    if x is REQUIRED:
        raise TypeError(f"{function}() missing a required argument: {name!r}")
    raise ValueError(f"[{called(function)}] argument {name} is {type(x).__name__}; want a Tensor")


def described(x: object, function: str, name: str) -> Meta:
    """The description of x, which must be a tensor, as for `tensor`."""
    if isinstance(x, Tensor):
        try:
            return x._meta
        except AttributeError:
            return meta(x)
    return meta(tensor(x, function, name))


def numeric(function: str, name: str, value: Any) -> Any:
    """A number.

    Raises:
        TypeError: it is something else.
    """
    if isinstance(value, (complex, np.complexfloating)) or scalar(value) is not None:
        return value
    raise TypeError(f"[{called(function)}] {name} is {said(value)}; want a number")


def real(function: str, name: str, value: Any, tensors: bool = True) -> Any:
    """A bool, an int or a float, or with tensors also a tensor, as it is.

    Raises:
        TypeError: it is something else.
        ValueError: an int does not fit into 64 bits.
    """
    if value.__class__ is float or (tensors and isinstance(value, Tensor)) or scalar(value, function) is not None:
        return value
    raise TypeError(f"[{called(function)}] {name} is {said(value)}; want a number")


def axis_of(function: str, axis: Any, rank: int, error: type[Exception] = ValueError) -> int:
    """An axis, counted from the front.

    Raises:
        error: it is out of range.
    """
    given = axis if axis.__class__ is int else index("axis", axis)
    if not -rank <= given < rank:
        index("axis", axis)  # what does not fit into 64 bits is a ValueError
        raise error(f"[{called(function)}] axis is {given}; want {axis_text(rank)}")
    return given % rank


def of_one_dtype(name: str, *operands: Tensor) -> None:
    """Checks that the operands have one dtype.

    Raises:
        ValueError: they have several.
    """
    dtypes = [meta(x).dtype for x in operands]
    if len(set(dtypes)) > 1:
        raise ValueError(f"[{name}] dtypes are {', '.join(d.name for d in dtypes)}; want one dtype")


def of_one_place(function: str, *operands: Tensor) -> None:
    """Checks that operands that NumPy computes with are where one operator could reach them.

    A 0-d tensor of the CPU may be beside tensors of any place, as for the operators, and so may one that is there because of its
    dtype.

    Raises:
        ValueError: they are on several places.
    """
    places = [meta(x).place for x in operands if meta(x).shape or not meta(x).place.is_cpu_place()]
    places = [p for p in places if not _place.is_displaced(p)]
    for place in places[1:]:
        if place != places[0]:
            first, second = _place.device_name(places[0]), _place.device_name(place)
            raise ValueError(
                f"[{called(function)}] got tensors on {first} and on {second}; want one place (move one with .to() or .cpu())"
            )


def one_number(value: Any, function: str, name: str, error: type[Exception] = ValueError) -> Any:
    """A number, which may be a tensor of one element.

    Raises:
        error: a tensor has several elements.
        TypeError: it is no number.
    """
    if isinstance(value, Tensor):
        if meta(value).numel != 1:
            raise error(f"[{called(function)}] {name} has {meta(value).numel} elements; want one")
        value = value.item()
    if scalar(value) is None:
        raise TypeError(f"[{called(function)}] {name} is {said(value)}; want a number")
    return value


def listed(x: Any, function: str, name: str = "x") -> list[Tensor]:
    """A list or tuple of tensors, of at least one."""
    if x is REQUIRED:
        raise TypeError(f"{function}() missing a required argument: {name!r}")
    if not isinstance(x, (list, tuple)) or not x:
        what = "an empty list" if isinstance(x, (list, tuple)) else type(x).__name__
        raise ValueError(f"[{called(function)}] {name} is {what}; want a list of Tensors")
    return [tensor(item, function, f"{name}[{i}]") for i, item in enumerate(x)]


def flag(name: str, value: Any) -> Any:
    """A bool attribute. Numbers 0 and 1 and 0-d tensors are accepted, and None for False; other types are TypeErrors."""
    if value is None or isinstance(value, (bool, np.bool_, int, Tensor)):
        return name, A_BOOL, int(bool(value))
    raise TypeError(f"[{called(name)}] {name} is {said(value)}; want a bool")


def integer(name: str, value: Any) -> Any:
    """An int attribute, from anything that Python accepts as an index; None: the default."""
    return None if value is None else (name, A_INT, index(name, value))


MOST_PARTS = 1 << 16  # tensors that one call makes or takes; see mostParts in core/op/rows/rules_view.go


def index(name: str, value: Any) -> int:
    """A whole number of 64 bits; a float or a string is a TypeError."""
    if isinstance(value, Tensor) and value.ndim:  # Python's index takes 0-d tensors only
        if value.size != 1:
            raise TypeError(f"[{called(name)}] {name} is {said(value)}; want an int")
        value = value.item()
    try:
        found = operator.index(value)
    except TypeError:
        raise TypeError(f"[{called(name)}] {name} is {said(value)}; want an int") from None
    if not -(2**63) <= found < 2**63:
        raise ValueError(f"[{called(name)}] {name} is {found}; want an integer of 64 bits")
    return found


def said(value: Any) -> str:
    """A value for a message: of a tensor its dtype and shape."""
    if isinstance(value, Tensor):
        return f"a Tensor of dtype {value.dtype.name} and shape {list(value.shape)}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def number(name: str, value: Any) -> Any:
    """A float attribute. Its bits are the value here, because 0.0 == -0.0 and nan != nan."""
    try:
        if not isinstance(value, (str, bytes)):
            return name, A_FLOAT, word(FLOAT, float(value))
    except (TypeError, AssertionError):  # the latter of a tensor of several elements
        pass  # it is said below
    raise TypeError(f"[{called(name)}] {name} is {said(value)}; want a number")


def value_of_attribute(attribute: tuple[str, int, Any]) -> Any:
    """The value of an attribute, which is a float again where its bits are; a text is bytes."""
    _, kind, value = attribute
    return struct.unpack("=d", struct.pack("=Q", value))[0] if kind == A_FLOAT else value


FAR = 1 << 62  # an int that is nearer to 0 needs no check


def whole(name: str, value: Any) -> tuple[int, ...]:
    """Whole numbers: one, a list or tuple of them (0-d tensors among them), or a tensor or array."""
    if value.__class__ is not list and isinstance(value, (Tensor, np.ndarray)) and value.ndim > 0:
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple([v if v.__class__ is int and -FAR < v < FAR else index(name, v) for v in value])
    return (index(name, value),)


def integers(name: str, value: Any) -> Any:
    """An attribute of several ints; None: the default."""
    return None if value is None else (name, A_INTS, whole(name, value))


def element_type(name: str, value: Any) -> Any:
    """A dtype attribute; None: the default."""
    return None if value is None else (name, A_DTYPE, _dtype.dtype(value).number)


def either(name: str, value: Any) -> Any:
    """An attribute that is a bool, an int or a float, whichever was given."""
    known = scalar(value)
    if known is None:
        raise TypeError(f"[{called(name)}] {name} is {type(value).__name__}; want a bool, an int or a float")
    kind, given = known
    return name, {BOOL: A_BOOL, INT: A_INT, FLOAT: A_FLOAT}[kind], word(kind, given)


def text(name: str, value: Any) -> Any:
    """An attribute that is a str; None: the default."""
    if value is None or isinstance(value, str):
        return None if value is None else (name, A_STRING, value.encode())
    raise TypeError(f"[{called(name)}] {name} is {type(value).__name__}; want a str")


def numbers(name: str, value: Any) -> Any:
    """An attribute of several floats, or of one; None: the default."""
    if value is None:
        return None
    given = value if isinstance(value, (list, tuple)) else (value,)
    return name, A_FLOATS, tuple([number(name, v)[2] for v in given])


def texts(name: str, value: Any) -> Any:
    """An attribute of several strs, or of one; None: the default."""
    if value is None:
        return None
    given = value if isinstance(value, (list, tuple)) else (value,)
    return name, A_STRINGS, tuple([text(name, v)[2] for v in given])


def constant(name: str, value: Any) -> Any:
    """An attribute that is a tensor; None: the default."""
    return None if value is None else (name, A_TENSOR, tensor(value, called(name), name)._handle)


# Makes attributes of arguments, by the type that the table of operators gives them, in the order of its numbers.
ATTRIBUTES = {
    "bool": flag, "int": integer, "float": number, "ints": integers, "dtype": element_type, "scalar": either,
    "string": text, "floats": numbers, "strings": texts, "tensor": constant,
}  # fmt: skip
TYPES = {name: i for i, name in enumerate(ATTRIBUTES, 1)}


class Sizes(tuple):  # type: ignore[type-arg]  # of ints
    """A tuple of ints in a key of `settled`."""

    __slots__ = ()


class Listed(Sizes):
    """A list of ints in such a key, which errors print as a list."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(list(self))


def sizes(value: Any) -> Any:
    """An argument for `settled`: lists and tuples of ints as `Sizes`, others as they are."""
    kind = value.__class__
    if kind is list or kind is tuple:
        for n in value:
            if n.__class__ is not int:
                return value
        return Listed(value) if kind is list else Sizes(value)
    return value


class _Unsettled(Exception):
    """An argument may change, or is equal to one that means something else: (True, 1) and (1, 1)."""


_SETTLED = frozenset({int, bool, str, type(None), Meta, Sizes, Listed})


def settled(function: Function) -> Function:
    """Keeps what a function makes of its arguments, because those of calls repeat.

    The function depends on nothing else, and refuses by an error, which is not kept. Its answers are kept for ints, bools,
    texts, None, `Sizes`, and the Meta of tensors, and are not to be changed.
    """

    @functools.lru_cache(maxsize=1 << 12, typed=True)
    def answers(*arguments: Any) -> Any:
        if not _SETTLED.issuperset(map(type, arguments)):
            raise _Unsettled
        return function(*arguments)

    @functools.wraps(function)
    def wrapper(*arguments: Any) -> Any:
        try:
            return answers(*arguments)
        except (_Unsettled, TypeError):  # a list has no hash
            pass
        return function(*arguments)

    return wrapper  # type: ignore[return-value]


def chosen(function: str, parameter: str, value: Any, default: Any, alias: str, given: Any) -> Any:
    """What a parameter is given under its name or under another.

    Raises:
        TypeError: under both.
    """
    if given is None:
        return value
    if value is default or (isinstance(value, (int, float)) and value == default):
        return given
    raise TypeError(f"[{function}] got {alias}= and {parameter}=; want one of them")
