"""paddle_mps.onnx.load(check=True): each call is compared with unfused kernels in another process."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import onnx_files as files
import pytest

import paddle_mps as paddle
from paddle_mps._models import _reference

X = np.linspace(-3, 3, 12, dtype=np.float32).reshape(4, 3)
# z = softmax(gelu(x)), spelled as exporters do, and the index of its largest element: kernels of patterns and groups.
NODES = [
    files.node("Div", ["x", "root"], ["a"]),
    files.node("Erf", ["a"], ["b"]),
    files.node("Add", ["b", "one"], ["c"]),
    files.node("Mul", ["x", "c"], ["d"]),
    files.node("Mul", ["d", "half"], ["e"]),
    files.node("Softmax", ["e"], ["z"]),
    files.node("ArgMax", ["z"], ["i"], axis=-1),
]
GELU = files.model(
    NODES,
    [files.port("x", "float", ["n", 3])],
    [files.port("z", "float", None), files.port("i", "int64", None)],
    [files.weight(name, np.float32(v)) for name, v in (("root", 2**0.5), ("one", 1), ("half", 0.5))],
)


@pytest.fixture
def model() -> Any:
    made = paddle.onnx.load(GELU, paddle.CPUPlace(), check=True)
    yield made
    assert made._reference is not None
    made._reference.close()


def test_results_are_those_without_check(model: Any) -> None:
    plain = paddle.onnx.load(GELU, paddle.CPUPlace())
    for x in (X, X[:1], X[:0], X[:, ::-1]):
        for got, want in zip(model(x), plain(x)):
            assert got.dtype == want.dtype and got.tolist() == want.tolist()
    assert model.run({"x": X})["i"].tolist() == plain(X)[1].tolist()


def test_the_reference_fuses_nothing(model: Any) -> None:
    """The process runs each call as a kernel of its own: what it has compiled says so."""
    model(X)
    assert "gelu" in model.explain()
    code = "import sys, pickle, paddle_mps as p; m = p.onnx.load(sys.stdin.buffer.read(), 'cpu'); m(p.ones([4, 3])); print(m.explain())"
    out = subprocess.run(
        [sys.executable, "-c", code],
        input=GELU,
        env={**os.environ, "PADDLE_MPS_PASSES": "0"},
        capture_output=True,
        check=True,
    ).stdout.decode()
    assert "group" not in out and "gelu" not in out and out.count("multiply(") == 2 and "erf(" in out


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda z, i: (z * 1.001, i), r"output 'z' is \S+ at \[\d, \d\]; the reference is \S+, and they may differ by"),
        (lambda z, i: (z, i + 1), "output 'i' has 4 of 4 elements that are not those of the reference"),
        (lambda z, i: (z / 0, i), "output 'z' has infinities or NaN elsewhere"),
        (lambda z, i: (z[:1], i), r"output 'z' is float32\[1, 3\]; the reference is float32\[4, 3\]"),
        (lambda z, i: (z.cast("float64"), i), r"output 'z' is float64\[4, 3\]; the reference is float32"),
    ],
)
def test_wrong_results_are_errors(model: Any, change: Any, message: str) -> None:
    run = model._run
    model._run = lambda given: change(*run(given))
    with pytest.raises(RuntimeError, match=message):
        model(X)


def test_small_differences_are_roundings(model: Any) -> None:
    run = model._run
    model._run = lambda given: (run(given)[0] * (1 + 2.0**-20), run(given)[1])
    model(X)


def test_errors_of_a_call_are_those_of_the_model(model: Any) -> None:
    with pytest.raises(ValueError, match=r'input "x" is float32\[2, 4\]'):
        model(np.ones((2, 4), "float32"))
    model(X)  # both go on


def test_a_reference_that_has_ended(model: Any) -> None:
    model._reference._process.kill()
    model._reference._process.wait()
    with pytest.raises(RuntimeError, match="the process of the reference ended: status -9"):
        model(X)


def test_files_are_found_from_any_folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.onnx").write_bytes(GELU)
    monkeypatch.chdir(tmp_path)
    made = paddle.onnx.load("m.onnx", paddle.CPUPlace(), check=True)
    monkeypatch.chdir("/")
    assert made(X)[1].shape == [4, 1]
    with pytest.raises(ValueError, match="no such file"):
        paddle.onnx.load("m.onnx", paddle.CPUPlace(), check=True)


def test_sequences_strings_and_bfloat16() -> None:
    parts = files.model(
        [
            files.node("SplitToSequence", ["x"], ["s"]),
            files.node("Cast", ["x"], ["t"], to=8),
            files.node("Cast", ["x"], ["h"], to=16),
        ],
        [files.port("x", "float", ["n"])],
        [
            files.port("s", "float", None, sequence=True),
            files.port("t", "string", None),
            files.port("h", "bfloat16", None),
        ],
    )
    s, t, h = paddle.onnx.load(parts, paddle.CPUPlace(), check=True)(np.array([1, 2.5], "float32"))
    assert [x.tolist() for x in s] == [[1.0], [2.5]] and list(t) == ["1", "2.5"] and h.dtype == paddle.bfloat16


@pytest.mark.parametrize(
    "got, want",
    [
        (np.array([np.nan, np.inf, -np.inf], "f4"), np.array([np.nan, np.inf, -np.inf], "f4")),
        (np.zeros((0, 3), "f4"), np.zeros((0, 3), "f4")),
        (np.array(["a"], object), np.array(["a"], object)),
        (np.array([1 + 1j], "c8"), np.array([1 + 1j], "c8")),
        (None, None),
        ([np.ones(1)], [np.ones(1)]),
    ],
)
def test_what_is_equal(got: Any, want: Any) -> None:
    assert _reference.compare("y", got, want) == 0


@pytest.mark.parametrize(
    "got, want",
    [
        (np.array([np.inf], "f4"), np.array([-np.inf], "f4")),
        (np.array([0], "f4"), np.array([np.nan], "f4")),
        (np.array([1e-30], "f4"), np.array([0], "f4")),
        (np.array([1 + 1j], "c8"), np.array([1 - 1j], "c8")),
        (None, np.ones(1)),
        ([np.ones(1)], np.ones(1)),
        ([np.ones(1)], []),
    ],
)
def test_what_differs(got: Any, want: Any) -> None:
    with pytest.raises(_reference.Mismatch, match="output 'y"):
        _reference.compare("y", got, want)
