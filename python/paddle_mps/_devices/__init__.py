"""Devices: which exist, which is current and where tensors go, streams, random generators, memory and its history.

Imports: _core.

All state of the package about devices is here: the current place, the current stream, seeds. Modules here call no operator, and
make no tensor.
"""
