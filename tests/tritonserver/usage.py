"""The block Usage of examples/triton/README.md: its lines of shell, and the configuration among them."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from typing import Any

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "triton"
BLOCK = re.findall(r"^## Usage\n\n```bash\n(.*?)^```", (FOLDER / "README.md").read_text(), re.S | re.M)[0]
BUILD, CREATE, COPY, CONFIGURE, ASK = re.split(r"^(?=# )", BLOCK, flags=re.M)[1:]


def run(script: str, folder: pathlib.Path = FOLDER, **environment: str) -> str:
    """Runs lines of the block, with the Python of the tests as python3."""
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    more: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 600}
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "TRITON_RUNS": "5", **environment},
        **more,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)
