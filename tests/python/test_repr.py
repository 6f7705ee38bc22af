"""What tensors print, against what PaddlePaddle 3.3.1 printed (golden/repr.txt)."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

import paddle_mps as paddle

DEFAULTS = {"precision": 8, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": False}


def cases() -> Iterator[Any]:
    options, source = "set_printoptions()", ""
    lines: list[str] = []
    golden = pathlib.Path(__file__).parent / "golden" / "repr.txt"
    for line in [*golden.read_text().splitlines(), ">>> "]:
        if line.startswith(("#", ">>> ", "--- ")):
            if source:
                yield pytest.param(options, source, "\n".join(lines), id=f"{options[17:-1]} {source}")
            source, lines = "", []
        if line.startswith("--- "):
            options = line[4:]
        elif line.startswith(">>> "):
            source = line[4:]
        elif not line.startswith("#"):
            lines.append(line)


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    yield
    paddle.set_printoptions(**DEFAULTS)  # type: ignore[arg-type]


@pytest.mark.parametrize("options, source, text", list(cases()))
def test_layout(options: str, source: str, text: str) -> None:
    eval(f"paddle.{options}", {"paddle": paddle})
    x = eval(source, {"paddle": paddle, "T": paddle.to_tensor})
    assert str(x) == text
    assert repr(x) == text


def test_the_place_of_an_mps_tensor_is_shown() -> None:
    text = str(paddle.ones([2], place="mps"))
    assert text == "Tensor(shape=[2], dtype=float32, place=Place(mps:0), stop_gradient=True,\n       [1., 1.])"


def test_a_summary_fetches_the_edges_only() -> None:
    x = paddle.zeros([1000, 1000], "float32", place="mps")
    before = paddle.mps.max_memory_allocated()
    str(x)
    assert paddle.mps.max_memory_allocated() - before < 1_000_000


def test_format_of_a_number() -> None:
    assert f"{paddle.to_tensor(1.5)}" == "1.5"
    assert f"{paddle.to_tensor(1.5):.3f}" == "1.500"
    with pytest.raises(TypeError):
        f"{paddle.to_tensor([1.5]):.3f}"


def test_wrong_options() -> None:
    with pytest.raises(TypeError, match="precision"):
        paddle.set_printoptions(precision="8")  # type: ignore[arg-type]
