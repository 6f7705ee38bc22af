"""The functions of paddle.nn.functional by family: activations, convolutions, pools, normalization, attention, losses.

Imports: _core, _devices, _calls, _arrays, _maths, _indices, _randomness, _matrices.

`_all` has the public ones of all families, which `nn.functional` gives to programs and `_layers` calls. A family translates arguments
for operators; `_generated` has those that need no translation.
"""
