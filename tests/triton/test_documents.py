"""The programs of docs/triton.md and of examples/triton."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_programs_of_the_page(tmp_path: pathlib.Path):
    """They are one program, which is saved as kernel.py; the commands compile its kernel and its TTIR."""
    page = (ROOT / "docs" / "triton.md").read_text()
    first, *rest = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "kernel.py").write_text(first)
    (tmp_path / "writes.py").write_text(first + "open('add.ttir', 'w').write(kernel.asm['ttir'])\n")
    (tmp_path / "loads.py").write_text(first + "".join(rest))
    done = run(tmp_path, [sys.executable, "writes.py"])
    for promise in re.findall(r"# (?:.* )?-> (.*)", first):
        assert promise in done.splitlines()
    assert "kernel void add" in done
    commands = re.findall(r"^(paddle-mps triton compile .*)$", page, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        (tmp_path / "add.metal").unlink(missing_ok=True)
        assert run(tmp_path, ["sh", "-euc", command]) == ""
        assert run(tmp_path, [sys.executable, "loads.py"]) == done


def run(folder: pathlib.Path, command: list[str]) -> str:
    """What a command prints, with the programs of this interpreter's environment in reach."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    ended = subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_table_is_of_the_kernels_that_pass():
    subprocess.run([sys.executable, ROOT / "tests" / "triton" / "table.py"], check=True)


@pytest.mark.parametrize("name", ["add", "softmax", "attention"])
def test_an_example(name: str):
    subprocess.run([sys.executable, ROOT / "examples" / "triton" / f"{name}.py"], check=True, capture_output=True)
