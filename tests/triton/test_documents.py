"""The programs of docs/triton.md and of examples/triton."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIGNATURE = "*fp32:16, *fp32:16, *fp32:16, i32, 1024"


def test_the_programs_of_the_page(tmp_path: pathlib.Path):
    """They are one program; the file that it loads is made of its own kernel, as the page says."""
    first, *rest = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "triton.md").read_text(), re.DOTALL)
    kernel = first[: first.index("x, y =")]
    (tmp_path / "kernel.py").write_text(kernel)
    tool = [
        sys.executable,
        "-m",
        "paddle_mps._triton_tool",
        "compile",
        "kernel.py",
        "-n",
        "add",
        "-w",
        "4",
        "-s",
        SIGNATURE,
    ]
    subprocess.run([*tool, "-o", "add.metal"], cwd=tmp_path, check=True)
    (tmp_path / "program.py").write_text(first + "".join(rest))
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "kernel void add" in done.stdout


def test_the_table_is_of_the_kernels_that_pass():
    subprocess.run([sys.executable, ROOT / "tests" / "triton" / "table.py"], check=True)


@pytest.mark.parametrize("name", ["add", "softmax"])
def test_an_example(name: str):
    subprocess.run([sys.executable, ROOT / "examples" / "triton" / f"{name}.py"], check=True, capture_output=True)
