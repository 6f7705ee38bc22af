"""What the five test_mps_*.py files share: operators with their NumPy twins, and a printed report.

Run as a script, such a file prints a heading a section and a line an operator, with a tick and the
maximal difference from NumPy; it exits with 1 if an operator is wrong. Under pytest its functions
are tests. Without an Apple GPU the emulated device is used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Callable

os.environ.setdefault("PADDLE_MPS_DEVICE", "auto" if sys.platform == "darwin" else "host")

import numpy as np

import paddle_mps as paddle
from paddle_mps.nn import functional

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]

BINARY: dict[str, tuple[Function, Function]] = {
    "add": (paddle.add, np.add),
    "subtract": (paddle.subtract, np.subtract),
    "multiply": (paddle.multiply, np.multiply),
    "divide": (paddle.divide, np.divide),
    "maximum": (paddle.maximum, np.maximum),
    "minimum": (paddle.minimum, np.minimum),
    "pow": (paddle.pow, np.power),
}
UNARY: dict[str, tuple[Function, Function]] = {
    "abs": (paddle.abs, np.abs),
    "exp": (paddle.exp, np.exp),
    "log": (paddle.log, np.log),
    "sqrt": (paddle.sqrt, np.sqrt),
    "square": (paddle.square, np.square),
    "sin": (paddle.sin, np.sin),
    "cos": (paddle.cos, np.cos),
    "tanh": (paddle.tanh, np.tanh),
    "floor": (paddle.floor, np.floor),
    "relu": (functional.relu, lambda x: np.maximum(x, 0)),
    "sigmoid": (functional.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
}
REDUCTIONS: dict[str, tuple[Function, Function]] = {
    "sum": (paddle.sum, np.sum),
    "mean": (paddle.mean, np.mean),
    "max": (paddle.max, np.max),
    "min": (paddle.min, np.min),
}
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3, 4), (3, 4)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((2, 3, 4), ()), ((0, 3), (3,)), ((64, 65), (64, 65)),
]  # fmt: skip


def values(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Numbers from 0.5 to 2, where every operator above is defined."""
    return np.random.default_rng(seed).uniform(0.5, 2.0, shape).astype(np.float32)


def difference(operator: Function, twin: Function, *arrays: Array, **attributes: Any) -> float:
    """The maximal difference, in units in the last place, of an operator on mps from NumPy in float64.

    Raises:
        AssertionError: the shape or the place is wrong, or the difference is above 2 units.
    """
    result = operator(*[paddle.to_tensor(a, place="mps") for a in arrays], **attributes)
    exact = np.asarray(twin(*[a.astype(np.float64) for a in arrays], **attributes))
    assert result.device == "mps:0"
    assert tuple(result.shape) == exact.shape
    if not exact.size:
        return 0.0
    unit = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
    worst = float(np.max(np.abs(result.numpy() - exact) / unit))
    assert worst <= 2.0, f"differs by {worst:.2f} ulp; want at most 2"
    return worst


def heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def line(name: str, check: Callable[[], object]) -> bool:
    """Runs a check and prints its line; what it returns is shown behind the tick."""
    try:
        shown = check()
    except Exception as error:
        print(f"  ✗ {name}: {type(error).__name__}: {error}")
        return False
    text = f"max difference {shown:.2f} ulp" if isinstance(shown, float) else str(shown)
    print(f"  ✓ {name}: {text}")
    return True


def report(sections: Mapping[str, Mapping[str, Callable[[], object]]]) -> int:
    """Prints all sections; 0 if every line has its tick, else 1."""
    print(f"paddle_mps {paddle.__version__} on {paddle.mps.get_device_name()}")
    good = []
    for title, checks in sections.items():
        heading(title)
        good += [line(name, check) for name, check in checks.items()]
    print(f"\n{sum(good)} of {len(good)} passed")
    return 0 if all(good) else 1
