"""Decoding step by step: a decoder makes each output from the one before, until all sequences have ended."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

import numpy as np

from .._arrays._array import stack
from .._arrays._creation import full, to_tensor, zeros
from .._calls import _operators
from .._core import _dtype
from .._functional import _all as F
from .._indices._sorting import topk

if TYPE_CHECKING:
    from .._tensor import Tensor
    from ._recurrent import RNNCellBase

UNLIKELY = 1e9  # the negative logarithm of a probability that stands for 0


def mapped(function: Callable[..., Any], *trees: Any) -> Any:
    """A function of the tensors of nested tuples, lists and dictionaries."""
    first = trees[0]
    if isinstance(first, dict):
        return {key: mapped(function, *(tree[key] for tree in trees)) for key in first}
    if isinstance(first, (list, tuple)):
        inner = [mapped(function, *parts) for parts in zip(*trees)]
        return type(first)(*inner) if hasattr(first, "_fields") else type(first)(inner)
    return function(*trees)


class OutputWrapper(NamedTuple):
    """What a step of beam search gives, of (batch, beams): scores, words, and the beams that they continue."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class StateWrapper(NamedTuple):
    """What beam search keeps from step to step; log_probs, finished and lengths are (batch, beams)."""

    cell_states: Any
    log_probs: Any
    finished: Any
    lengths: Any


class Decoder:
    """What `dynamic_decode` calls. A class of one's own has `initialize` and `step`, and `finalize` if results are made in the end."""

    def initialize(self, inits: Any) -> tuple[Any, Any, Any]:
        """(inputs, states, finished) before the first step."""
        raise NotImplementedError(f"[{type(self).__name__}] has no initialize")

    def step(self, time: Any, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any, Any, Any]:
        """(outputs, states, inputs, finished) after a step."""
        raise NotImplementedError(f"[{type(self).__name__}] has no step")

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """(outputs, states) as the caller gets them, of outputs of all steps along the first axis."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether `step` says for itself which sequences have ended, as where beams change their places."""
        return False


class BeamSearchDecoder(Decoder):
    """Beam search: keeps the beam_size likeliest beginnings at each step.

    Args:
        cell: gives (outputs, states) of (inputs, states); outputs are scores of words, unless output_fn makes them.
        start_token, end_token: the words that sequences begin and end with.
        embedding_fn: makes inputs of words; by default words are inputs.
        output_fn: makes scores of words of the cell's outputs.
    """

    def __init__(
        self,
        cell: RNNCellBase,
        start_token: int,
        end_token: int,
        beam_size: int,
        embedding_fn: Callable[..., Any] | None = None,
        output_fn: Callable[..., Any] | None = None,
    ) -> None:
        if beam_size < 1:
            raise ValueError(f"[BeamSearchDecoder] beam_size is {beam_size}; want 1 or more")
        self.cell, self.embedding_fn, self.output_fn = cell, embedding_fn, output_fn
        self.start_token, self.end_token, self.beam_size = start_token, end_token, beam_size

    @staticmethod
    def tile_beam_merge_with_batch(x: Tensor, beam_size: int) -> Any:
        """(batch, ...) as (batch * beam_size, ...), each example repeated, as what a cell reads besides its inputs has to be."""
        tiled: Any = x.unsqueeze(1).expand([x.shape[0], beam_size, *x.shape[1:]])
        return tiled.reshape([-1, *x.shape[1:]])

    def _beams(self, x: Any) -> Any:
        """(batch * beams, ...) as (batch, beams, ...)."""
        return x.reshape([-1, self.beam_size, *x.shape[1:]])

    def _merged(self, x: Any) -> Any:
        """(batch, beams, ...) as (batch * beams, ...)."""
        return x.reshape([-1, *x.shape[2:]])

    def _picked(self, x: Any, beams: Any) -> Any:
        """The beams of these numbers, of (batch, beams, ...)."""
        batch = x.shape[0]
        rows = to_tensor(np.arange(batch, dtype=np.int64).reshape([-1, 1]) * x.shape[1], place=x.place)
        return self._merged(x)[(beams + rows).reshape([-1])].reshape([batch, self.beam_size, *x.shape[2:]])

    def _inputs(self, words: Any) -> Any:
        return words if self.embedding_fn is None else self.embedding_fn(words)

    def initialize(self, initial_cell_states: Any) -> tuple[Any, Any, Any]:
        """Inputs of the start word, and states of which only the first beam is likely."""
        first = initial_cell_states
        while isinstance(first, (list, tuple)):
            first = first[0]
        batch, beams = first.shape[0], self.beam_size
        cells = mapped(lambda x: x.unsqueeze(1).expand([batch, beams, *x.shape[1:]]), initial_cell_states)
        ahead = np.full((batch, beams), -UNLIKELY, np.float32)
        ahead[:, 0] = 0
        finished = full([batch, beams], False, "bool")
        states = StateWrapper(cells, to_tensor(ahead), finished, zeros([batch, beams], "int64"))
        return self._inputs(full([batch, beams], self.start_token, "int64")), states, finished

    def step(self, time: Any, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any, Any, Any]:
        """One step of the cell for all beams, of whose continuations the likeliest are kept."""
        outputs, cells = self.cell(mapped(self._merged, inputs), mapped(self._merged, states.cell_states), **kwargs)
        logits, cells = mapped(self._beams, outputs), mapped(self._beams, cells)
        if self.output_fn is not None:
            logits = self.output_fn(logits)
        output, new = self._search(logits, cells, states)
        return output, new, self._inputs(output.predicted_ids), new.finished

    def _search(self, logits: Any, cells: Any, states: StateWrapper) -> tuple[OutputWrapper, StateWrapper]:
        words = logits.shape[-1]
        ended = np.full((words,), -UNLIKELY, np.float32)
        ended[self.end_token] = 0  # a beam that has ended goes on with the end word alone
        probabilities = F.log_softmax(logits, axis=-1)
        stopped = states.finished.unsqueeze(2)
        probabilities = _operators.where(stopped, to_tensor(ended).astype(logits.dtype), probabilities)
        total = (probabilities + states.log_probs.unsqueeze(2)).reshape([-1, self.beam_size * words])
        scores, places = topk(total, self.beam_size)
        parents, chosen = places // words, places % words
        finished = self._picked(states.finished.astype("int64"), parents)
        lengths = self._picked(states.lengths, parents) + (1 - finished)
        done = _operators.logical_or(finished.astype("bool"), chosen == self.end_token)
        kept = mapped(lambda x: self._picked(x, parents), cells)
        return OutputWrapper(scores, chosen, parents), StateWrapper(kept, scores, done, lengths)

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """The words of each beam, traced back from the last step."""
        return F.gather_tree(outputs.predicted_ids, outputs.parent_ids), final_states

    @property
    def tracks_own_finished(self) -> bool:
        return True


# As programs find them.
BeamSearchDecoder.OutputWrapper = OutputWrapper  # type: ignore[attr-defined]
BeamSearchDecoder.StateWrapper = StateWrapper  # type: ignore[attr-defined]


def _batch_first(x: Any) -> Any:
    return x.transpose([1, 0, *range(2, x.ndim)])


def dynamic_decode(
    decoder: Any,
    inits: Any = None,
    max_step_num: int | None = None,
    output_time_major: bool = False,
    impute_finished: bool = False,
    is_test: bool = False,
    return_length: bool = False,
    **kwargs: Any,
) -> Any:
    """Calls a decoder's `step` until all sequences have ended. Each step reads back whether they have.

    Args:
        decoder: a `BeamSearchDecoder`, or an object with its methods.
        inits: what `initialize` gets.
        max_step_num: the number of the last step, counted from 0; None for no limit.
        output_time_major: outputs are (time, batch, ...) instead of (batch, time, ...).
        impute_finished: whether sequences that have ended keep their states.
        is_test: has no effect; it saves memory in Paddle.
        return_length: whether the lengths are returned too.
        kwargs: for `step`.

    Returns:
        (outputs, final states), or (outputs, final states, lengths).
    """
    inputs, states, finished = decoder.initialize(inits)
    lengths = zeros(finished.shape, "int64")
    made: list[Any] = []
    step = 0
    while not bool(_operators.all(finished)):
        outputs, new, inputs, done = decoder.step(full([1], step, "int64"), inputs, states, **kwargs)
        if decoder.tracks_own_finished:
            lengths = getattr(new, "lengths", lengths)
        else:
            done = _operators.logical_or(done, finished)
            lengths = lengths + _operators.cast(_operators.logical_not(finished), _dtype.int64)
            if impute_finished:
                before = finished
                new = mapped(lambda a, b: _operators.where(_beside(before, a), b, a), new, states)  # noqa: B023 # called at once
        made.append(outputs)
        states, finished = new, done
        step += 1
        if max_step_num is not None and step > max_step_num:
            break
    results = mapped(lambda *parts: stack(list(parts), axis=0), *made)
    with contextlib.suppress(NotImplementedError):
        results, states = decoder.finalize(results, states, lengths)
    if not output_time_major:
        results = mapped(_batch_first, results)
    return (results, states, lengths) if return_length else (results, states)


def _beside(mask: Any, x: Any) -> Any:
    """A mask of the first axes of x, with axes of 1 for the rest."""
    return mask.reshape([*mask.shape, *([1] * (x.ndim - mask.ndim))])


__all__ = ["BeamSearchDecoder", "dynamic_decode"]
