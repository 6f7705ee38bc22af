"""Random tensors, from the generator of their place: `rand`, `randint`, `randperm`, `bernoulli` and further distributions.

Imports: _core, _devices, _calls, _arrays, _maths, _indices.

The generators themselves, with seeds and states, are in `_devices`.
"""
