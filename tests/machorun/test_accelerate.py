"""Large products on the CPU of the library that was built for Macs, by the mock of Accelerate, which the loader has in its place.

The command of the server is in MACHORUN_SERVER, as for test_conformance.py. The mock adds up backwards for these sizes, so its
results differ from those of the library's own kernels in their last places.
"""

from __future__ import annotations

import os
import shlex

import numpy as np
import pytest
import remote

from paddle_mps._core._ids import MATMUL
from paddle_mps.selftest.oracle import Array

COMMAND = os.environ.get("MACHORUN_SERVER", "")
M, K, N = 64, 200, 80


def product(x: Array, y: Array, **environment: str) -> Array:
    """x times y in a process with more variables in its environment."""
    if not COMMAND:
        pytest.skip("MACHORUN_SERVER names no server: run ./build.sh test darwin")
    library = remote.Library(shlex.split(COMMAND), {**os.environ, **environment})
    operands = [library.to_tensor(v, place="cpu") for v in (x, y)]
    (out,) = library.call(MATMUL, operands, [])
    values = out.numpy()
    del out, operands
    assert library.close() == 0
    return values


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_products(dtype: str) -> None:
    random = np.random.default_rng(1)
    x, y = random.standard_normal((M, K)).astype(dtype), random.standard_normal((K, N)).astype(dtype)
    by_accelerate, own = product(x, y), product(x, y, PADDLE_MPS_ACCELERATE="0")
    without = product(x, y, MACHORUN_ACCELERATE="")
    # K products and K - 1 sums, each rounded once: https://doi.org/10.1137/1.9780898718027, section 3.1
    bound = K * np.finfo(dtype).eps / 2 * (np.abs(x).astype(np.float64) @ np.abs(y).astype(np.float64)) * 1.001
    if dtype == "float64":
        bound *= 2  # NumPy's own roundings
    exact = x.astype(np.float64) @ y.astype(np.float64)
    for values in (by_accelerate, own):
        assert (np.abs(values.astype(np.float64) - exact) <= bound).all()
    assert (by_accelerate != own).any()
    assert (own == without).all()
