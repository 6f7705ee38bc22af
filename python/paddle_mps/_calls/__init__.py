"""Calls of operators: arguments become operands, and handles become tensors. And gradients and traces, which record calls.

Imports: _core, _devices.

`_operators`, which is generated, has every operator as a function; `_call` makes them. `_inplace`, `_precision` and `_displaced` are
ways of calling them, `_complex`, `_derivative` and `_lapack` the ways of functions that NumPy computes. `_grad` and its neighbours are
the tape, `_tracing` and `_open_sizes` programs. Nothing here is a function of Paddle with a family; those are in the rooms above.
"""
