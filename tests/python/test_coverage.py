"""tests/peers/coverage.py: what it finds wrong; and how many expressions each function has."""

from __future__ import annotations

import collections
import importlib
import importlib.util
import pathlib
import re
import sys
import types
from typing import Any

import pytest

import paddle_mps as paddle
from paddle_mps._surface import NAMES

PEERS = pathlib.Path(__file__).resolve().parents[1] / "peers"


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, under another name: a package that tests may be run with has its own."""
    monkeypatch.syspath_prepend(str(PEERS))
    spec = importlib.util.spec_from_file_location("peers_coverage", PEERS / "coverage.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_names_that_are_missing_need_a_reason(tool: Any) -> None:
    tier = tool.Count()
    for path, present in (("paddle.a", True), ("paddle.b", False), ("paddle.c", False)):
        tier.add(path, present, 1)
    assert tool.complaints(tier, {"paddle.b": "why", "paddle.c": "why"}) == []
    assert tool.complaints(tier, {"paddle.b": "why"}) == ["1 of 3 names of tier 1 are missing without a reason"]
    stale = {"paddle.a": "why", "paddle.b": "why", "paddle.c": "why"}
    assert tool.complaints(tier, stale) == ["reasons for names that are not missing from tier 1: paddle.a"]


def test_documents_state_how_many_names_tier_1_has(tool: Any) -> None:
    names = f"{tool.count('paddle_mps')[0][1].names:,}"
    for page in ("README.md", "README.zh-CN.md", "README.ja.md", "docs/guide.md"):
        assert names in (PEERS.parents[1] / page).read_text(encoding="utf-8"), page


def test_reasons_are_of_names_of_tier_1(tool: Any) -> None:
    tier = tool.count("paddle_mps")[0][1]
    assert set(tool.REASONS) <= set(tier.missing)


# Functions that expressions do not show, or hardly, by what compares them instead.
ELSEWHERE = {
    "gradients": "backward clear_grad clear_gradient grad gradient is_grad_enabled register_hook requires_grad_ retain_grads",
    "files": "async_save clear_async_save_task_queue load save",
    "what the machine has": """
        cuda data_ptr get_cudnn_version get_device is_compiled_with_cinn is_compiled_with_cuda is_compiled_with_custom_device
        is_compiled_with_distribute is_compiled_with_ipu is_compiled_with_rocm is_compiled_with_xpu set_device
    """,
    "what always has one answer": """
        disable_signal_handler disable_static enable_static in_dynamic_mode is_autocast_enabled is_dense is_dist is_selected_rows is_sparse
        is_sparse_coo is_sparse_csr
    """,
    "layers: test_layers.py": "create_parameter",
    "modes": "get_default_dtype get_flags set_flags get_strides",
    "random numbers": """
        get_cuda_rng_state get_rng_state manual_seed normal_ rand_like randint_like randn_like randperm set_cuda_rng_state
        seed set_rng_state uniform_
    """,
}
CASES = 5


def functions() -> list[set[str]]:
    """The names of each function of Paddle's that is here; one with several names is one function."""
    found: dict[int, set[str]] = {}
    for namespace in ("paddle", "paddle.linalg", "paddle.fft", "paddle.nn.functional", "paddle.Tensor"):
        owner: Any = paddle
        for part in namespace.split(".")[1:]:
            owner = getattr(owner, part)
        for name in NAMES[namespace].split():
            value = getattr(owner, name, None)
            if callable(value) and not isinstance(value, (type, types.ModuleType)):
                found.setdefault(id(value), set()).add(name)
    return list(found.values())


def test_every_function_has_five_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PEERS))
    rows = importlib.import_module("expressions").ROWS
    cases: collections.Counter[str] = collections.Counter()
    for row in rows:
        cases.update({*re.findall(r"\w+", row.source), row.op.rpartition(".")[2]})
    few: dict[str, int] = {}
    for names in functions():  # a function and a method of one name may be two objects
        for name in names:
            few[name] = max(few.get(name, 0), sum(cases[other] for other in names))
    listed = {name for names in ELSEWHERE.values() for name in names.split()}
    assert len(few) > 700
    assert {name: n for name, n in few.items() if n < CASES and name not in listed} == {}
    assert sorted(name for name in listed if few[name] >= CASES) == []
