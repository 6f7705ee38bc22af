"""The documents keep their word: programs run, languages agree, quoted code is real."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
READMES = ["README.md", "README.zh-CN.md", "README.ja.md"]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def blocks(document: str, *languages: str) -> list[str]:
    """The fenced blocks of a document, of all languages or of those named."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [body for language, body in FENCE.findall(text) if not languages or language in languages]


def programs() -> list[object]:
    return [
        pytest.param(body, id=f"{document}-{n}")
        for document in READMES
        for n, body in enumerate(blocks(document, "python"))
    ]


@pytest.mark.parametrize("program", programs())
def test_program_runs(program: str, tmp_path: pathlib.Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PADDLE_MPS_DEVICE": "host"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    for line in program.splitlines():
        _, arrow, printed = line.partition("  # -> ")
        if arrow:
            assert printed in done.stdout, f"{line!r} promises what was not printed:\n{done.stdout}"


@pytest.mark.parametrize("translation", READMES[1:])
def test_translation_is_in_step(translation: str) -> None:
    """Same blocks, same number of headings and table rows, same links to other files."""
    assert blocks(translation) == blocks("README.md")
    texts = [(ROOT / document).read_text(encoding="utf-8") for document in ("README.md", translation)]
    for pattern in (r"^#+ ", r"^\|", r"\]\(http"):
        counts = [len(re.findall(pattern, text, re.MULTILINE)) for text in texts]
        assert counts[0] == counts[1], f"{pattern}: {counts}"
    links = [set(LINK.findall(text)) - set(READMES) for text in texts]
    assert links[0] == links[1]


@pytest.mark.parametrize("document", sorted(p.name for p in ROOT.glob("*.md")))
def test_links_lead_somewhere(document: str) -> None:
    for target in LINK.findall((ROOT / document).read_text(encoding="utf-8")):
        assert (ROOT / target).exists(), target


def test_contributing_quotes_real_code() -> None:
    """Every Go block of CONTRIBUTING.md stands in the tree as it is quoted."""
    sources = "\n".join(p.read_text() for folder in ("core", "kernels") for p in (ROOT / folder).rglob("*.go"))
    quoted = blocks("CONTRIBUTING.md", "go")
    assert quoted
    for block in quoted:
        assert block in sources, block
