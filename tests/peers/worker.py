"""Evaluates expressions with one library, for as long as the parent asks.

    worker.py MODULE PLACE        MODULE is paddle or paddle_mps; tensors are made on PLACE

Reads one JSON string (the source of an expression) a line from standard input and writes one JSON
object (its answer, see `describe`) a line to standard output; {"ready": true} comes first. What the
library itself prints goes to standard error. The last line of a source is an expression, lines
before it are statements. Names: paddle (the library), T (to_tensor), F (nn.functional), np, nan, inf,
fail, a function that raises its argument, for a result that is an exception, and gradients, a function of the source of
an expression: see `gradients`.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
import warnings
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

DTYPES = (
    "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()  # what both libraries have
)


def fail(exception: type[BaseException]) -> NoReturn:
    raise exception("the rule of the row")


def elements(array: np.ndarray[Any, Any]) -> str:
    """The values in row-major order, each the shortest text that reads back as the same number; a complex one as two."""
    flat = array.ravel()
    if array.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    return " ".join(str(v) for v in (flat.astype("int64") if array.dtype == bool else flat))


def dtype_name(paddle: ModuleType, dtype: object) -> str:
    return next((name for name in DTYPES if getattr(paddle, name) == dtype), str(dtype))


def describe_tensor(paddle: ModuleType, x: Any) -> dict[str, Any]:
    name = dtype_name(paddle, x.dtype)
    array = x.astype("float32").numpy() if name == "bfloat16" else x.numpy()
    return {"tensor": name, "shape": list(x.shape), "values": elements(array)}


def describe(paddle: ModuleType, value: Any) -> dict[str, Any]:
    """An answer: what `match.matches` compares, and what the golden file stores."""
    if isinstance(value, paddle.Tensor):
        return describe_tensor(paddle, value)
    if isinstance(value, (np.ndarray, np.generic)):
        return {"array": str(value.dtype), "shape": list(value.shape), "values": elements(np.asarray(value))}
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [describe(paddle, item) for item in value]}
    for plain in (bool, int, str, type(None)):
        if isinstance(value, plain):  # Paddle derives its own from int
            return {plain.__name__: str(value)}
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, type(paddle.float32)):
        return {"dtype": dtype_name(paddle, value)}
    return {"text": str(value)}


def describe_exception(error: BaseException) -> dict[str, Any]:
    """The nearest class that Python itself has: packages derive their own. also lists the others that it derives from;
    the message is for people."""
    text = " ".join(str(error).split())
    if "is not registered" in text and isinstance(error, RuntimeError):
        return {"no_kernel": text.partition("of kernel ")[2].partition(" ")[0].strip("`")}
    named, *also = (c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
    return {"raises": named, "also": also, "message": text[text.find("(Inv") + 1 :][:200]}


def has_gradient(paddle: ModuleType, x: Any) -> bool:
    """Whether the dtype of a tensor is one that has gradients."""
    return dtype_name(paddle, x.dtype).startswith(("float", "bfloat", "complex"))


def gradients(paddle: ModuleType, source: str) -> Any:
    """The gradients of the tensors of floats and complex numbers that an expression makes with T, in that order, and of the
    other ones that it has names for.

    What is differentiated is the sum of all its results, each element multiplied by another number. None stands for a
    tensor that the results do not depend on; an expression whose results have no gradient gives None alone.
    """
    leaves: list[Any] = []

    def ask(x: Any) -> Any:
        if x.stop_gradient and has_gradient(paddle, x):
            x.stop_gradient = False
            leaves.append(x)
        return x

    def leaf(*args: Any, **kwargs: Any) -> Any:
        return ask(paddle.to_tensor(*args, **kwargs))

    found: list[Any] = []

    def look(value: Any) -> None:
        if isinstance(value, paddle.Tensor):
            if not value.stop_gradient and has_gradient(paddle, value):
                found.append(value)
        elif isinstance(value, (list, tuple)):
            for item in value:
                look(item)

    *statements, last = source.split("\n")
    known = {**names(paddle), "T": leaf}
    paddle.set_grad_enabled(True)
    for statement in statements:
        exec(statement, known)
        for value in list(known.values()):
            if isinstance(value, paddle.Tensor):
                ask(value)
    look(answer_to(paddle, last, known))
    if not found:
        return None
    weights = []
    for x in found:
        counted = np.arange(1, int(np.prod(x.shape)) + 1).reshape(x.shape)
        numbers, name = np.cos(counted), dtype_name(paddle, x.dtype)
        wide = "float64" if name == "float64" else "float32"  # which a GPU has
        if name.startswith("complex"):
            numbers, wide = numbers + 1j * np.sin(counted), name
        weights.append(paddle.to_tensor(numbers.astype(wide), place=x.place).astype(x.dtype))
    paddle.autograd.backward(found, weights)
    return [x.grad for x in leaves]


def evaluate(paddle: ModuleType, source: str) -> dict[str, Any]:
    try:
        return describe(paddle, value_of(paddle, source, names(paddle)))
    except Exception as error:  # whatever the library raises is its answer
        return describe_exception(error)


def names(paddle: ModuleType) -> dict[str, Any]:
    """What an expression may name."""
    return {
        "paddle": paddle,
        "T": paddle.to_tensor,
        "F": paddle.nn.functional,
        "np": np,
        "nan": float("nan"),
        "inf": float("inf"),
        "fail": fail,
        "gradients": functools.partial(gradients, paddle),
    }


def value_of(paddle: ModuleType, source: str, names: dict[str, Any]) -> Any:
    *statements, last = source.split("\n")
    exec("\n".join(statements), names)
    return answer_to(paddle, last, names)


def answer_to(paddle: ModuleType, expression: str, names: dict[str, Any]) -> Any:
    """What an expression evaluates to; with PEERS_TRACED=1 by a function that is traced. `gradients` traces its own."""
    if os.environ.get("PEERS_TRACED") != "1" or paddle.__name__ != "paddle_mps" or expression.startswith("gradients("):
        return eval(expression, names)
    return paddle.jit(lambda: eval(expression, names))()


def main() -> None:
    warnings.filterwarnings("ignore")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    paddle = importlib.import_module(sys.argv[1])
    paddle.set_device(sys.argv[2])
    print(json.dumps({"ready": True, "version": paddle.__version__}), file=answers, flush=True)
    for line in sys.stdin:
        paddle.set_default_dtype("float32")
        print(json.dumps(evaluate(paddle, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
