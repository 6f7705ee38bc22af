"""The plug-in through which stock Triton compiles `@triton.jit` kernels to Metal.

Triton imports `compiler` and `driver` of this package at `import triton`, in every program of an environment where
paddle-mps is installed. So importing them must not fail, and loads neither NumPy nor the library of paddle-mps: that is
done by the first kernel. The package is not part of `paddle_mps` for that reason.
"""

import contextlib

# A program may import a module of this package before triton, which would import it a second time, half loaded.
# Importing triton first makes every order of imports work.
with contextlib.suppress(ImportError):
    import triton  # noqa: F401
