"""Losses of so many classes that they are put into a tree or into clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays._array import concat
from .._arrays._creation import value_of
from .._calls import _operators
from .._calls._precision import rounded
from .._core._convert import index, tensor
from .._core._errors import errors_of
from .._core._objects import Tensor, from_array, meta
from .._maths._elementwise import of_floats
from ._similarity import linear, log_softmax


@errors_of("index")
def hsigmoid_loss(
    input: Tensor,
    label: Tensor,
    num_classes: int,
    weight: Tensor,
    bias: Tensor | None = None,
    path_table: Tensor | None = None,
    path_code: Tensor | None = None,
    is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sum over a label's path in a binary tree of log(1 + exp(s)) - bit * s, with s = input @ weight[node] + bias[node].

    A label whose path is shorter than the longest one has log(2) for each node that it lacks, as in Paddle: that
    changes no gradient.

    Args:
        input: of shape [n, features], float32 or float64.
        label: int64, of shape [n] or [n, 1]. Not used with a path_table.
        num_classes: from 2. Without a path_table, the tree is complete, and class c is its node c + num_classes, counted
            from 1 in rows.
        weight: of shape [nodes, features]: num_classes - 1 nodes of the complete tree.
        bias: of shape [nodes] or [nodes, 1].
        path_table: int64, of shape [n, length]: the nodes of each path, then -1.
        path_code: of the same shape: the bits, 0 or 1.
        is_sparse: changes nothing: there are no sparse gradients.

    Returns:
        A tensor of shape [n, 1].

    Raises:
        IndexError, ValueError: a node is out of range.
        UnsupportedError: input is not floating-point.
        ValueError: an operand is no tensor, the shapes do not fit, or num_classes is below 2.
    """
    if index("num_classes", num_classes) < 2:
        raise ValueError(f"[hsigmoid_loss] num_classes is {num_classes}; want a number from 2")
    shape = meta(of_floats(input, "hsigmoid_loss")).shape
    nodes_shape = meta(tensor(weight, "hsigmoid_loss", "weight")).shape
    if len(shape) != 2 or len(nodes_shape) != 2 or nodes_shape[1] != shape[1]:
        raise ValueError(f"[hsigmoid_loss] shapes are {list(shape)} and {list(nodes_shape)}; want [n, f], [nodes, f]")
    line = None if bias is None else tensor(bias, "hsigmoid_loss", "bias")
    if path_table is None or path_code is None:
        given = tensor(label, "hsigmoid_loss", "label")
        return rounded(_operators.hsigmoid_loss(input, given, weight, line, None, None, num_classes), input)
    table, code = tensor(path_table, "hsigmoid_loss", "path_table"), tensor(path_code, "hsigmoid_loss", "path_code")
    if meta(table).shape != meta(code).shape or len(meta(table).shape) != 2:
        raise ValueError(f"[hsigmoid_loss] path_table has shape {list(meta(table).shape)}; want 2 axes, as path_code")
    return rounded(_operators.hsigmoid_loss(input, table, weight, line, table, code, num_classes), input)


def adaptive_log_softmax_with_loss(
    input: Tensor,
    label: Tensor,
    head_weight: Tensor,
    tail_weights: Sequence[Sequence[Tensor]],
    cutoffs: Sequence[int | Tensor],
    head_bias: Tensor | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The logarithm of each label's probability where rare classes are in clusters, and the mean of its negative.

    The head has a score for each frequent class and for each cluster; a cluster has scores of its classes. It waits for
    the device, which says in which cluster labels are.

    Args:
        input: of shape [n, features], or [features] beside a label without axes.
        label: integers, of shape [n] or [].
        head_weight: of shape [features, cutoffs[0] + clusters].
        tail_weights: for each cluster two matrices, [features, k] and [k, classes of the cluster].
        cutoffs: the classes with which the clusters begin, in order, and at the end the number of classes.
        head_bias: of shape [cutoffs[0] + clusters].

    Returns:
        The logarithms, in the shape of label, and the loss.

    Raises:
        ValueError: an operand is no tensor, the shapes do not fit, or a label is no class.
    """
    function = "adaptive_log_softmax_with_loss"
    shape, given = meta(tensor(input, function, "input")).shape, meta(tensor(label, function, "label")).shape
    if len(given) > 1 or len(shape) != len(given) + 1 or (given and given[0] not in (0, shape[0])):
        raise ValueError(f"[{function}] input has shape {list(shape)} and label {list(given)}; want [n, features], [n]")
    x = input if given else _operators.unsqueeze(input, 0)
    wanted, bounds = np.atleast_1d(label.numpy()), [0, *(int(value_of(c)) for c in cutoffs)]
    if wanted.size and not (wanted.min() >= 0 and wanted.max() < bounds[-1]):
        raise ValueError(f"[{function}] labels are from {wanted.min()} to {wanted.max()}; want 0 to {bounds[-1] - 1}")
    cluster = np.searchsorted(bounds[1:], wanted, side="right")
    head = log_softmax(linear(x, head_weight, head_bias), 1)
    columns = np.where(cluster == 0, wanted, bounds[1] + cluster - 1)
    output = at_columns(head, np.arange(wanted.size), columns)
    order = [np.flatnonzero(cluster == i) for i in range(len(bounds) - 1)]
    parts = [_operators.full(meta(x).place.word, (order[0].size,), 0, meta(x).dtype)]
    for i, rows in enumerate(order[1:], 1):
        if rows.size:
            down, up = tail_weights[i - 1]
            scores = linear(linear(_operators.gather(x, from_array(rows, meta(x).place), 0), down), up)
            parts.append(at_columns(log_softmax(scores, 1), np.arange(rows.size), wanted[rows] - bounds[i]))
    if len(parts) > 1:  # the parts are in the order of the clusters, and go back to that of the labels
        back = from_array(np.argsort(np.concatenate(order)), meta(x).place)
        output = _operators.add(output, _operators.gather(concat(parts, 0), back, 0))
    loss = -_operators.mean(output)
    return (output if given else _operators.squeeze(output, 0)), loss


def at_columns(x: Tensor, rows: np.ndarray[Any, Any], columns: np.ndarray[Any, Any]) -> Tensor:
    """One element of each row."""
    place = meta(x).place
    return _operators.index(x, [from_array(rows, place), from_array(columns.astype("int64"), place)])


__all__ = ["adaptive_log_softmax_with_loss", "hsigmoid_loss"]
