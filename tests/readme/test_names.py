"""What the READMEs say of public names, and that their commands leave nothing that git would add."""

from __future__ import annotations

import importlib
import pathlib
import re
import subprocess

import pytest

import paddle_mps as paddle
from paddle_mps._surface import NAMES

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPACES = ("paddle", "paddle.Tensor", "paddle.linalg", "paddle.nn.functional")


def present(namespace: str) -> tuple[int, int]:
    """How many names of a namespace there are here, and in PaddlePaddle."""
    names = NAMES[namespace].split()
    space = paddle.Tensor if namespace == "paddle.Tensor" else importlib.import_module("paddle_mps" + namespace[6:])
    return sum(hasattr(space, name) for name in names), len(names)


@pytest.mark.parametrize("document", ["README.md", "README.zh-CN.md", "README.ja.md"])
def test_the_names_that_are_left_out_are_counted(document: str) -> None:
    text = (ROOT / document).read_text()
    for namespace in SPACES:
        found = re.search(rf"`{re.escape(namespace)}`\D+?(\d+)\D+?(\d+)", text)
        assert found and sorted(map(int, found.groups())) == sorted(present(namespace)), namespace


@pytest.mark.parametrize("name", ["venv/", "example.py"])
def test_what_the_commands_of_the_readme_write_is_ignored(name: str) -> None:
    assert name.rstrip("/") in (ROOT / "README.md").read_text()
    done = subprocess.run(["git", "check-ignore", "--quiet", name], cwd=ROOT)
    assert done.returncode == 0
