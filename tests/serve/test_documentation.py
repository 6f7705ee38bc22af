"""The programs of docs/serving.md run as they stand there, but for the ports."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import running
import usage

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "serving.md"


def test_client(tmp_path: pathlib.Path) -> None:
    program = next(
        b for b in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S) if "tritonclient" in b
    )
    usage.run(usage.CREATE + usage.COPY, TRITON_MODEL_REPO=str(tmp_path))
    with running.serving(str(tmp_path)) as server:
        here = program.replace("127.0.0.1:8000", server.http)
        assert here != program
        done = subprocess.run([sys.executable, "-c", here], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    (promise,) = re.findall(r"# -> (.*)", program)
    assert promise in done.stdout
