"""Evaluates expressions with one library, for as long as the parent asks.

    worker.py MODULE PLACE        MODULE is paddle or paddle_mps; tensors are made on PLACE

Reads one JSON string (the source of an expression) a line from standard input and writes one JSON
object (its answer, see `describe`) a line to standard output; {"ready": true} comes first. What the
library itself prints goes to standard error. The last line of a source is an expression, lines
before it are statements. Names: paddle (the library), T (to_tensor), F (nn.functional), np, nan, inf,
fail, a function that raises its argument, for a result that is an exception, and gradients and differences, functions of the
source of an expression.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
import warnings
from types import ModuleType
from typing import Any, Callable, NoReturn

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


# What a program says of a tensor: the number of the call of T, or of the statement with the name.
Event = tuple[str, int, str]
Meet = Callable[[Event, Any], None]


def walk(paddle: ModuleType, source: str, meet: Meet) -> Any:
    """The result of a program, with meet called for the tensors that T makes and, after each statement, for those with names."""
    made = 0

    def leaf(*args: Any, **kwargs: Any) -> Any:
        nonlocal made
        made += 1
        x = paddle.to_tensor(*args, **kwargs)
        meet(("T", made, ""), x)
        return x

    *statements, last = source.split("\n")
    known = {**names(paddle), "T": leaf}
    for number, statement in enumerate(statements):
        exec(statement, known)
        for name, value in list(known.items()):
            if isinstance(value, paddle.Tensor):
                meet(("name", number, name), value)
    return answer_to(paddle, last, known)


def tensors_of(paddle: ModuleType, value: Any) -> list[Any]:
    """The tensors of a result that may have gradients, in their order."""
    if isinstance(value, paddle.Tensor):
        return [value] if has_gradient(paddle, value) else []
    if isinstance(value, (list, tuple)):
        return [x for item in value for x in tensors_of(paddle, item)]
    return []


def weights(paddle: ModuleType, x: Any) -> np.ndarray[Any, Any]:
    """The number that each element of a result is multiplied by."""
    counted = np.arange(1, int(np.prod(x.shape)) + 1).reshape(x.shape)
    numbers = np.cos(counted)
    return numbers + 1j * np.sin(counted) if dtype_name(paddle, x.dtype).startswith("complex") else numbers


def recorded(paddle: ModuleType, source: str) -> tuple[list[tuple[Event, Any]], list[Any]]:
    """The leaves of a program, and the tensors of its result. Leaves are the tensors of floats and complex numbers that it makes
    with T, and the other ones that it has names for, in their order."""
    leaves: list[tuple[Event, Any]] = []

    def meet(event: Event, x: Any) -> None:
        if x.stop_gradient and has_gradient(paddle, x):
            x.stop_gradient = False
            leaves.append((event, x))

    paddle.set_grad_enabled(True)
    return leaves, tensors_of(paddle, walk(paddle, source, meet))


def gradients(paddle: ModuleType, source: str) -> Any:
    """The gradients of the leaves of a program, see `recorded`.

    What is differentiated is the sum of all its results, each element multiplied by another number. None stands for a
    tensor that the results do not depend on; an expression whose results have no gradient gives None alone.
    """
    leaves, results = recorded(paddle, source)
    found = [x for x in results if not x.stop_gradient]
    if not found:
        return None
    given = []
    for x in found:
        name = dtype_name(paddle, x.dtype)
        wide = name if name.startswith("complex") else "float64" if name == "float64" else "float32"  # which a GPU has
        given.append(paddle.to_tensor(weights(paddle, x).astype(wide), place=x.place).astype(x.dtype))
    paddle.autograd.backward(found, given)
    return [x.grad for _, x in leaves]


STEP = (
    2.0**-10
)  # of central differences: the error of curvature is 1e-6 of the third derivative, that of rounding 1e-4 of the sum


def differences(paddle: ModuleType, source: str, numbers: list[int]) -> Any:
    """What `gradients` answers for leaves of these numbers, by central differences: an array of float64 for each.

    None where the program has complex numbers.
    """
    leaves, results = recorded(paddle, source)
    counts = [not x.stop_gradient for x in results]
    if any(dtype_name(paddle, x.dtype).startswith("complex") for x in [x for _, x in leaves] + results):
        return None

    def total(event: Event, at: int, step: float) -> float:
        met = False

        def move(other: Event, x: Any) -> None:
            nonlocal met
            if other != event or met:
                return
            met = True
            if x.ndim:
                place = tuple(int(i) for i in np.unravel_index(at, x.shape))
                x[place] = x[place] + step
            else:
                x.set_value(np.asarray(x.numpy() + step, x.numpy().dtype))

        paddle.set_grad_enabled(False)
        found = tensors_of(paddle, walk(paddle, source, move))
        return sum(
            float((weights(paddle, x) * x.astype("float64").numpy()).sum())
            for x, counted in zip(found, counts)
            if counted
        )

    answer = []
    for event, x in (leaves[number] for number in numbers):
        slope = np.zeros(int(np.prod(x.shape)))
        for at in range(slope.size):
            slope[at] = (total(event, at, STEP) - total(event, at, -STEP)) / (2 * STEP)
        answer.append(slope.reshape(x.shape))
    return answer


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
        "differences": functools.partial(differences, paddle),
    }


def value_of(paddle: ModuleType, source: str, names: dict[str, Any]) -> Any:
    *statements, last = source.split("\n")
    exec("\n".join(statements), names)
    return answer_to(paddle, last, names)


def answer_to(paddle: ModuleType, expression: str, names: dict[str, Any]) -> Any:
    """What an expression evaluates to; with PEERS_TRACED=1 by a function that is traced. `gradients` traces its own."""
    if (
        os.environ.get("PEERS_TRACED") != "1"
        or paddle.__name__ != "paddle_mps"
        or expression.startswith(("gradients(", "differences("))
    ):
        return eval(expression, names)
    return paddle.jit(lambda: eval(expression, names), full_graph=True)()


def main() -> None:
    warnings.filterwarnings("ignore")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    paddle = importlib.import_module(sys.argv[1])
    if sys.argv[2] != "default":  # the place that PADDLE_MPS_DEFAULT_PLACE and the machine choose
        paddle.set_device(sys.argv[2])
    print(json.dumps({"ready": True, "version": paddle.__version__}), file=answers, flush=True)
    for line in sys.stdin:
        paddle.set_default_dtype("float32")
        print(json.dumps(evaluate(paddle, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
