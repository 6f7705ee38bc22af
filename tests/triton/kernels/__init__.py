"""Kernels of our own, a file for each kind, each with its answer in NumPy."""
