"""docs/proven.md has the figures of the recorded answers: those that follow from the files alone, without a run."""

from __future__ import annotations

import pathlib
import sys
from collections import Counter

import pytest
from documents import ROOT, text
from figures import FIGURES, Figure, grouped, stale, stated

sys.path.append(str(ROOT / "tests" / "peers"))

PROVEN = text("docs/proven.md")


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.text)
def test_the_text_of_a_figure_occurs_once(figure: Figure) -> None:
    assert stated(figure, PROVEN) is not None


def test_figures_of_recorded_answers() -> None:
    import compare
    from expressions import DEFECTS, NO_KERNEL, ROWS

    answers = compare.read_golden(compare.GOLDEN)
    counts = Counter(compare.kind(row, answers[row.expected]) for row in ROWS)
    others = [row for row in ROWS if row.rule in (*DEFECTS, NO_KERNEL)]
    want = {
        "{} answers to the same expression": len(ROWS) - len(others),
        "{} same exception": counts["same exception"],
        "{} no Paddle kernel (our rule)": counts["no Paddle kernel (our rule)"],
        "{} listed Paddle defect": counts["listed Paddle defect"],
        "{} of which are exceptions that the row names": sum("raises" in answers[row.expected] for row in others),
    }
    got = {
        figure.line: stated(figure, PROVEN)
        for figure in FIGURES
        if figure.line in want and figure.part == "paddle-replay"
    }
    assert got == {line: grouped(number) for line, number in want.items()}, (
        "run tests/readme/figures.py --write after the part"
    )


def test_figures_of_recorded_gradients() -> None:
    import gradients

    kinds = Counter(said.ours.partition(" ")[0] for said in gradients.listed().values())
    want = {
        "{} not Paddle's, on purpose, of which": sum(kinds.values()),
        "{} settled by central differences": kinds["differences"],
        "{} exceptions here": kinds["raises"],
        "{} that central differences cannot tell": kinds["undecided"],
    }
    got = {figure.line: stated(figure, PROVEN) for figure in FIGURES if figure.line in want}
    assert got == {line: grouped(number) for line, number in want.items()}


def test_a_stale_figure_is_seen(tmp_path: pathlib.Path) -> None:
    (tmp_path / "gradients.log").write_text("ok x\n   25 without a gradient here yet\n1234 passed, 0 failed\n")
    found = {figure.line: (old, new) for figure, old, new in stale(PROVEN, tmp_path)}
    assert found["{} passed, 0 failed"][1] == "1,234" != found["{} passed, 0 failed"][0]
    assert found["{} without a gradient here yet"][1] == "25"
    assert len(found) == 2
