"""The expressions that both libraries evaluate, by family.

Each is a `Row`: a source, the operator it is about, the tolerance of its floats and, where PaddlePaddle
has no kernel or a defect, what our answer is instead. `compare.py` enforces how many there are of what.
"""

from __future__ import annotations

from . import arrays, binary, creation, elementwise, indexing, reductions, tensors
from .row import DEFECTS, NO_KERNEL, Row

ROWS: list[Row] = [
    *elementwise.ROWS,
    *binary.ROWS,
    *reductions.ROWS,
    *arrays.ROWS,
    *creation.ROWS,
    *indexing.ROWS,
    *tensors.ROWS,
]

__all__ = ["DEFECTS", "NO_KERNEL", "ROWS", "Row"]
