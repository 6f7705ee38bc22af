"""The table that bench/functions.py measures: it has the functions that compute, and its expressions run."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle

FILE = Path(__file__).resolve().parents[2] / "bench" / "functions.py"
spec = importlib.util.spec_from_file_location("bench_functions", FILE)
assert spec and spec.loader
functions: Any = importlib.util.module_from_spec(spec)
sys.modules["bench_functions"] = functions  # where its dataclass looks
spec.loader.exec_module(functions)

ELEMENTS, MATRICES = functions.TABLE.read_text().split("[matrices]")

# Functions without a row. The time of these is not that of a computation on many elements.
LEFT_OUT = {
    "states of the process and questions about it": """disable_signal_handler disable_static empty_cache enable_static
        get_cuda_rng_state get_cudnn_version get_default_dtype get_device get_flags get_rng_state grad in_dynamic_mode install
        is_autocast_enabled is_available is_compiled_with_cinn is_compiled_with_cuda is_compiled_with_custom_device
        is_compiled_with_distribute is_compiled_with_ipu is_compiled_with_mps is_compiled_with_rocm is_compiled_with_xpu
        is_grad_enabled manual_seed max_memory_allocated max_memory_reserved memory_allocated memory_reserved memory_stats
        reset_max_memory_allocated reset_max_memory_reserved reset_peak_memory_stats seed set_cuda_rng_state
        set_default_dtype set_device set_flags set_printoptions set_rng_state show_config jit""",
    "questions about a tensor": """is_complex is_empty is_floating_point is_integer is_tensor numel rank shape
        broadcast_shape broadcast_shapes""",
    "files and other libraries": "async_save clear_async_save_task_queue save load from_dlpack from_numpy tensor to_dlpack as_tensor asarray",
    "views, or another name or order of arguments of a row": """atleast_1d atleast_2d atleast_3d broadcast_tensors dsplit
        empty_like expand_as matrix_transpose mm negative permute rand_like randint_like randn_like range ravel t
        tolist true_divide view_as view_as_complex view_as_real vsplit""",
    "for numbers of which there are few": "sequence_mask",
    "parameters of layers": "create_parameter",
}


def test_every_function_that_computes_has_a_row() -> None:
    named = set(re.findall(r"(?:paddle|F|linalg|fft)\.(\w+)\(", ELEMENTS + MATRICES))
    spaces: list[Any] = [paddle, paddle.nn.functional, paddle.linalg, paddle.fft]
    measured = {id(getattr(space, name)) for space in spaces for name in named if hasattr(space, name)}
    left = {name for names in LEFT_OUT.values() for name in names.split()}
    missing = {
        name
        for space in (paddle, paddle.nn.functional)
        for name in space.__all__
        if callable(f := getattr(space, name)) and not inspect.isclass(f) and not name.endswith("_")
        if id(f) not in measured
        and f.__module__ != "paddle_mps._maths._ops"  # generated: an operator is a row and its kernels
    }
    assert missing == left


def rows(library: str, n: int, text: str) -> Any:
    """The expressions of a library with their operands."""
    scope: dict[str, Any] = {"np": np, "n": n, "name": library, "paddle": paddle, "F": paddle.nn.functional}
    worker = functions.WORKER
    exec(worker[worker.index("def put") : worker.index("size, values")] + functions.SETUP, scope)
    arrays = {k: v if library == "numpy" else paddle.to_tensor(v) for k, v in scope["arrays"].items()}
    for f in functions.functions([], text):
        if f.expression(library):
            yield f.name, f.expression(library), {**scope, **arrays}


@pytest.mark.parametrize("library", ["paddle_mps", "numpy"])
def test_expressions_run(library: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n, text in ((8, ELEMENTS), (4000, MATRICES)):
            for name, expression, scope in rows(library, n, text):
                try:
                    eval(expression, scope)
                except Exception as error:
                    raise AssertionError(f"{name}: {expression}") from error
