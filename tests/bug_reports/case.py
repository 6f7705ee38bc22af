"""What the programs of this folder have in common: each calls `check` and `same`, and ends with `finish`.

Tensors are made on the default place, which PADDLE_MPS_DEFAULT_PLACE and the machine choose, so that each program runs as a user would
run it. A case in which a device is to be named uses PLACE.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import paddle_mps as paddle

T, F = paddle.to_tensor, paddle.nn.functional
bad: list[str] = []  # what is wrong, in words


def check(what: str, condition: Any) -> None:
    """Notes what is wrong unless the condition holds."""
    if not condition:
        bad.append(what)


def same(what: str, got: Any, want: Any, tol: float = 0.0) -> None:
    """Notes it if elements differ by more than tol, relative or absolute. A NaN is like a NaN alone."""
    got, want = np.asarray(got.numpy() if hasattr(got, "numpy") else got), np.asarray(want)
    if got.shape != want.shape:
        bad.append(f"{what}: shape {got.shape}, not {want.shape}")
        return
    if got.dtype.kind in "OUS" or want.dtype.kind in "OUS":
        right = got.tolist() == want.tolist()
    else:
        values = got.astype("float64") if got.dtype.kind in "fiub" else got
        right = np.allclose(values, want, rtol=tol, atol=tol, equal_nan=True)
    if not right:
        bad.append(f"{what}: {got.ravel()[:8].tolist()}, not {want.ravel()[:8].tolist()}")


def finish() -> None:
    """Ends the program: status 0 if all was right, else 1 after a line for each thing that was not."""
    print(*bad, sep="\n")
    sys.exit(1 if bad else 0)


def without(package: str) -> None:
    """Ends a program that needs a package which is not there: status 77."""
    print(f"there is no {package}")
    sys.exit(77)
