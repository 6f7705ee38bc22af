"""Gradients at saturated operands are finite where values are: see edges.py, which has the forms and asks PaddlePaddle."""

from __future__ import annotations

import json
import pathlib
import re
import warnings

import edges
import pytest

import paddle_mps as paddle
from paddle_mps._core._errors import TracingError, UnsupportedError

GOLDEN = json.loads(edges.GOLDEN.read_text())
DIFFERENCES = pathlib.Path(__file__).parents[2] / "docs" / "differences.md"


def report(mode: str, right: int, found: list[edges.Finding]) -> None:
    excused = sum(f.excused for f in found)
    print(f"{mode}: {right} right, {excused} not finite as in PaddlePaddle, {len(found) - excused} wrong")
    wrong = [f.text for f in found if not f.excused]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
def test_gradients_are_finite_where_values_are(dtype: str, traced: bool) -> None:
    right, found, untraced = 0, [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for form in edges.FORMS:
            if dtype not in edges.dtypes_of(form) or (traced and form.alone):
                continue
            try:
                fine, others = edges.judged(paddle, form, dtype, GOLDEN, traced)
            except TracingError as error:  # NumPy computes it
                untraced.append(f"{form.text}: {error}")
                continue
            right += fine
            found += others
    report(f"{dtype}, {'traced' if traced else 'eager'}", right, found)
    assert right > 15000
    assert len(untraced) <= 10 * traced, "\n".join(untraced)
    if not traced:
        page = re.search(r"their gradient is not finite either: (.*?)\. ", DIFFERENCES.read_text(), re.DOTALL)
        assert page
        assert {f.name for f in found} <= set(re.findall(r"`(.*?)`", page[1]))


@pytest.mark.parametrize("dtype", edges.HALVES)
def test_halves(dtype: str) -> None:
    right, found, refused = 0, [], []
    for form in edges.FORMS:
        if form.alone:
            continue
        try:
            fine, others = edges.judged_half(paddle, form, dtype)
        except (TypeError, ValueError, AssertionError, UnsupportedError) as error:
            assert "[" in str(error), (form.text, error)
            refused.append(form.text)
            continue
        right += fine
        found += others
    report(dtype, right, found)
    print(f"refused: {len(refused)} of {len(edges.FORMS)} forms")
    assert right > 10000
    assert len(refused) < 20, refused
