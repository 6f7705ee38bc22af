"""Layers: networks as trees of objects that own their parameters, as paddle.nn has them.

Imports: _core, _devices, _calls, _arrays, _maths, _indices, _randomness, _matrices, _functional, _tensor.

`_layer` has Layer, the node of the tree, `_parameter` its leaves, `_names` their names, `_initializers` their first values, and
`_containers` the layers that hold others. The rest are families of layers, each of which translates its arguments and calls
functions: nothing here computes what a function does not.
"""
