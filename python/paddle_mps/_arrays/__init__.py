"""Functions that make, share, index and reshape tensors, and show them: `to_tensor`, `concat`, `x[...]`, `repr`.

Imports: _core, _devices, _calls.

Elements are copied and moved here, and not computed with: arithmetic is in `_maths`, and what reads or writes through tensors of
indices in `_indices`.
"""
