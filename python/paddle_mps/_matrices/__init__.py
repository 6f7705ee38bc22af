"""Linear algebra: products, norms and moments, factorisations, `einsum`, Jacobian matrices.

Imports: _core, _devices, _calls, _arrays, _maths, _indices, _randomness.

Products and reductions are made of operators. Factorisations are NumPy's, on the CPU; their gradients are in `_matrix_gradients`.
"""
