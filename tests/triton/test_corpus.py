"""The cases themselves: how many there are, and that each can fail."""

from __future__ import annotations

import corpus
import pytest

CASES = corpus.load()


def test_there_are_many():
    assert len(CASES) >= 80


@pytest.mark.parametrize("name", CASES)
def test_a_launcher_that_does_nothing_does_not_pass(name: str):
    outputs = [out for _, out in corpus.outputs(CASES[name].run())]
    assert outputs
    if name not in {"libdevice_j0_missing"}:  # which only says what is refused
        assert any(corpus.mismatches(out, out.start().reshape(-1)).any() for out in outputs)
