"""Names of Paddle that are missing: each says whether it is planned, and what to use meanwhile."""

from __future__ import annotations

import copy
import importlib
import json
import pathlib
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import _missing
from paddle_mps._surface import NAMES

RECORDED = pathlib.Path(__file__).resolve().parents[1] / "peers" / "surface_3_3_1.json"


def owner(namespace: str) -> Any:
    """What stands for a namespace of Paddle; None if nothing does."""
    if namespace == "paddle.Tensor":
        return paddle.Tensor
    try:
        return importlib.import_module("paddle_mps" + namespace[len("paddle") :])
    except ImportError:
        return None


def public() -> Iterator[tuple[str, str]]:
    for namespace, names in NAMES.items():
        for name in names.split():
            yield namespace, name


def test_the_names_are_those_that_were_recorded() -> None:
    recorded = json.loads(RECORDED.read_text())["namespaces"]
    assert {namespace: names.split() for namespace, names in NAMES.items()} == {n: list(r) for n, r in recorded.items()}


def test_every_name_is_present_or_explained() -> None:
    """A present name has a value, any other an explanation: never both, whatever the rules say."""
    for namespace, name in public():
        found = owner(namespace)
        text = _missing.explanation(namespace, name)
        assert text is not None and text.startswith(f"[{namespace}] {name} "), (namespace, name)
        if found is not None and not hasattr(found, name):
            with pytest.raises(AttributeError) as raised:
                getattr(found, name)
            assert str(raised.value) == text


def test_in_place_methods_are_functions_where_they_are_in_paddle() -> None:
    recorded = json.loads(RECORDED.read_text())["namespaces"]
    both = [n for n in recorded["paddle"] if n.endswith("_") and n in recorded["paddle.Tensor"]]
    methods = [n for n in both if hasattr(paddle.Tensor, n)]
    assert len(methods) > 50
    assert [n for n in methods if n not in paddle.__all__] == []


def test_every_missing_namespace_is_explained_at_import() -> None:
    for namespace in NAMES:
        if owner(namespace) is None:
            with pytest.raises(ModuleNotFoundError, match=r"planned|out of scope|named otherwise"):
                importlib.import_module("paddle_mps" + namespace[len("paddle") :])


def test_rules_name_names_of_paddle_and_each_once() -> None:
    for namespace, rules in _missing.RULES.items():
        assert not rules[-1].names and all(rule.names for rule in rules[:-1]), namespace
        named = [name for rule in rules for name in rule.names.split()]
        assert len(named) == len(set(named)), namespace
        known = set(NAMES.get(namespace, "").split()) | {"softmax_"}  # ours beside Paddle's names
        assert set(named) <= known, (namespace, set(named) - known)
        assert all(rule.tier in _missing.KINDS and rule.advice for rule in rules), namespace


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("paddle.Model", r"\[paddle\] Model is planned \(tier 3, training\): until then"),
        ("paddle.nn.quant", r"\[paddle.nn\] quant is out of scope: there are no quantized layers"),
        ("paddle.amp", r"\[paddle\] amp is planned \(tier 3"),
        ("paddle.distributed", r"\[paddle\] distributed is planned \(tier 3"),
        ("paddle.device.cuda.Stream", r"\[paddle.device.cuda\] Stream is named otherwise here: use paddle.mps"),
        ("paddle.ones([1]).top_p_sampling", r"\[paddle.Tensor\] top_p_sampling is planned \(tier 2"),
        ("paddle.Tensor.top_p_sampling", r"\[paddle.Tensor\] top_p_sampling is planned \(tier 2"),
        ("paddle.no_such_name", "module 'paddle_mps' has no attribute 'no_such_name'"),
        ("paddle.ones([1]).no_such_name", "'Tensor' object has no attribute 'no_such_name'"),
    ],
)
def test_messages(source: str, text: str) -> None:
    with pytest.raises(AttributeError, match=text):
        eval(source, {"paddle": paddle})


@pytest.mark.parametrize(
    "statement",
    [
        "import paddle_mps.vision",
        "import paddle_mps.vision.ops",
        "from paddle_mps import DataParallel",
        "from paddle_mps import Model",
        "from paddle_mps.nn.functional import sparse_attention",
        "from paddle_mps.device import xpu",
    ],
)
def test_imports(statement: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"planned|out of scope"):
        exec(statement)


def test_other_missing_imports_are_pythons() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'paddle_mps\.nothing'"):
        exec("import paddle_mps.nothing")
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        exec("from paddle_mps import nothing")


def test_what_is_missing_is_not_there() -> None:
    x = paddle.ones([2])
    assert (
        not hasattr(x, "top_p_sampling")
        and not hasattr(paddle.Tensor, "top_p_sampling")
        and not hasattr(paddle.nn, "quant")
    )
    assert "top_p_sampling" not in dir(x) and "top_p_sampling" not in dir(paddle.Tensor)
    assert "exp" in dir(x) and "exp" in dir(paddle.Tensor)
    assert getattr(x, "top_p_sampling", None) is None
    with pytest.raises(AttributeError, match="placements is out of scope"):
        setattr(x, "placements", [])  # noqa: B010  # a type checker knows that it is missing


def test_what_is_present_wins() -> None:
    class Trained(paddle.Tensor):
        __slots__ = ()

        def top_p_sampling(self) -> str:
            return "here"

    assert hasattr(Trained, "top_p_sampling") and "top_p_sampling" in dir(Trained)


def test_protocols_of_python_and_numpy_see_nothing_new() -> None:
    x = paddle.ones([2])
    for name in ("__array_interface__", "__array_struct__", "__cuda_array_interface__", "__getstate_manages_dict__"):
        with pytest.raises(AttributeError, match="has no attribute"):
            getattr(x, name)
        with pytest.raises(AttributeError, match="has no attribute"):
            getattr(paddle, name)
    for twin in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert twin.tolist() == [1.0, 1.0]
    assert np.asarray(x).tolist() == [1.0, 1.0]
    assert "__getattr__" not in dir(paddle.Tensor)  # it would make every attribute slower


def test_an_import_loads_what_it_needs() -> None:
    """Modules for few programs are imported when they are used, and explain what they lack also then."""
    source = """
import sys
import numpy
before = set(sys.modules)
import paddle_mps
late = {"argparse", "inspect", "json", "pathlib", "urllib.parse", "paddle_mps.onnx", "paddle_mps.triton_aot"}
assert not late & (set(sys.modules) - before), late & set(sys.modules)
try:
    paddle_mps.onnx.export
except AttributeError as error:
    assert "is planned" in str(error), error
assert callable(paddle_mps.triton_aot.load)
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.version_info < (3, 10), reason="Python suggests names since 3.10")
@pytest.mark.parametrize(
    ("call", "close"), [("arrange(3)", "arange"), ("nn.functional.reluu(x)", "relu"), ("ones([2]).summ()", "sum")]
)
def test_a_misspelled_name_is_answered_with_a_close_one(call: str, close: str) -> None:
    """For names that PaddlePaddle does not have either, Python itself makes the suggestion."""
    program = f"import paddle_mps as paddle\nx = paddle.ones([1])\npaddle.{call}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stderr.rstrip().endswith(f"Did you mean: '{close}'?")


# Public names that Paddle lacks: what this package adds, by namespace. Those of `paddle` are its `__all__`, tests/readme has them.
ADDED = {
    "paddle.cuda": "max_memory_reserved",
    "paddle.device": "mps is_compiled_with_mps all_places manual_seed_all mem_get_info memory_stats MPSPlace current_device stream",
    "paddle.jit": "InputSpec StaticFunction",
    "paddle.incubate": "autograd",
    "paddle.nn.functional": "sigmoid_",
    "paddle.profiler": "ProfilerResult TracerEventType",
}


def test_no_helper_is_a_public_name() -> None:
    """What `dir` of a module shows is Paddle's, or one of the additions."""
    wrong = {}
    for namespace in NAMES:
        module = sys.modules.get("paddle_mps" + namespace[len("paddle") :])
        if module is None or namespace == "paddle.onnx":
            continue
        known = {*NAMES[namespace].split(), *ADDED.get(namespace, "").split()}
        known |= set(paddle.__all__) if module is paddle else set()
        if extra := [
            n for n in dir(module) if not n.startswith("_") and n not in known and n not in NAMES["paddle"].split()
        ]:
            wrong[namespace] = extra
    assert wrong == {}


@pytest.mark.parametrize("module", [paddle.nn.functional, paddle.linalg, paddle.fft])
def test_modules_of_functions_hold_no_helpers(module: Any) -> None:
    submodules = {"flash_attention"}  # of Paddle's, which are not in its __all__ either
    assert {n for n in vars(module) if not n.startswith("_") and n not in module.__all__} <= submodules


def test_rules_list_no_name_that_exists() -> None:
    for namespace, rules in _missing.RULES.items():
        module = None if namespace == "paddle.Tensor" else sys.modules.get("paddle_mps" + namespace[len("paddle") :])
        place: Any = paddle.Tensor if namespace == "paddle.Tensor" else module
        names = [name for r in rules for name in r.names.split()]
        assert [name for name in names if place is not None and hasattr(place, name)] == [], namespace


def test_what_is_planned_is_not_out_of_scope() -> None:
    for namespace, name in (
        ("paddle", "distribution"), ("paddle", "distributed"), ("paddle", "DataParallel"), ("paddle.utils", "unique_name"),
    ):  # fmt: skip
        said = _missing.explanation(namespace, name)
        assert said is not None and "is planned" in said, name


def test_fluid_says_what_took_its_place() -> None:
    with pytest.raises(AttributeError, match=r"\[paddle\] fluid was removed from PaddlePaddle: use paddle.nn"):
        paddle.fluid  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ModuleNotFoundError, match="was removed from PaddlePaddle"):
        importlib.import_module("paddle_mps.fluid")
