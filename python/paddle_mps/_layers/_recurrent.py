"""Recurrent layers: cells, which make one step, and layers that make all steps of sequences.

Whole layers over plain cells are calls of the rows lstm, gru and recurrent, which run all steps at once and carry gradients through
them. RNN and BiRNN call any cell, step by step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._arrays._array import concat, split, stack
from .._arrays._creation import full
from .._calls import _operators
from .._core import _dtype
from .._core._objects import Tensor, meta
from .._functional import _all as F
from .._maths._ops import matmul
from ._containers import LayerList
from ._initializers import Constant, Uniform
from ._layer import Layer
from ._parameter import ParamAttr, skip

if TYPE_CHECKING:
    from ._parameter import ParamAttrLike


class RNNCellBase(Layer):
    """A step of a recurrent layer: `forward(inputs, states)` returns (outputs, new states). A class of one's own has `state_shape`."""

    def get_initial_states(
        self,
        batch_ref: Any,
        shape: Any = None,
        dtype: Any = None,
        init_value: float = 0.0,
        batch_dim_idx: int = 0,
    ) -> Any:
        """States of one number, for as many examples as a tensor has.

        Args:
            batch_ref: a tensor, or a structure whose first tensor is meant.
            shape: of a state without its batch, or a structure of shapes; by default `state_shape`.
            dtype: by default that of batch_ref.
            batch_dim_idx: the axis of examples of batch_ref.
        """
        first = batch_ref
        while isinstance(first, (list, tuple)):
            first = first[0]
        sizes = self.state_shape if shape is None else shape
        kind = first.dtype if dtype is None else dtype
        batch = first.shape[batch_dim_idx]

        def made(of: Any, kinds: Any) -> Any:
            if all(isinstance(n, int) for n in of):
                return full([batch, *(n for n in of if n != -1)], init_value, kinds)
            each = kinds if isinstance(kinds, (list, tuple)) else [kinds] * len(of)
            return tuple(made(inner, k) for inner, k in zip(of, each))

        return made(sizes, kind)

    @property
    def state_shape(self) -> Any:
        """The sizes of a state without its batch, or a tuple of them."""
        raise NotImplementedError(f"[{type(self).__name__}] has no state_shape")

    def _build(self, gates: int, input_size: int, hidden_size: int, state: int, attrs: Sequence[Any]) -> None:
        """The four parameters. One whose attribute is False is 1, or 0 for a bias, and is not trained, as in Paddle."""
        if hidden_size <= 0:
            raise ValueError(f"[{type(self).__name__}] hidden_size is {hidden_size}; want more than 0")
        self.input_size, self.hidden_size = input_size, hidden_size
        rows, end = gates * hidden_size, 1.0 / math.sqrt(hidden_size)
        for name, shape, attr in zip(
            ("weight_ih", "weight_hh", "bias_ih", "bias_hh"),
            ([rows, input_size], [rows, state], [rows], [rows]),
            attrs,
        ):
            bias = name.startswith("bias")
            if attr is False:
                attr = ParamAttr(initializer=Constant(0.0 if bias else 1.0), trainable=False)
            setattr(
                self, name, self.create_parameter(shape, attr, is_bias=bias, default_initializer=Uniform(-end, end))
            )

    def _product(self, x: Tensor, weight: Any, bias: Any) -> Tensor:
        y: Tensor = matmul(x, weight, transpose_y=True) + bias
        return y

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


class SimpleRNNCell(RNNCellBase):
    """h = activation(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh), which is the output too.

    Args:
        activation: "tanh" or "relu".
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        activation: str = "tanh",
        weight_ih_attr: ParamAttrLike = None,
        weight_hh_attr: ParamAttrLike = None,
        bias_ih_attr: ParamAttrLike = None,
        bias_hh_attr: ParamAttrLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=_dtype.default())
        if activation not in ("tanh", "relu"):
            raise ValueError(f"[SimpleRNNCell] activation is {activation!r}; want 'tanh' or 'relu'")
        self._build(
            1, input_size, hidden_size, hidden_size, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        )
        self.activation = activation

    def forward(self, inputs: Tensor, states: Any = None) -> Any:
        h = self.get_initial_states(inputs) if states is None else states
        total = self._product(inputs, self.weight_ih, self.bias_ih) + self._product(h, self.weight_hh, self.bias_hh)
        h = F.tanh(total) if self.activation == "tanh" else F.relu(total)
        return h, h

    @property
    def state_shape(self) -> tuple[int, ...]:
        return (self.hidden_size,)

    def extra_repr(self) -> str:
        said = super().extra_repr()
        return said if self.activation == "tanh" else f"{said}, activation={self.activation}"


class LSTMCell(RNNCellBase):
    """Long short-term memory, with gates i, f, g, o in this order; states are (h, c), and h is the output.

    Args:
        proj_size: above 0, h is multiplied with `weight_ho` of (hidden_size, proj_size).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: ParamAttrLike = None,
        weight_hh_attr: ParamAttrLike = None,
        bias_ih_attr: ParamAttrLike = None,
        bias_hh_attr: ParamAttrLike = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=_dtype.default())
        if proj_size < 0 or proj_size >= max(hidden_size, 1):
            raise ValueError(f"[LSTMCell] proj_size is {proj_size}; want 0 to hidden_size - 1, {hidden_size - 1}")
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self._build(4, input_size, hidden_size, proj_size or hidden_size, attrs)
        self.proj_size = proj_size
        if proj_size:
            end = 1.0 / math.sqrt(hidden_size)
            shape = [hidden_size, proj_size]
            self.weight_ho = self.create_parameter(shape, weight_hh_attr, default_initializer=Uniform(-end, end))

    def forward(self, inputs: Tensor, states: Any = None) -> Any:
        h, cell = self.get_initial_states(inputs) if states is None else states
        total = self._product(inputs, self.weight_ih, self.bias_ih) + self._product(h, self.weight_hh, self.bias_hh)
        i, f, g, o = split(total, 4, axis=-1)
        cell = F.sigmoid(f) * cell + F.sigmoid(i) * F.tanh(g)
        h = F.sigmoid(o) * F.tanh(cell)
        if self.proj_size:
            h = matmul(h, self.weight_ho)
        return h, (h, cell)

    @property
    def state_shape(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (self.proj_size or self.hidden_size,), (self.hidden_size,)


class GRUCell(RNNCellBase):
    """Gated recurrent unit, with gates r, z, c in this order; the state is the output too."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: ParamAttrLike = None,
        weight_hh_attr: ParamAttrLike = None,
        bias_ih_attr: ParamAttrLike = None,
        bias_hh_attr: ParamAttrLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=_dtype.default())
        self._build(
            3, input_size, hidden_size, hidden_size, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        )

    def forward(self, inputs: Tensor, states: Any = None) -> Any:
        h = self.get_initial_states(inputs) if states is None else states
        x_r, x_z, x_c = split(self._product(inputs, self.weight_ih, self.bias_ih), 3, axis=-1)
        h_r, h_z, h_c = split(self._product(h, self.weight_hh, self.bias_hh), 3, axis=-1)
        z = F.sigmoid(x_z + h_z)
        c = F.tanh(x_c + F.sigmoid(x_r + h_r) * h_c)
        h = (h - c) * z + c
        return h, h

    @property
    def state_shape(self) -> tuple[int, ...]:
        return (self.hidden_size,)


def _mapped(function: Any, *trees: Any) -> Any:
    """A function of the tensors of nested tuples and lists."""
    if isinstance(trees[0], (list, tuple)):
        return type(trees[0])(_mapped(function, *inner) for inner in zip(*trees))
    return function(*trees)


class RNN(Layer):
    """Calls a cell with each step of sequences.

    Args:
        is_reverse: from the last step to the first.
        time_major: inputs and outputs are (time, batch, ...) instead of (batch, time, ...).
    """

    def __init__(self, cell: RNNCellBase, is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        self.cell, self.is_reverse, self.time_major = cell, is_reverse, time_major

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Tensor | None = None, **kwargs: Any
    ) -> Any:
        """(outputs, final states). Steps behind the end of a sequence, whose lengths may be given, leave the states as they are."""
        return walk(self.cell, self.is_reverse, self.time_major, inputs, initial_states, sequence_length, kwargs)


def walk(
    cell: Any, reverse: bool, time_major: bool, inputs: Any, states: Any, lengths: Any, kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """Calls a cell with each step of sequences: its outputs, and its states after the last step."""
    time, batch = (0, 1) if time_major else (1, 0)
    first = inputs
    while isinstance(first, (list, tuple)):
        first = first[0]
    if states is None:
        states = cell.get_initial_states(first, batch_dim_idx=batch)
    steps = first.shape[time]
    outputs: list[Any] = []
    for t in range(steps - 1, -1, -1) if reverse else range(steps):
        step = _mapped(lambda x: x[t] if time_major else x[:, t], inputs)  # noqa: B023 # called at once
        output, new = cell(step, states, **kwargs)
        if lengths is not None:
            inside = _operators.cast(lengths > t, meta(first).dtype)
            new = _mapped(lambda a, b: _kept(inside, a, b), new, states)  # noqa: B023 # called at once
        states = new
        outputs.append(output)
    if reverse:
        outputs.reverse()
    return _mapped(lambda *made: stack(list(made), axis=time), *outputs), states


def _kept(inside: Tensor, new: Tensor, old: Tensor) -> Tensor:
    """New states of sequences that have not ended, the old ones of others."""
    mask: Tensor = inside.reshape([-1, *([1] * (new.ndim - 1))])
    kept: Tensor = new * mask + old * (1.0 - mask)
    return kept


class BiRNN(Layer):
    """Two cells, one from the first step to the last and one back; outputs are joined along the last axis."""

    def __init__(self, cell_fw: RNNCellBase, cell_bw: RNNCellBase, time_major: bool = False) -> None:
        super().__init__()
        self.cell_fw, self.cell_bw, self.time_major = cell_fw, cell_bw, time_major

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Tensor | None = None, **kwargs: Any
    ) -> Any:
        """(outputs, (final states forward, final states backward))."""
        ends = (None, None) if initial_states is None else initial_states
        if len(ends) != 2:
            raise ValueError(f"[BiRNN] initial_states has {len(ends)} parts; want 2, forward and backward")
        made = [
            walk(cell, reverse, self.time_major, inputs, states, sequence_length, kwargs)
            for cell, reverse, states in ((self.cell_fw, False, ends[0]), (self.cell_bw, True, ends[1]))
        ]
        (forward, last_forward), (backward, last_backward) = made
        return _mapped(lambda a, b: concat([a, b], axis=-1), forward, backward), (last_forward, last_backward)


class _RecurrentLayer(LayerList):
    """Layers of plain cells over whole sequences. Parameters have two names: `weight_ih_l0`, and the path to their cell, as in Paddle."""

    _mode: str
    _gates: tuple[int, ...]  # gates of the rows of recurrent layers, by their places in the cell's weights

    def _build(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        direction: str,
        time_major: bool,
        dropout: float,
        attrs: Sequence[Any],
        **cell: Any,
    ) -> None:
        LayerList.__init__(self)
        if direction not in ("forward", "bidirect", "bidirectional"):
            raise ValueError(
                f"[{type(self).__name__}] direction is {direction!r}; want 'forward', 'bidirect' or 'bidirectional'"
            )
        if num_layers < 1:
            raise ValueError(f"[{type(self).__name__}] num_layers is {num_layers}; want 1 or more")
        both = direction != "forward"
        self.mode, self.input_size, self.hidden_size, self.num_layers = self._mode, input_size, hidden_size, num_layers
        self.num_directions, self.time_major, self.dropout = 1 + both, time_major, dropout
        self.state_components = 2 if self._mode == "LSTM" else 1
        self.proj_size = cell.get("proj_size", 0)
        kind = {"LSTM": LSTMCell, "GRU": GRUCell}.get(self._mode, SimpleRNNCell)
        names = ("weight_ih_attr", "weight_hh_attr", "bias_ih_attr", "bias_hh_attr")
        said = {**dict(zip(names, attrs)), **cell}
        width = input_size
        for _ in range(num_layers):
            if both:
                self.append(BiRNN(kind(width, hidden_size, **said), kind(width, hidden_size, **said), time_major))
            else:
                self.append(RNN(kind(width, hidden_size, **said), False, time_major))
            width = (self.proj_size or hidden_size) * self.num_directions
        for i in range(num_layers):
            for d, each in enumerate(self._cells(i)):
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                    setattr(self, f"{name}_l{i}{'_reverse' if d else ''}", getattr(each, name))
        if len(self.parameters()) == 4 * num_layers * self.num_directions:
            skip(self)  # all of them in one piece

    def _cells(self, i: int) -> list[Any]:
        layer = self[i]
        return [layer.cell] if isinstance(layer, RNN) else [layer.cell_fw, layer.cell_bw]

    def forward(self, inputs: Tensor, initial_states: Any = None, sequence_length: Any = None) -> Any:
        """(outputs, final states): outputs are (batch, time, directions * hidden), a state (layers * directions, batch, hidden).

        Args:
            inputs: (batch, time, input_size); with time_major the first two are the other way round, of outputs too.
            initial_states: a state, for LSTM a pair (h, c); by default zeros.
            sequence_length: integers, the lengths of the sequences; outputs behind them are 0.
        """
        if inputs.ndim != 3 or inputs.shape[-1] != self.input_size:
            raise ValueError(
                f"[{type(self).__name__}] inputs have shape {list(inputs.shape)}; want 3 axes, the last of {self.input_size}"
            )
        x: Tensor = inputs if self.time_major else inputs.transpose([1, 0, 2])
        batch, count = x.shape[1], self.num_layers * self.num_directions
        sizes = [self.proj_size or self.hidden_size, self.hidden_size][: self.state_components]
        if initial_states is None:
            given = [full([count, batch, size], 0.0, inputs.dtype) for size in sizes]
        else:
            given = list(initial_states) if isinstance(initial_states, (list, tuple)) else [initial_states]
            got = [list(g.shape) if hasattr(g, "shape") else type(g).__name__ for g in given]
            if got != [[count, batch, size] for size in sizes]:
                raise ValueError(
                    f"[{type(self).__name__}] initial_states have shapes {', '.join(map(str, got)) or 'nothing'}; want "
                    + ", ".join(str([count, batch, size]) for size in sizes)
                )
        if sequence_length is not None:
            whole = isinstance(sequence_length, Tensor) and meta(sequence_length).dtype in (_dtype.int32, _dtype.int64)
            if not whole:
                kind = getattr(sequence_length, "dtype", type(sequence_length).__name__)
                raise ValueError(f"[{type(self).__name__}] sequence_length is {kind}; want a tensor of int32 or int64")
        lasts: list[list[Any]] = [[] for _ in sizes]
        for i in range(self.num_layers):
            if i and self.dropout:
                x = F.dropout(x, self.dropout, training=self.training)
            outs = []
            for d, cell in enumerate(self._cells(i)):
                states = [g[i * self.num_directions + d] for g in given]
                out, last = self._steps(cell, x, states, sequence_length, bool(d))
                outs.append(out)
                for kept, state in zip(lasts, last):
                    kept.append(state)
            x = outs[0] if len(outs) == 1 else concat(outs, axis=-1)
        final = [stack(kept, axis=0) for kept in lasts]
        y = x if self.time_major else x.transpose([1, 0, 2])
        return y, (tuple(final) if self._mode == "LSTM" else final[0])

    def _arranged(self, weight: Any) -> Any:
        """A weight or a bias with its gates in the order of the rows."""
        if len(self._gates) == 1:
            return weight
        parts = split(weight, len(self._gates), axis=0)
        return concat([parts[g] for g in self._gates], axis=0)

    def _steps(self, cell: Any, x: Tensor, states: list[Any], lengths: Any, reverse: bool) -> tuple[Any, list[Any]]:
        """All steps of a cell over x of (time, batch, input_size): outputs and final states."""
        if self.proj_size or x.shape[0] == 0:
            out, last = walk(cell, reverse, True, x, tuple(states) if len(states) > 1 else states[0], lengths, {})
            return out, list(last) if len(states) > 1 else [last]
        w_ih, w_hh, b_ih, b_hh = (
            self._arranged(p) for p in (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)
        )
        gru = self._mode == "GRU"
        products = matmul(x, w_ih, transpose_y=True) + (b_ih if gru else b_ih + b_hh)
        weight = w_hh.transpose([1, 0])
        if lengths is None and self._mode == "LSTM":
            out, cells = _operators.lstm(products, weight, *states, reverse)
            return out, [out[0 if reverse else -1], cells]
        if lengths is None and gru:
            out = _operators.gru(products, weight, states[0], b_hh, reverse, True)
            return out, [out[0 if reverse else -1]]
        kind, functions = {
            "LSTM": ("lstm", "sigmoid,tanh,tanh"),
            "GRU": ("gru", "sigmoid,tanh"),
            "RNN_TANH": ("rnn", "tanh"),
            "RNN_RELU": ("rnn", "relu"),
        }[self._mode]
        ends = None if lengths is None else _operators.cast(lengths, _dtype.int64)
        out, h, cells = _operators.recurrent(
            products,
            weight,
            states[0],
            states[1] if len(states) > 1 else None,
            b_hh if gru else None,
            None,
            ends,
            None,
            None,
            kind,
            functions,
            (),
            (),
            0.0,
            gru,
            False,
            reverse,
        )
        return out, [h, cells][: len(states)]

    def extra_repr(self) -> str:
        said = f"{self.input_size}, {self.hidden_size}"
        if self.num_layers != 1:
            said += f", num_layers={self.num_layers}"
        if self.time_major:
            said += f", time_major={self.time_major}"
        if self.dropout:
            said += f", dropout={self.dropout}"
        return said


class SimpleRNN(_RecurrentLayer):
    """Layers of `SimpleRNNCell`.

    Args:
        direction: "forward", or "bidirect" ("bidirectional") for both.
        dropout: the probability between layers.
        activation: "tanh" or "relu".
    """

    _gates = (0,)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        activation: str = "tanh",
        weight_ih_attr: ParamAttrLike = None,
        weight_hh_attr: ParamAttrLike = None,
        bias_ih_attr: ParamAttrLike = None,
        bias_hh_attr: ParamAttrLike = None,
        name: str | None = None,
    ) -> None:
        object.__setattr__(self, "_mode", f"RNN_{activation.upper()}")
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self._build(input_size, hidden_size, num_layers, direction, time_major, dropout, attrs, activation=activation)


class LSTM(_RecurrentLayer):
    """Layers of `LSTMCell`; see `SimpleRNN`."""

    _mode = "LSTM"
    _gates = (0, 3, 1, 2)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: ParamAttrLike = None,
        weight_hh_attr: ParamAttrLike = None,
        bias_ih_attr: ParamAttrLike = None,
        bias_hh_attr: ParamAttrLike = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self._build(input_size, hidden_size, num_layers, direction, time_major, dropout, attrs, proj_size=proj_size)


class GRU(_RecurrentLayer):
    """Layers of `GRUCell`; see `SimpleRNN`."""

    _mode = "GRU"
    _gates = (1, 0, 2)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: ParamAttrLike = None,
        weight_hh_attr: ParamAttrLike = None,
        bias_ih_attr: ParamAttrLike = None,
        bias_hh_attr: ParamAttrLike = None,
        name: str | None = None,
    ) -> None:
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self._build(input_size, hidden_size, num_layers, direction, time_major, dropout, attrs)


__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "BiRNN",
    "GRUCell",
    "LSTMCell",
    "RNNCellBase",
    "SimpleRNN",
    "SimpleRNNCell",
]
