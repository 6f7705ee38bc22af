"""The expressions that both libraries evaluate, by family.

Each is a `Row`: a source, the operator it is about, the tolerance of its floats and, where PaddlePaddle
has no kernel or a defect, what our answer is instead. `compare.py` enforces how many there are of what.
"""

from __future__ import annotations

from . import (
    answers,
    arrays,
    binary,
    complexes,
    creation,
    derivatives,
    distributions,
    elementwise,
    factorizations,
    found,
    further,
    in_place,
    indexing,
    layout,
    made,
    matrix_functions,
    mended,
    nn_layers,
    nn_losses,
    products,
    profiler,
    reductions,
    scatter,
    shapes,
    sorting,
    special,
    special_functions,
    statistics,
    storage,
    tensors,
    windows,
)
from .row import DEFECTS, NO_KERNEL, Row

ROWS: list[Row] = [
    *answers.ROWS,
    *elementwise.ROWS,
    *binary.ROWS,
    *layout.ROWS,
    *made.ROWS,
    *special.ROWS,
    *special_functions.ROWS,
    *reductions.ROWS,
    *scatter.ROWS,
    *shapes.ROWS,
    *arrays.ROWS,
    *creation.ROWS,
    *indexing.ROWS,
    *tensors.ROWS,
    *products.ROWS,
    *statistics.ROWS,
    *factorizations.ROWS,
    *mended.ROWS,
    *found.ROWS,
    *further.ROWS,
    *in_place.ROWS,
    *complexes.ROWS,
    *sorting.ROWS,
    *distributions.ROWS,
    *storage.ROWS,
    *matrix_functions.ROWS,
    *nn_losses.ROWS,
    *nn_layers.ROWS,
    *windows.ROWS,
    *derivatives.ROWS,
    *profiler.ROWS,
]

__all__ = ["DEFECTS", "NO_KERNEL", "ROWS", "Row"]
