"""The documents at the root keep their word: programs run, languages agree, quoted code is real."""

from __future__ import annotations

import pathlib
import re
import sys

import pytest
from documents import DEVICES, LINK, READMES, ROOT, blocks, kept, output, text


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("document", READMES)
def test_program_runs(document: str, device: str, tmp_path: pathlib.Path) -> None:
    program = "".join(blocks(document, "python"))
    kept(program, output([sys.executable, "-c", program], tmp_path, device))


@pytest.mark.parametrize("translation", READMES[1:])
def test_translation_is_in_step(translation: str) -> None:
    """Same blocks, same number of headings and table rows, same links to other files."""
    assert blocks(translation) == blocks("README.md")
    texts = [text("README.md"), text(translation)]
    for pattern in (r"^#+ ", r"^\|", r"\]\(http"):
        counts = [len(re.findall(pattern, t, re.MULTILINE)) for t in texts]
        assert counts[0] == counts[1], f"{pattern}: {counts}"
    links = [set(LINK.findall(t)) - set(READMES) for t in texts]
    assert links[0] == links[1]


def test_contributing_quotes_real_code() -> None:
    """Every Go block of CONTRIBUTING.md stands in the tree as it is quoted, but for blanks: gofmt changes them with a neighbour."""
    sources = spaced("\n".join(p.read_text() for folder in ("core", "kernels") for p in (ROOT / folder).rglob("*.go")))
    quoted = blocks("CONTRIBUTING.md", "go")
    assert quoted
    for block in quoted:
        assert spaced(block) in sources, block


def spaced(code: str) -> str:
    return "\n".join(" ".join(line.split()) for line in code.splitlines())
