"""Parameters: tensors that layers own and optimizers change, and what a program says of one before it is made."""

from __future__ import annotations

import copy
import ctypes
from typing import TYPE_CHECKING, Any, SupportsIndex, Union

from .._arrays._creation import dims, filled, to_tensor
from .._calls._grad import no_grad
from .._core import _builtin, _dtype, _place
from .._core._caller import called
from .._core._errors import check
from .._core._library import quick
from .._core._objects import meta, new, put
from .._devices import _default_place
from .._tensor import Tensor, rebuild
from . import _initializers
from ._initializers import Initializer
from ._names import generate, take

if TYPE_CHECKING:
    from .._core._dtype import DTypeLike
    from .._core._typing import PlaceLike, ShapeLike

ParamAttrLike = Union["ParamAttr", str, Initializer, bool, None]

_MARKS = ("do_model_average", "is_distributed", "need_clip", "optimize_attr", "regularizer")


class Parameter(Tensor):
    """A tensor that is trained: a leaf with `stop_gradient` False, which keeps its place in a layer.

    Further attributes: `trainable` (whether it asks for a gradient), `optimize_attr` ({"learning_rate": a factor}), `regularizer`,
    `need_clip`, `do_model_average`, `is_distributed`. It owns memory that it may share with the tensor that it was made of.

    Args:
        data: a tensor, or what `paddle.to_tensor` takes; nothing for an empty one.
        requires_grad: False for a parameter that is not trained.
    """

    __slots__ = ()

    optimize_attr: dict[str, float]
    regularizer: Any
    need_clip: bool
    do_model_average: bool
    is_distributed: bool

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        source = filled((0,), 0.0, _dtype.float32, _place.current()) if data is None else data
        if not isinstance(source, Tensor):
            source = to_tensor(source)
        return parameter(source, count(), ParamAttr(trainable=requires_grad))

    @property
    def trainable(self) -> bool:
        """Whether backward passes give it a gradient; the contrary of `stop_gradient`."""
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise ValueError(f"[trainable] got {type(value).__name__}; want a bool")
        self.stop_gradient = not value

    def initialize(self) -> None:
        """Gives a parameter that was made within `LazyGuard` its first values; others keep theirs."""
        pending = self._marked("initializer")
        if pending is not None:
            self._mark("initializer", None)
            pending(self)

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        m = meta(self)
        place = None if _place.is_displaced(m.place) else m.place
        marks = {name: getattr(self, name) for name in _MARKS}
        return _rebuilt, (self.numpy(), m.dtype, place, self.name, self.trainable, marks)

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        """A parameter with a copy of the elements, and a name of its own."""
        count()
        name = self.name + generate("_deepcopy")
        made = parameter(self.detach().clone(), name, ParamAttr(trainable=self.trainable))
        for name in _MARKS:
            put(made, name, copy.deepcopy(getattr(self, name), memo))
        return made


_builtin.register_parameter(Parameter)


class ParamAttr:
    """What a program says of a parameter that a layer will make.

    Args:
        name: of the parameter; by default the layer names it.
        initializer: of its first values; by default that of the layer.
        learning_rate: the factor by which its learning rate differs from the optimizer's.
        regularizer: used instead of the optimizer's.
        trainable: False for a parameter that stays as it is.
        do_model_average, need_clip: marks for optimizers; False leaves the parameter out.
    """

    def __init__(
        self,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        trainable: bool = True,
        do_model_average: bool = True,
        need_clip: bool = True,
    ) -> None:
        for label, value, kinds in (
            ("name", name, (str, type(None))),
            ("learning_rate", learning_rate, (int, float)),
            ("trainable", trainable, (bool,)),
            ("do_model_average", do_model_average, (bool,)),
            ("need_clip", need_clip, (bool,)),
            ("initializer", initializer, (Initializer, type(None))),
        ):
            if not isinstance(value, kinds):
                wanted = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
                raise TypeError(f"[ParamAttr] {label} is {type(value).__name__}; want {wanted}")
        if name == "":
            raise ValueError("[ParamAttr] the name is empty; want a name or None")
        self.name = name
        self.initializer = initializer
        self.learning_rate = learning_rate
        self.regularizer = regularizer
        self.trainable = trainable
        self.do_model_average = do_model_average
        self.need_clip = need_clip


def attribute(given: Any) -> ParamAttr | None:
    """The ParamAttr that an argument stands for: a name, an initializer, a regularizer; None for False, which is no parameter.

    Raises:
        TypeError: it stands for none.
    """
    if given is None or given is True:
        return ParamAttr()
    if given is False:
        return None
    if isinstance(given, ParamAttr):
        return given
    if isinstance(given, str):
        return ParamAttr(name=given)
    if isinstance(given, Initializer):
        return ParamAttr(initializer=given)
    if hasattr(given, "coeff") or hasattr(given, "_coeff"):
        return ParamAttr(regularizer=given)
    raise TypeError(
        f"[{called('ParamAttr')}] attr is {type(given).__name__}; want a ParamAttr, a name, an initializer, a regularizer or False"
    )


def count() -> str:
    """The name of a parameter that has no other one. All parameters count, as in Paddle."""
    return generate("_eager_param_base")


def skip(layer: Any) -> None:
    """Counts a parameter that Paddle makes for a layer and that is not seen: later names are those of Paddle."""
    take(generate(f"{layer.full_name()}.w"))
    count()


def parameter(source: Tensor, name: str, attr: ParamAttr) -> Parameter:
    """A parameter over the memory of a tensor."""
    handle = ctypes.c_uint64()
    plain = source.detach()
    check(quick.pmps_tensor_retain(plain._handle, ctypes.byref(handle)))
    made: Parameter = new(Parameter)
    put(made, "_shape", None)
    put(made, "_handle", handle.value)
    made.stop_gradient = not attr.trainable
    made._marks = {"name": name, "persistable": True}
    made.optimize_attr = {"learning_rate": attr.learning_rate}
    made.regularizer = attr.regularizer
    made.do_model_average = attr.do_model_average
    made.need_clip = attr.need_clip
    made.is_distributed = False
    return made


def _rebuilt(array: Any, dtype: Any, place: Any, name: str, trainable: bool, marks: dict[str, Any]) -> Parameter:
    """A pickled parameter."""
    made = parameter(rebuild(array, dtype, place), name, ParamAttr(trainable=trainable))
    for label, value in marks.items():
        put(made, label, value)
    return made


_depth = [0]  # blocks of LazyGuard around


class LazyGuard:
    """Within the block parameters get no values: zeros, until `parameter.initialize()` is called."""

    def __enter__(self) -> None:
        _depth[0] += 1

    def __exit__(self, *error: object) -> None:
        _depth[0] -= 1


def initializer_of(attr: ParamAttr, is_bias: bool, default: Initializer | None) -> Initializer:
    """The first that is said: by the attribute, for all parameters, by the layer; else zeros for a bias, or Xavier's numbers."""
    for choice in (attr.initializer, _initializers.global_initializer(is_bias), default):
        if choice is not None:
            return choice
    return _initializers.Constant(0.0) if is_bias else _initializers.XavierUniform()


def made(
    shape: ShapeLike,
    dtype: DTypeLike,
    name: str,
    attr: ParamAttr,
    is_bias: bool,
    default: Initializer | None,
    device: PlaceLike | None = None,
) -> Parameter:
    """A new parameter with its first values."""
    kind = _dtype.dtype(dtype)
    if not (kind.is_floating or kind.is_complex):
        raise TypeError(f"[create_parameter] dtype is {kind.name}; want a floating-point or complex dtype")
    kind, place = _default_place.fit(kind) if device is None else (kind, _place.place(device))
    initializer = initializer_of(attr, is_bias, default)
    sizes = tuple(dims(shape))
    take(name)
    count()
    with no_grad():
        if _depth[0]:
            lazy = parameter(filled(sizes, 0.0, kind, place), name, attr)
            lazy._mark("initializer", initializer)
            return lazy
        if type(initializer).forward is Initializer.forward and type(initializer).__call__ is Initializer.__call__:
            return parameter(initializer.values(sizes, kind, place), name, attr)
        found = parameter(filled(sizes, 0.0, kind, place), name, attr)
        initializer(found)
    return found


def create_parameter(
    shape: ShapeLike,
    dtype: DTypeLike,
    name: str | None = None,
    attr: ParamAttrLike = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Parameter:
    """A new parameter, which no layer owns.

    Args:
        shape: its sizes.
        dtype: a floating-point dtype.
        name: by default one that is numbered.
        attr: a `ParamAttr`, or what stands for one.
        is_bias: zeros are its first values, unless an initializer is given.
        default_initializer: used if `attr` has none.
    """
    said = attribute(attr)
    if said is None:
        raise ValueError("[create_parameter] attr is False; want a ParamAttr or None")
    if default_initializer is not None and not isinstance(default_initializer, Initializer):
        raise TypeError(
            f"[create_parameter] default_initializer is {type(default_initializer).__name__}; want an Initializer or None"
        )
    if not isinstance(name, (str, type(None))):
        raise TypeError(f"[create_parameter] name is {type(name).__name__}; want str or None")
    if name is not None and said.name is None:
        said = copy.copy(said)
        said.name = name
    word = "b" if is_bias else "w"
    chosen = said.name or generate(f"{generate('create_parameter')}.{word}")
    return made(shape, dtype, chosen, said, is_bias, default_initializer)
