"""What `onnx.load(check=True)` compares with: the same model in a process of its own, on the CPU, without fused kernels.

The process has PADDLE_MPS_PASSES=0: each call of the graph runs as one kernel, in the order of the file and on the layouts that
it names. It reads the model and then the inputs of each call from its standard input, as pickles, and answers with the results.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays._creation import to_tensor
from .._core._objects import Tensor, meta
from .._core._place import cpu

# By how much floats may differ from the reference, in largest elements of a result: sums in another order, and functions with
# fewer terms. That of float32 is the one within which tests/onnx compares networks with onnxruntime; the others are the same
# number of roundings as far as a format has the digits for it.
TOLERANCES = {"float64": 1e-10, "float32": 1e-4, "float16": 2.0**-6, "bfloat16": 2.0**-3}

Sent = Any  # what is pickled: (dtype, array) of a tensor, an array, a list of them, or None


class Mismatch(RuntimeError):
    """A result that differs from the reference by more than roundings."""


def sent(x: Any) -> Sent:
    """An argument or a result without tensors: a tensor is its dtype and an array, of float32 for bfloat16."""
    if isinstance(x, (list, tuple)):
        return [sent(one) for one in x]
    if not isinstance(x, Tensor):
        return x
    name = meta(x).dtype.name
    return name, (x.cast("float32") if name == "bfloat16" else x).numpy()


def received(x: Sent) -> Any:
    """What `sent` was made of, with tensors on the CPU."""
    if isinstance(x, list):
        return [received(one) for one in x]
    if not isinstance(x, tuple):
        return x
    name, array = x
    return to_tensor(array, place=cpu).cast(name)


PACKAGE = __name__.partition(".")[0]


class Reference:
    """The process of a model. Threads may share it; their calls take turns."""

    def __init__(self, model: str | bytes) -> None:
        import subprocess  # which takes long to import, and most programs need none

        self._lock = threading.Lock()
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"{PACKAGE}._commands._referee"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "PADDLE_MPS_PASSES": "0",
                "PYTHONPATH": os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")])),
            },
        )
        self._ask(os.path.abspath(model) if isinstance(model, str) else model)

    def _ask(self, question: Any) -> Any:
        """The answer of the process, whose errors are raised here."""
        with self._lock:
            assert self._process.stdin and self._process.stdout
            try:
                pickle.dump(question, self._process.stdin)
                self._process.stdin.flush()
                answer = pickle.load(self._process.stdout)
            except (OSError, EOFError, pickle.UnpicklingError) as error:
                raise RuntimeError(
                    f"[check] the process of the reference ended: status {self._process.poll()}"
                ) from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def results(self, inputs: Sequence[Any]) -> list[Sent]:
        """The results of a call, as `sent` makes them."""
        made: list[Sent] = self._ask(sent(list(inputs)))
        return made

    def close(self) -> None:
        """Ends the process."""
        with contextlib.suppress(OSError):
            self._process.kill()
            self._process.communicate()

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self.close()


def compare(name: str, got: Sent, want: Sent, tolerance: float | None = None) -> float:
    """By how much a result differs, in largest elements of the reference; 0 for equal ones.

    Args:
        name: that of the result.
        got: the result.
        want: that of the reference.
        tolerance: how much floats may differ, instead of the tolerance of their dtype.

    Raises:
        Mismatch: by more than the tolerance; integers, bools and strings have to be equal.
    """
    if any(isinstance(one, list) or one is None for one in (got, want)):
        if type(got) is not type(want) or len(got or ()) != len(want or ()):
            raise Mismatch(f"[check] output {name!r} is {_told(got)}; the reference is {_told(want)}")
        return max(
            (compare(f"{name}[{i}]", x, y, tolerance) for i, (x, y) in enumerate(zip(got or (), want or ()))),
            default=0.0,
        )
    kind, x = got if isinstance(got, tuple) else (str(got.dtype), got)
    of, y = want if isinstance(want, tuple) else (str(want.dtype), want)
    if kind != of or x.shape != y.shape:
        raise Mismatch(f"[check] output {name!r} is {_told(got)}; the reference is {_told(want)}")
    allowed = TOLERANCES.get(kind, 0.0)
    if not allowed and kind.startswith("float"):  # of 8 bits and fewer: one step of a quantization is no error
        x, y, allowed = x.astype("float32"), y.astype("float32"), 2.0**-2
    if kind.startswith("complex"):
        x, y = (np.stack([z.real, z.imag]) for z in (x, y))
        allowed = TOLERANCES["float32" if kind == "complex64" else "float64"]
    if not allowed:
        different = int(np.count_nonzero(x != y))
        if different:
            raise Mismatch(
                f"[check] output {name!r} has {different} of {y.size} elements that are not those of the reference"
            )
        return 0.0
    x, y = x.astype("float64"), y.astype("float64")
    finite = np.isfinite(y)
    if not np.array_equal(finite, np.isfinite(x)) or not np.array_equal(x[~finite], y[~finite], equal_nan=True):
        raise Mismatch(f"[check] output {name!r} has infinities or NaN elsewhere than the reference")
    largest = float(np.abs(y[finite]).max(initial=0))
    apart = np.abs(np.where(finite, x, 0) - np.where(finite, y, 0))
    worst = float(apart.max(initial=0))
    share = worst / largest if largest else (np.inf if worst else 0.0)
    allowed = allowed if tolerance is None else tolerance
    if share > allowed:
        at = np.unravel_index(int(apart.argmax()), apart.shape)
        raise Mismatch(
            f"[check] output {name!r} is {x[at]:.7g} at {[int(i) for i in at]}; the reference is {y[at]:.7g}, and they may "
            f"differ by {allowed * largest:.2g}"
        )
    return share


def _told(x: Sent) -> str:
    """A result for an error: its dtype and shape."""
    if x is None:
        return "nothing"
    if isinstance(x, list):
        return f"a list of {len(x)}"
    kind, array = x if isinstance(x, tuple) else (x.dtype, x)
    return f"{kind}{list(array.shape)}"
