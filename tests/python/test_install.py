"""install() and `python -m paddle_mps`: programs that import paddle run unchanged."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

PROGRAM = """
import sys
import paddle
import paddle.nn.functional as F
from paddle.nn import functional
import paddle.selftest.plan
import paddle_mps
import pickle

class Mine: pass

assert paddle is paddle_mps and F is functional is paddle_mps.nn.functional
assert paddle.selftest.plan is sys.modules["paddle_mps.selftest.plan"]
assert paddle.selftest.plan.__spec__.name == "paddle_mps.selftest.plan"
assert type(pickle.loads(pickle.dumps(Mine()))) is Mine and __name__ == "__main__"
for statement in ("import paddle.optimizer", "from paddle.io import Dataset", "from paddle.nn import Linear"):
    try:
        exec(statement)
    except ImportError as error:
        assert "is planned" in str(error), error
print(sys.argv[1:], F.relu(paddle.to_tensor([-1.0, 2.0])).tolist())
"""


def python(*arguments: str, cwd: pathlib.Path, status: int = 0) -> str:
    """What an interpreter prints."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=os.environ, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


def test_install(tmp_path: pathlib.Path) -> None:
    out = python("-c", "import paddle_mps; paddle_mps.install(); paddle_mps.install()" + PROGRAM, cwd=tmp_path)
    assert out == "[] [0.0, 2.0]\n"


def test_a_script(tmp_path: pathlib.Path) -> None:
    """Its neighbours are imported as if python itself had started it."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "script.py").write_text(f"import neighbour, sys\n{PROGRAM}\nprint(sys.argv[0], __file__)")
    (tmp_path / "folder" / "neighbour.py").write_text("import paddle")
    script = os.path.join("folder", "script.py")
    out = python("-m", "paddle_mps", script, "a", "-m", cwd=tmp_path)
    assert out == f"['a', '-m'] [0.0, 2.0]\n{script} {script}\n"


def test_a_module(tmp_path: pathlib.Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    assert python("-m", "paddle_mps", "-m", "program", "1", "2", cwd=tmp_path) == "['1', '2'] [0.0, 2.0]\n"


def test_a_text(tmp_path: pathlib.Path) -> None:
    out = python("-m", "paddle_mps", "-c", f"{PROGRAM}\nprint(sys.argv[0], '__file__' in dir())", "x", cwd=tmp_path)
    assert out == "['x'] [0.0, 2.0]\n-c False\n"


def test_paths_that_are_no_program(tmp_path: pathlib.Path) -> None:
    for given, says in (
        ("no.py", "does not exist"),
        (".", "a folder without __main__.py"),
        ("--no", "no program or option"),
    ):
        said = python("-m", "paddle_mps", given, cwd=tmp_path, status=2)
        assert said.startswith("paddle_mps: ") and says in said


def test_the_status_of_a_program(tmp_path: pathlib.Path) -> None:
    python("-m", "paddle_mps", "-c", "import paddle, sys; sys.exit(3)", cwd=tmp_path, status=3)
    assert "ZeroDivisionError" in python("-m", "paddle_mps", "-c", "import paddle; 1 / 0", cwd=tmp_path, status=1)


def test_what_is_no_program(tmp_path: pathlib.Path) -> None:
    assert "usage" not in python("-m", "paddle_mps", "--help", cwd=tmp_path)
    assert python("-m", "paddle_mps", "--version", cwd=tmp_path).startswith("paddle_mps ")
    for arguments in ([], ["-c"], ["-m"], ["-x"], ["missing.py"]):
        assert "paddle_mps" in python("-m", "paddle_mps", *arguments, cwd=tmp_path, status=2)


def test_the_real_paddle_is_not_replaced(tmp_path: pathlib.Path) -> None:
    (tmp_path / "paddle.py").write_text("")
    program = "import paddle, paddle_mps\ntry: paddle_mps.install()\nexcept RuntimeError as error: print(error)"
    out = python("-c", program, cwd=tmp_path)
    assert out.startswith("[install] paddle is already imported, from ") and "before `import paddle`" in out
