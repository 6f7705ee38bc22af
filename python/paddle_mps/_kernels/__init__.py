"""Kernels of a program's own on the GPU: shaders in Metal's language, and compiled kernels of Triton.

Imports: _core, _devices, _calls, _arrays.

Kernels are compiled by the library; `paddle_mps_triton` has the plug-in for Triton, and calls what is here.
"""
