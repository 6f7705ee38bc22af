"""Training programs print what they print with PaddlePaddle 3.3.1, step by step: eagerly and compiled, on the CPU and on the device."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import training

KNOWN: dict[str, Any] = json.loads(training.GOLDEN.read_text(encoding="utf-8"))


def test_every_program_is_recorded() -> None:
    assert list(KNOWN) == list(training.PROGRAMS)


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
@pytest.mark.parametrize("place", ["cpu", "mps"])
@pytest.mark.parametrize("name", training.PROGRAMS)
def test_program(name: str, place: str, traced: bool) -> None:
    """Within 1e-5, or ten times as far as PaddlePaddle's numbers move when the first values move by 3e-7 of themselves."""
    before = paddle.get_device()
    paddle.set_device(place)
    try:
        printed, ends = training.numbers(paddle, name, traced)
    finally:
        paddle.set_device(before)
    known = KNOWN[name]
    for label, got, want, spread in (
        ("printed", printed, known["printed"], known["spread"]),
        ("ends", ends, known["ends"], known["spread of ends"]),
    ):
        assert len(got) == len(want), (name, label)
        allowed = np.maximum(1e-5, 10 * np.array(spread)) * np.maximum(np.abs(want), 1e-6)
        apart = np.abs(np.array(got) - np.array(want)) / allowed
        assert apart.max() <= 1, (name, label, int(apart.argmax()), got[int(apart.argmax())], want[int(apart.argmax())])
