"""Functions that find, count, read and write by index: `gather` and `scatter`, diagonals, `sort` and `topk`, `unique`, histograms.

Imports: _core, _devices, _calls, _arrays, _maths.

Brackets, `x[...]`, are in `_arrays`, because everything above needs them.
"""
