"""The figures of docs/proven.md that runs print, from the output of the parts of `./build.sh test` in build/parts.

    figures.py [--write] [PARTS]     PARTS is the folder, by default build/parts

Prints `ok`, or `FAIL` for a figure that is not that of the run, and exits 1; with --write it puts the figures of the run into
the document. A part that has not run, or not whole, says nothing of its figures.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "proven.md"
NUMBER = r"(\d[\d,]*)"


@dataclass(frozen=True)
class Figure:
    """Text of the document with {} for a number, and the line of a part's output that has it, likewise."""

    text: str
    part: str
    line: str

    def pattern(self) -> re.Pattern[str]:
        before, after = self.text.split("{}")
        return re.compile(f"({re.escape(before)}){NUMBER}({re.escape(after)})")

    def printed(self, log: str) -> int | None:
        """The number that a part has printed."""
        before, after = map(re.escape, self.line.split("{}"))
        found = re.search(rf"^ *{before}(\d+){after}$", log, re.MULTILINE)
        return int(found[1]) if found else None


FIGURES = [
    Figure(
        "on `cpu`, for {} recorded expressions | PaddlePaddle evaluated",
        "paddle-replay",
        "{} answers to the same expression",
    ),
    Figure("none differs. {} of them are exceptions", "paddle-replay", "{} same exception"),
    Figure(
        "| {} more expressions answer otherwise",
        "paddle-replay",
        "{} answers to another expression, which Paddle is asked because its own answer is not ours on purpose",
    ),
    Figure("whose answer is ours: for {} it has no kernel", "paddle-replay", "{} no Paddle kernel (our rule)"),
    Figure("it has no kernel, for {} its own answer", "paddle-replay", "{} listed Paddle defect"),
    Figure(
        "{} of the answers are exceptions that our row names",
        "paddle-replay",
        "{} of which are exceptions that the row names",
    ),
    Figure("gradients match PaddlePaddle's on `cpu`, for {} recorded", "gradients", "{} passed, 0 failed"),
    Figure("has a gradient of, {} more differ on purpose", "gradients", "{} not Paddle's, on purpose, of which"),
    Figure("of {} central differences agree with ours", "gradients", "{} settled by central differences"),
    Figure("{} are exceptions here, of", "gradients", "{} exceptions here"),
    Figure("exceptions here, of {} differences cannot tell", "gradients", "{} that central differences cannot tell"),
    Figure("infinities; {} have no gradient here yet", "gradients", "{} without a gradient here yet"),
    Figure("| {} recorded answers and", "paddle-traced", "{} passed, 0 failed"),
    Figure("recorded answers and {} recorded gradients of", "gradients-traced", "{} passed, 0 failed"),
    Figure(
        "traced functions; {} more answers need elements",
        "paddle-traced",
        "{} a traced function has no elements, nor other shapes in place, nor complex numbers to compute with, and says so",
    ),
    Figure("the {} recorded answers without `float64` and complex numbers", "replay-mpsgraph", "{} passed, 0 failed"),
]


def grouped(number: int) -> str:
    return f"{number:,}"


def stated(figure: Figure, document: str) -> str | None:
    """The number of a figure as the document has it; None where the text does not occur once."""
    found = figure.pattern().findall(document)
    return found[0][1] if len(found) == 1 else None


def stale(document: str, parts: pathlib.Path) -> Iterator[tuple[Figure, str, str]]:
    """Figures with the numbers of the document and of the run, where a part has printed one."""
    for figure in FIGURES:
        log = parts / f"{figure.part}.log"
        number = figure.printed(log.read_text(encoding="utf-8")) if log.is_file() else None
        if number is not None:
            yield figure, stated(figure, document) or "no figure", grouped(number)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("parts", metavar="PARTS", nargs="?", type=pathlib.Path, default=ROOT / "build" / "parts")
    options = parser.parse_args()
    document, failed = DOCUMENT.read_text(encoding="utf-8"), 0
    found = list(stale(document, options.parts))
    if not found:
        print("skip figures: no part that prints them has run")
    for figure, old, new in found:
        if options.write:
            document = figure.pattern().sub(rf"\g<1>{new}\g<3>", document)
            old = new
        failed += old != new
        name = f"{figure.part}: {figure.text.format(new)}"
        print(
            f"ok {name}"
            if old == new
            else f"FAIL {name}: docs/proven.md has {old}; run tests/readme/figures.py --write"
        )
    if options.write:
        DOCUMENT.write_text(document, encoding="utf-8")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
