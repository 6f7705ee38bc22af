"""Layer: a node of a network, which owns parameters, buffers and further layers, and calls its `forward`."""

from __future__ import annotations

import collections
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .._arrays._creation import empty, to_tensor
from .._calls import _tracing
from .._calls._grad import no_grad
from .._core import _builtin, _dtype, _place
from .._core._objects import from_array, replace
from .._tensor import Tensor
from . import _parameter
from ._names import generate, snake_case
from ._parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self

    from .._core._dtype import DTypeLike
    from .._core._typing import PlaceLike, ShapeLike
    from ._initializers import Initializer
    from ._parameter import ParamAttrLike

State = dict[str, Any]
Hook = Callable[..., Any]


class HookRemoveHelper:
    """What registers a hook returns: `remove()` takes the hook away again."""

    def __init__(self, hooks: dict[int, Any], number: int) -> None:
        self._hooks, self._number = hooks, number

    def remove(self) -> None:
        """Takes the hook away; a second call has no effect."""
        self._hooks.pop(self._number, None)


class _RegisteredHook:
    """A hook and how it is called."""

    numbers = 0

    def __init__(self, hook: Hook, with_kwargs: bool = False, always_call: bool = False) -> None:
        if not callable(hook):
            raise TypeError(f"[register_hook] got {type(hook).__name__}; want a function")
        self.hook, self.with_kwargs, self.always_call = hook, with_kwargs, always_call

    def register(self, hooks: collections.OrderedDict[int, Any], prepend: bool = False) -> HookRemoveHelper:
        _RegisteredHook.numbers += 1
        number = _RegisteredHook.numbers
        hooks[number] = self
        if prepend:
            hooks.move_to_end(number, last=False)
        return HookRemoveHelper(hooks, number)


class Layer:
    """A part of a network. A class of one's own assigns parameters and layers in `__init__`, and computes in `forward`.

    Parameters, layers and tensors that are assigned to attributes belong to the layer, as parameters, sublayers and buffers: what
    moves, saves, counts or trains a network finds them by the names of the attributes. A tensor that is assigned is a buffer that is
    not saved; `register_buffer` makes one that is.

    Layers are not safe for changes from several threads; calls of `forward` are as safe as what it does.

    Args:
        name_scope: the key of its name; by default the name of its class in snake case.
        dtype: of parameters whose dtype is not given.
    """

    training: bool

    def __init__(self, name_scope: str | None = None, dtype: DTypeLike = "float32") -> None:
        put = object.__setattr__
        put(self, "training", True)
        put(self, "_full_name", generate(name_scope or snake_case(type(self).__name__)))
        put(self, "_dtype", _dtype.dtype(dtype))
        put(self, "_parameters", collections.OrderedDict())
        put(self, "_buffers", collections.OrderedDict())
        put(self, "_sub_layers", collections.OrderedDict())
        put(self, "_non_persistable_buffer_names_set", set())
        put(self, "_forward_pre_hooks", collections.OrderedDict())
        put(self, "_forward_post_hooks", collections.OrderedDict())
        put(self, "_state_dict_hooks", collections.OrderedDict())

    if TYPE_CHECKING:
        _full_name: str
        _dtype: _dtype.DType
        _parameters: collections.OrderedDict[str, Parameter | None]
        _buffers: collections.OrderedDict[str, Tensor | None]
        _sub_layers: collections.OrderedDict[str, Layer | None]
        _non_persistable_buffer_names_set: set[str]
        _forward_pre_hooks: collections.OrderedDict[int, _RegisteredHook]
        _forward_post_hooks: collections.OrderedDict[int, _RegisteredHook]
        _state_dict_hooks: collections.OrderedDict[int, _RegisteredHook]

    # ---- Calls

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Computes the layer's results; every class has its own."""
        raise NotImplementedError(f"[{type(self).__name__}] has no forward")

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """The hooks before forward, `forward`, and the hooks after it."""
        if _builtin.traces:
            _tracing.calls_layer(self)
        try:
            if not self._forward_pre_hooks and not self._forward_post_hooks:
                return self.forward(*inputs, **kwargs)
            return self._hooked(inputs, kwargs)
        except (ValueError, TypeError) as error:
            _locate(error, self, inputs)
            raise

    def _hooked(self, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        done = 0
        result: Any = None
        try:
            for before in list(self._forward_pre_hooks.values()):
                inputs, kwargs = _changed_inputs(before, self, inputs, kwargs)
            result = self.forward(*inputs, **kwargs)
            for done, after in enumerate(list(self._forward_post_hooks.values()), 1):  # noqa: B007 # for those left
                changed = (
                    after.hook(self, inputs, kwargs, result) if after.with_kwargs else after.hook(self, inputs, result)
                )
                result = result if changed is None else changed
        except BaseException:
            for after in list(self._forward_post_hooks.values())[done:]:
                if after.always_call:
                    after.hook(self, inputs, kwargs, result) if after.with_kwargs else after.hook(self, inputs, result)
            raise
        return result

    def backward(self, *inputs: Any) -> Any:
        """Layers have no backward of their own: gradients follow from `forward`."""
        raise ValueError("[backward] layers have none; want loss.backward()")

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookRemoveHelper:
        """Calls `hook(layer, inputs)` before `forward`. What it returns, if not None, replaces the inputs.

        Args:
            prepend: before the hooks that are there already.
            with_kwargs: calls `hook(layer, inputs, kwargs)`, which returns None or (inputs, kwargs).
        """
        return _RegisteredHook(hook, with_kwargs).register(self._forward_pre_hooks, prepend)

    def register_forward_post_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> HookRemoveHelper:
        """Calls `hook(layer, inputs, result)` after `forward`. What it returns, if not None, replaces the result.

        Args:
            prepend: before the hooks that are there already.
            with_kwargs: calls `hook(layer, inputs, kwargs, result)`.
            always_call: also after an exception; the result is then None, or what the hooks before had made of it.
        """
        return _RegisteredHook(hook, with_kwargs, always_call).register(self._forward_post_hooks, prepend)

    register_forward_hook = register_forward_post_hook

    # ---- What belongs to the layer

    def __setattr__(self, name: str, value: Any) -> None:
        owned = self.__dict__
        if "_parameters" not in owned:
            if isinstance(value, (Tensor, Layer)):
                raise ValueError(
                    f"[{type(self).__name__}] {name} is assigned too early; want super().__init__() before it"
                )
            object.__setattr__(self, name, value)
            return
        if isinstance(value, Parameter):
            self._give_up(name, keep="_parameters")
            self._parameters[name] = value
        elif isinstance(value, Layer) and name not in self._parameters:
            self._give_up(name, keep="_sub_layers")
            self._sub_layers[name] = value
        elif name in self._parameters:
            self._want_nothing(name, value, "Parameter")
            self._parameters[name] = None
        elif name in self._sub_layers:
            self._want_nothing(name, value, "Layer")
            self._sub_layers[name] = None
        elif isinstance(value, Tensor) and not isinstance(getattr(type(self), name, None), property):
            if name not in self._buffers:
                self._give_up(name)
                self._non_persistable_buffer_names_set.add(name)
            self._buffers[name] = value
        elif name in self._buffers:
            self._want_nothing(name, value, "Tensor")
            self._buffers[name] = None
        else:
            object.__setattr__(self, name, value)
            if name == "training":
                _tracing.modes_changed()

    def _give_up(self, name: str, keep: str = "") -> None:
        """Removes what an attribute of this name was."""
        self.__dict__.pop(name, None)
        for group in ("_parameters", "_buffers", "_sub_layers"):
            if group != keep:
                self.__dict__[group].pop(name, None)
        self._non_persistable_buffer_names_set.discard(name)

    def _want_nothing(self, name: str, value: Any, wanted: str) -> None:
        """None is the only other value that an attribute for parameters, layers or buffers takes."""
        if value is not None:
            raise TypeError(f"[{type(self).__name__}] {name} is assigned {type(value).__name__}; want {wanted} or None")

    def __getattr__(self, name: str) -> Any:
        for group in ("_parameters", "_buffers", "_sub_layers"):
            owned = self.__dict__.get(group)
            if owned is not None and name in owned:
                return owned[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        for group in ("_parameters", "_buffers", "_sub_layers"):
            if name in self.__dict__[group]:
                del self.__dict__[group][name]
                self._non_persistable_buffer_names_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        owned = (*self._parameters, *self._buffers, *self._sub_layers)
        return [name for name in (*object.__dir__(self), *owned) if name.isidentifier()]

    def full_name(self) -> str:
        """The name of the layer, with which those of its parameters begin: `linear_0`."""
        return self._full_name

    def create_parameter(
        self,
        shape: ShapeLike,
        attr: ParamAttrLike = None,
        dtype: DTypeLike | None = None,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
        device: PlaceLike | None = None,
    ) -> Any:
        """A new parameter, which belongs to the layer once it is assigned to an attribute.

        Args:
            shape: its sizes.
            attr: a `ParamAttr`, a name, an initializer or a regularizer; False for no parameter, which is None.
            dtype: by default that of the layer.
            is_bias: zeros are its first values, unless an initializer is given; else Xavier's even distribution.
            default_initializer: used if `attr` has none.
            device: where it is made, by default the current place.
        """
        said = _parameter.attribute(attr)
        if said is None:
            return None
        name = said.name or generate(f"{self._full_name}.{'b' if is_bias else 'w'}")
        kind = self._dtype if dtype is None else dtype
        return _parameter.made(shape, kind, name, said, is_bias, default_initializer, device)

    def create_tensor(
        self, name: str | None = None, persistable: bool | None = None, dtype: DTypeLike | None = None
    ) -> Tensor:
        """An empty tensor of the layer's dtype, for a program to fill and to register."""
        made: Tensor = empty([0], self._dtype if dtype is None else dtype)
        made.name = name or generate(f"{self._full_name}._generated_var")
        made.persistable = bool(persistable)
        return made

    create_variable = create_tensor

    def add_parameter(self, name: str, parameter: Parameter | None) -> Parameter | None:
        """Gives the layer a parameter under a name; returns it.

        Raises:
            KeyError: the name is taken, is empty or has a dot.
            TypeError: it is no parameter.
        """
        self._check_name("add_parameter", name, parameter, Parameter, self._parameters)
        self._parameters[name] = parameter
        return parameter

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """See `add_parameter`."""
        self.add_parameter(name, param)

    def add_sublayer(self, name: str, sublayer: Layer | None) -> Layer | None:
        """Gives the layer another one under a name, which replaces one of this name; returns it."""
        if sublayer is not None and not isinstance(sublayer, Layer):
            raise TypeError(f"[add_sublayer] {name!r} is {type(sublayer).__name__}; want Layer or None")
        self._sub_layers[str(name)] = sublayer
        return sublayer

    def add_module(self, name: str, module: Layer | None) -> None:
        """See `add_sublayer`."""
        self.add_sublayer(name, module)

    register_module = add_module

    def register_buffer(self, name: str, tensor: Tensor | None, persistable: bool = True) -> None:
        """Gives the layer a tensor that is no parameter, such as a running mean.

        Args:
            persistable: whether `state_dict` has it.

        Raises:
            KeyError: the name is taken, is empty or has a dot.
            TypeError: it is no tensor.
        """
        self._check_name("register_buffer", name, tensor, Tensor, self._buffers)
        self._buffers[name] = tensor
        if persistable:
            self._non_persistable_buffer_names_set.discard(name)
        else:
            self._non_persistable_buffer_names_set.add(name)

    def _check_name(self, function: str, name: Any, value: Any, kind: type, group: Mapping[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"[{function}] the name is {type(name).__name__}; want a str")
        if not name or "." in name:
            raise KeyError(f"[{function}] the name is {name!r}; want one without a dot that is not empty")
        if name not in group and hasattr(self, name):
            raise KeyError(f"[{function}] the layer has an attribute {name!r} already; want another name")
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"[{function}] {name!r} is {type(value).__name__}; want {kind.__name__} or None")

    # ---- Walks

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        """The layers that the layer itself owns, each once, with their names."""
        seen: set[int] = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and id(layer) not in seen:
                seen.add(id(layer))
                yield name, layer

    def children(self) -> Iterator[Layer]:
        """See `named_children`."""
        return (layer for _, layer in self.named_children())

    def named_sublayers(
        self,
        prefix: str = "",
        include_self: bool = False,
        layers_set: set[Layer] | None = None,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Layer]]:
        """All layers below, outer ones first, with their paths such as "encoder.0.linear".

        Args:
            prefix: of the paths.
            include_self: whether the layer itself comes first.
            layers_set: layers that are left out; those that are found are added to it.
            remove_duplicate: whether a layer that stands in several places is found once.
        """
        seen = set() if layers_set is None else layers_set
        if include_self and self not in seen:
            if remove_duplicate:
                seen.add(self)
            yield prefix, self
        for name, layer in self._sub_layers.items():
            if layer is not None and layer not in seen:
                path = f"{prefix}.{name}" if prefix else name
                yield from layer.named_sublayers(path, True, seen, remove_duplicate)

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        """See `named_sublayers`."""
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_modules(
        self, memo: set[Layer] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Layer]]:
        """The layer and all layers below, with their paths."""
        return self.named_sublayers(prefix, True, memo, remove_duplicate)

    def modules(self) -> Iterator[Layer]:
        """The layer and all layers below."""
        return iter(self.sublayers(include_self=True))

    def _named(
        self, group: str, prefix: str, include_sublayers: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        layers: Iterable[tuple[str, Layer]] = (
            self.named_sublayers(prefix, True, remove_duplicate=remove_duplicate)
            if include_sublayers
            else [(prefix, self)]
        )
        for path, layer in layers:
            for name, found in layer.__dict__[group].items():
                if found is None or (remove_duplicate and id(found) in seen):
                    continue
                seen.add(id(found))
                yield f"{path}.{name}" if path else name, found

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their paths, such as "encoder.0.linear.weight".

        Args:
            prefix: of the paths.
            include_sublayers: False for those of the layer itself.
            remove_duplicate: whether a parameter that stands in several places is found once.
        """
        return self._named("_parameters", prefix, include_sublayers, remove_duplicate)

    def parameters(self, include_sublayers: bool = True) -> list[Parameter]:
        """See `named_parameters`."""
        return [found for _, found in self.named_parameters(include_sublayers=include_sublayers)]

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their paths; see `named_parameters`."""
        return self._named("_buffers", prefix, include_sublayers, remove_duplicate)

    def buffers(self, include_sublayers: bool = True) -> list[Tensor]:
        """See `named_buffers`."""
        return [found for _, found in self.named_buffers(include_sublayers=include_sublayers)]

    def get_sublayer(self, target: str) -> Layer:
        """The layer at a path, such as "encoder.0.linear"; "" is the layer itself.

        Raises:
            AttributeError: there is none.
        """
        layer: Any = self
        for i, name in enumerate(target.split(".") if target else ()):
            layer = layer._sub_layers.get(name)
            if layer is None:
                path = ".".join(target.split(".")[: i + 1])
                raise AttributeError(f"[get_sublayer] {type(self).__name__} has no layer {path!r}")
        assert isinstance(layer, Layer)
        return layer

    get_submodule = get_sublayer

    def set_sublayer(self, target: str, layer: Layer, strict: bool = False) -> None:
        """Puts a layer at a path.

        Args:
            strict: whether there has to be a layer at the path already.
        """
        if not isinstance(layer, Layer):
            raise ValueError(f"[set_sublayer] got {type(layer).__name__}; want a Layer")
        if not target:
            raise ValueError("[set_sublayer] the path is empty; want that of a layer below")
        path, _, name = target.rpartition(".")
        owner = self.get_sublayer(path)
        if strict and name not in owner._sub_layers:
            raise AttributeError(f"[set_sublayer] {type(self).__name__} has no layer {target!r}")
        setattr(owner, name, layer) if name.isidentifier() else owner.add_sublayer(name, layer)

    set_submodule = set_sublayer

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path.

        Raises:
            AttributeError: there is none.
        """
        path, _, name = target.rpartition(".")
        found = self.get_sublayer(path)._parameters.get(name)
        if found is None:
            raise AttributeError(f"[get_parameter] {type(self).__name__} has no parameter {target!r}")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path.

        Raises:
            AttributeError: there is none.
        """
        path, _, name = target.rpartition(".")
        found = self.get_sublayer(path)._buffers.get(name)
        if found is None:
            raise AttributeError(f"[get_buffer] {type(self).__name__} has no buffer {target!r}")
        return found

    def apply(self, fn: Callable[[Layer], Any]) -> Self:
        """Calls a function with each layer below, inner ones first, and then with the layer itself; returns it."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    # ---- Training

    def train(self, mode: bool = True) -> Self:
        """Sets `training` of the layer and of all below; returns the layer. Dropout and normalization depend on it."""
        for layer in self.sublayers(include_self=True):
            layer.__dict__["training"] = mode
        _tracing.modes_changed()
        return self

    def eval(self) -> Self:
        """train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Sets whether the parameters are trained; returns the layer."""
        for p in self.parameters():
            p.stop_gradient = not requires_grad
        return self

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Clears the gradients of all trained parameters.

        Args:
            set_to_zero: zeros instead of None.
        """
        for p in self.parameters():
            if p.trainable:
                p.clear_gradient(set_to_zero)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """See `clear_gradients`; gradients become None by default."""
        self.clear_gradients(not set_to_none)

    # ---- State

    def state_dict(
        self,
        destination: State | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> State:
        """Parameters and persistable buffers by their paths. They are the layer's own, not copies.

        Args:
            destination: a dictionary that gets them; by default a new one.
            include_sublayers: False for those of the layer itself.
            structured_name_prefix: before each path, with its dot.
            use_hook: whether the hooks of `register_state_dict_hook` are called.
            keep_vars: False for detached tensors over the same memory.
        """
        return self._state(destination, include_sublayers, structured_name_prefix, False, use_hook, keep_vars)

    def to_static_state_dict(
        self,
        destination: State | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> State:
        """`state_dict`, with the buffers that are not persistable."""
        return self._state(destination, include_sublayers, structured_name_prefix, True, use_hook, keep_vars)

    def _state(
        self, destination: State | None, below: bool, prefix: str, every_buffer: bool, use_hook: bool, keep_vars: bool
    ) -> State:
        found: State = collections.OrderedDict() if destination is None else destination
        for name, p in self._parameters.items():
            if p is not None:
                found[prefix + name] = p if keep_vars else p.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and (every_buffer or name not in self._non_persistable_buffer_names_set):
                found[prefix + name] = buffer if keep_vars else buffer.detach()
        extra = type(self).get_extra_state is not Layer.get_extra_state
        if extra:
            found[f"{prefix}_extra_state"] = self.get_extra_state()
        for name, layer in self._sub_layers.items() if below else ():
            if layer is not None:
                layer._state(found, True, f"{prefix}{name}.", every_buffer, use_hook, keep_vars)
        for hook in list(self._state_dict_hooks.values()) if use_hook else ():
            changed = hook.hook(found)
            found = found if changed is None else changed
        return found

    def get_extra_state(self) -> Any:
        """What `state_dict` has besides parameters and buffers, as `_extra_state`. A class of one's own defines it."""
        raise NotImplementedError(f"[{type(self).__name__}] has no get_extra_state")

    def register_state_dict_hook(self, hook: Hook) -> HookRemoveHelper:
        """Calls `hook(state)` when `state_dict` has been made. What it returns, if not None, replaces it."""
        return _RegisteredHook(hook).register(self._state_dict_hooks)

    def set_state_dict(
        self, state_dict: Mapping[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Writes values into parameters and persistable buffers.

        Values are tensors or arrays of the same shapes; other dtypes are cast. One of another shape is left out with a warning.

        Args:
            state_dict: values by path, as `state_dict` has them.
            use_structured_name: False if the keys are names of tensors, such as "linear_0.w_0".

        Returns:
            The paths of what got no value, and the keys that nothing has.
        """
        own = self.state_dict(use_hook=False)
        given = {k: v for k, v in state_dict.items() if k != "StructuredToParameterName@@"}
        keys = {path: path if use_structured_name else getattr(x, "name", path) for path, x in own.items()}
        missing: list[str] = []
        used: set[str] = set()
        values: dict[str, Any] = {}
        for path, target in own.items():
            if keys[path] not in given:
                missing.append(path)
            elif isinstance(target, Tensor):
                value = given[keys[path]]
                shape = list(getattr(value, "shape", ()))
                if shape != list(target.shape):
                    warnings.warn(
                        f"[set_state_dict] {keys[path]!r} has shape {shape}, and the {type(target).__name__} {list(target.shape)}; "
                        "it is left out",
                        stacklevel=2,
                    )
                    missing.append(path)
                else:
                    used.add(keys[path])
                    values[path] = value
        unexpected = [key for key in given if key not in used]
        with no_grad():
            for path, value in values.items():
                _write(own[path], value)
        return missing, unexpected

    set_dict = load_dict = set_state_dict

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> tuple[list[str], list[str]]:
        """`set_state_dict`, which raises if keys are missing or unexpected and `strict` is True.

        Args:
            assign: has no effect: values are written into the tensors of the layer.

        Raises:
            RuntimeError: keys are missing, or nothing has their names; what fits is written before.
        """
        missing, unexpected = self.set_state_dict(state_dict)
        if strict and (missing or unexpected):
            raise RuntimeError(
                f"[load_state_dict] missing keys are {missing}, unexpected ones {unexpected}; want none of either"
            )
        return missing, unexpected

    # ---- Places and dtypes

    def to(
        self,
        device: PlaceLike | None = None,
        dtype: DTypeLike | None = None,
        blocking: bool | None = None,
        non_blocking: bool | None = None,
    ) -> Self:
        """Moves parameters, their gradients and buffers to a place, and casts those of floating-point dtypes; returns the layer.

        The tensors stay the same objects.

        Args:
            device: the place, or None to stay.
            dtype: a floating-point dtype, or None.
            blocking: False to return before copies are done.
            non_blocking: the contrary of `blocking`.
        """
        place = None if device is None else _place.place(device)
        kind = None if dtype is None else _dtype.dtype(dtype)
        wait = blocking is not False and non_blocking is not True
        return self._convert(place, kind, wait, ())

    def _convert(self, place: Any, kind: Any, wait: bool, excluded: Any) -> Self:
        classes = tuple(excluded) if isinstance(excluded, (list, tuple)) else (excluded,) if excluded else ()
        done: set[int] = set()
        for layer in self.sublayers(include_self=True):
            spared = any(isinstance(layer, c) if isinstance(c, type) else layer is c for c in classes)
            for x in (*layer._parameters.values(), *layer._buffers.values()):
                if x is not None and id(x) not in done:
                    done.add(id(x))
                    _converted(x, place, None if spared else kind, wait)
            if kind is not None and not spared:
                layer.__dict__["_dtype"] = kind
        return self

    def astype(self, dtype: DTypeLike | None = None) -> Self:
        """Casts parameters and buffers of floating-point dtypes; returns the layer."""
        return self.to(dtype=dtype)

    def float(self, excluded_layers: Any = None) -> Self:
        """float32, but for the layers of the classes that are excluded."""
        return self._convert(None, _dtype.float32, True, excluded_layers)

    def float16(self, excluded_layers: Any = None) -> Self:
        """float16, but for the layers of the classes that are excluded."""
        return self._convert(None, _dtype.float16, True, excluded_layers)

    def bfloat16(self, excluded_layers: Any = None) -> Self:
        """bfloat16, but for the layers of the classes that are excluded."""
        return self._convert(None, _dtype.bfloat16, True, excluded_layers)

    def half(self) -> Self:
        """float16."""
        return self.float16()

    def double(self) -> Self:
        """float64."""
        return self._convert(None, _dtype.float64, True, None)

    def type(self, dst_type: DTypeLike) -> Self:
        """See `astype`."""
        return self.to(dtype=dst_type)

    def cpu(self) -> Self:
        """Moves the layer to the CPU."""
        return self.to("cpu")

    def mps(self, device: int = 0) -> Self:
        """Moves the layer to an mps device."""
        return self.to(f"mps:{device}")

    def __repr__(self) -> str:
        rows = [f"({name}): {_indented(repr(layer))}" for name, layer in self._sub_layers.items()]
        extra = self.extra_repr()
        if not rows:
            return f"{type(self).__name__}({extra})"
        lines = "\n  ".join([extra, *rows] if extra else rows)
        return f"{type(self).__name__}({'' if extra else chr(10) + '  '}{lines}\n)"

    def extra_repr(self) -> str:
        """What `repr` says of the layer itself. A class of one's own may define it."""
        return ""


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _changed_inputs(
    hook: _RegisteredHook, layer: Layer, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a hook before forward makes of the inputs."""
    if hook.with_kwargs:
        changed = hook.hook(layer, inputs, kwargs)
        if changed is not None and not (isinstance(changed, tuple) and len(changed) == 2):
            raise RuntimeError(
                f"[register_forward_pre_hook] the hook returned {type(changed).__name__}; want (inputs, kwargs) or None"
            )
        return (inputs, kwargs) if changed is None else changed
    changed = hook.hook(layer, inputs)
    if changed is None:
        return inputs, kwargs
    return changed if isinstance(changed, tuple) else (changed,), kwargs


def _write(target: Tensor, value: Any) -> None:
    """Writes the elements of a tensor or an array of the same shape, cast if need be; keeps the history of gradients out."""
    source = value if isinstance(value, Tensor) else np.asarray(value)
    if isinstance(source, np.ndarray) and source.dtype == np.uint16 and target.dtype is _dtype.bfloat16:
        source = from_array(source, target.place)
    elif isinstance(source, np.ndarray):
        source = to_tensor(source, place="cpu")
    target.set_value(source.to(target.place).astype(target.dtype))


def _converted(x: Tensor, place: Any, kind: Any, wait: bool) -> None:
    """Gives a tensor other memory: of another place, of another dtype if it has a floating-point one."""
    goal = kind if kind is not None and x.is_floating_point() else None
    gradient = x.grad if isinstance(x, Parameter) else None
    with no_grad():
        moved = x.detach()
        if goal is not None:
            moved = moved.astype(goal)
        if place is not None and moved.place != place:
            moved = moved.to(place, blocking=wait)
        if moved.place == x.place and moved.dtype is x.dtype:
            return
        x.clear_gradient(False)
        replace(x, moved)
        if gradient is not None:
            _converted(gradient, place, kind, wait)
            x.grad = gradient


def _locate(error: Exception, layer: Layer, inputs: tuple[Any, ...]) -> None:
    """Says in the text of an error of an operator which layer of the network it comes from."""
    if not (error.args and isinstance(error.args[0], str) and error.args[0].startswith("[")):
        return
    known = getattr(error, "_layer", None)
    if known is None:
        shapes = [list(x.shape) for x in inputs if isinstance(x, Tensor)]
        known = error.args[0], layer, shapes
        error._layer = known  # type: ignore[attr-defined]
    text, inner, shapes = known
    path = next((path for path, found in layer.named_sublayers(include_self=True) if found is inner), "")
    weights = "".join(f", its {name} is {list(p.shape)}" for name, p in inner._parameters.items() if p is not None)
    where = f"layer {path} ({type(inner).__name__})" if path else f"layer {type(inner).__name__}"
    got = ", ".join(map(str, shapes)) or "nothing"
    error.args = (f"{text}; in {where}{weights}, the input is {got}", *error.args[1:])


__all__ = ["HookRemoveHelper", "Layer"]
