"""Outputs that share memory with inputs: every operator of the table, written over each of its inputs.

include/paddlemps.h lets the output of a call share memory with its inputs. Each case is called twice, on equal
values in equal places: once with the output in the memory of an input, once with the output in a copy of that
memory. All of the memory must be equal afterwards, around the output too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

import paddle_mps as paddle

from .._calls import _call
from .oracle import Array

# Asserts that two results of one call are equal, as far as the operator promises: where the output is, the
# operands, both results, and their dtype.
Agree = Callable[[str, list[Any], Array, Array, str], None]

# Where an input and the output begin, in elements of the memory that they share: at one place, which makes
# them the very same view if their shapes are equal, or one of them ahead of the other.
STARTS = ((0, 0), (0, 1), (1, 0))


def applies(row: dict[str, Any]) -> bool:
    """Whether an operator reads tensors and writes one, which can be given, and the table says with which attributes.

    How far two results may be apart where roundings count and there is no NumPy expression to take their scale from (attention,
    recurrent layers), and in scans without one, is more than the table says, as are the shapes of the operands of composed rows, and of
    formulas with indices: their own tests have these cases.
    """
    known = bool(row.get("settings")) or not any(a.get("needed") for a in row["attrs"])
    scaled = row["numpy"] or not (row["kind"] == "scan" or any(row["tolerance"]["roundings"].values()))
    shaped = (row["kind"] == "index" and row.get("formula")) or row["name"] == "index_fill"  # whose value has no axes
    others = row["kind"] in ("view", "create", "composed") or shaped or not scaled
    return known and not others and not row.get("counted") and not row.get("many")


def indices(dtype: str, place: str, *sizes: int) -> list[Any]:
    """An index tensor for each axis of a shape, of that shape and in range for all axes; some name one place."""
    kind = "int32" if dtype == "int32" else "int64"
    least = min(sizes)
    number = np.arange(np.prod(sizes)).reshape(sizes)
    return [
        paddle.to_tensor((7 * number + axis) % (2 * least - 1) - least, dtype=kind, place=place)
        for axis in range(len(sizes))
    ]


def check(row: dict[str, Any], operands: Sequence[Any], attributes: tuple[Any, ...], agree: Agree) -> None:
    """Tries an operator with an output over each of its operands, and over all if one tensor can be all of them.

    Raises:
        AssertionError: the output, or memory around it, is other than without shared memory.
    """
    tensors = [i for i, x in enumerate(operands) if isinstance(x, paddle.Tensor)]
    shape = _call.call(row["id"], operands, attributes).shape
    kinds = {(tuple(operands[i].shape), operands[i].dtype) for i in tensors}
    groups = [[i] for i in tensors] + ([tensors] if len(tensors) > 1 and len(kinds) == 1 else [])
    for group in groups:
        for start, out_start in STARTS:
            (got, values), (want, _) = (
                outcome(row, operands, attributes, group, start, shape, out_start, n) for n in (1, 2)
            )
            end = out_start + int(np.prod(shape))
            where = f"the output begins {out_start - start} elements behind operands {group}"
            assert got[:out_start].tobytes() == want[:out_start].tobytes(), f"{where}: written in front of it"
            assert got[end:].tobytes() == want[end:].tobytes(), f"{where}: written behind it"
            dtype = str(operands[group[0]].dtype).removeprefix("paddle.")
            agree(where, values, got[out_start:end].reshape(shape), want[out_start:end].reshape(shape), dtype)


def outcome(
    row: dict[str, Any], operands: Sequence[Any], attributes: tuple[Any, ...],
    group: Sequence[int], start: int, shape: list[int], out_start: int, memories: int,
) -> tuple[Array, list[Any]]:  # fmt: skip
    """The memory that the output lies in after a call whose operands of a group are one tensor, in the same
    memory or in another one; and what the operands were before the call."""
    model = operands[group[-1]]
    size, room = model.size, int(np.prod(shape))
    values = np.resize(flat(model), max(size, room) + 1)
    lines = [paddle.to_tensor(values, dtype=model.dtype, place=model.place) for _ in range(memories)]
    x = lines[0][start : start + size].reshape(model.shape)
    out = lines[-1][out_start : out_start + room].reshape(shape)
    given = [x if i in group else y for i, y in enumerate(operands)]
    before = [flat(y).reshape(y.shape) if isinstance(y, paddle.Tensor) else y for y in given]
    _call.call_into(row["id"], given, attributes, out)
    return flat(lines[-1]), before


def flat(x: Any) -> Array:
    """The elements of a tensor as a line of their own; bfloat16 as float32."""
    line: Array = (x.astype("float32") if str(x.dtype).endswith("bfloat16") else x).numpy().reshape(-1)
    return line.copy()
