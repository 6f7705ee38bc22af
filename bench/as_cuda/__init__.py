"""Compiled Triton kernels as CUDA: what bench/triton_cuda.py is made of."""
