"""Functions of elements: arithmetic, comparisons, sums and means, special functions, parts of complex numbers, Fourier transforms.

Imports: _core, _devices, _calls, _arrays.

`_ops`, which is generated, has the operators whose arguments are nothing but operands and attributes; `_arithmetic` those that Paddle
calls in ways of its own, `_elementwise` what is made of operators. Products, norms and moments are in `_matrices`.
"""
