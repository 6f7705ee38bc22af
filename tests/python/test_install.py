"""install() and `python -m paddle_mps`: programs that import paddle run unchanged."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import paddle
import paddle.nn.functional as F
from paddle.nn import functional
import paddle.optimizer.lr
from paddle.optimizer.lr import StepDecay
import paddle.selftest.plan
import paddle_mps
import pickle

class Mine: pass

assert paddle.Tensor is paddle_mps.Tensor and F is functional is paddle_mps.nn.functional
assert paddle.optimizer.lr.StepDecay is StepDecay is paddle_mps.optimizer.lr.StepDecay
assert set(paddle.__all__) == set(paddle_mps.__all__) and dir(paddle) == dir(paddle_mps) and paddle.profiler is paddle_mps.profiler
assert paddle.__version__ == paddle.version.full_version == "3.3.1" and float(paddle.__version__[:3]) > 3
assert paddle_mps.__version__ == paddle_mps._version.__version__ != "3.3.1"
assert paddle.selftest.plan is sys.modules["paddle_mps.selftest.plan"]
assert paddle.selftest.plan.__spec__.name == "paddle_mps.selftest.plan"
assert type(pickle.loads(pickle.dumps(Mine()))) is Mine and __name__ == "__main__"
for statement in ("import paddle.vision", "from paddle.io import Dataset", "from paddle.nn import Linear"):
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
        ("--no", "neither a program nor an option"),
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


CHILDREN = """
import multiprocessing, os, subprocess, sys
import paddle

def work(x):
    import paddle.nn.functional as F
    return F.relu(paddle.to_tensor([x])).tolist(), paddle.__name__

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print(pool.map(work, [1.0, -2.0]))
    child = "import paddle.nn.functional as F, paddle; print(paddle.__name__, F.__name__)"
    print(subprocess.run([sys.executable, "-c", child], cwd=os.sep, capture_output=True, text=True, check=True).stdout, end="")
    grandchild = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    print(subprocess.run([sys.executable, "-c", grandchild], capture_output=True, text=True, check=True).stdout, end="")
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_of_a_program_find_paddle(tmp_path: pathlib.Path, method: str) -> None:
    """As they find it where PaddlePaddle is installed; also a folder of the user's in PYTHONPATH is still there."""
    (tmp_path / "script.py").write_text(CHILDREN)
    out = python("-m", "paddle_mps", "script.py", method, cwd=tmp_path)
    assert out == "[([1.0], 'paddle_mps'), ([0.0], 'paddle_mps')]\n" + "paddle_mps paddle_mps.nn.functional\n" * 2
    paths = (
        "import os; print(os.environ['PYTHONPATH'].split(os.pathsep)[1:], os.environ['PYTHONPATH'].count('_children'))"
    )
    program = (
        f"import subprocess, sys; subprocess.run([sys.executable, '-m', 'paddle_mps', '-c', {paths!r}], check=True)"
    )
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.environ.get("PYTHONPATH") else []
    assert python("-m", "paddle_mps", "-c", program, cwd=tmp_path) == f"{before} 1\n"


def test_an_interpreter_without_this_package_gets_its_own_paddle(tmp_path: pathlib.Path) -> None:
    (tmp_path / "paddle_mps").mkdir()
    (tmp_path / "paddle_mps" / "__init__.py").write_text("")
    program = f"import sys; sys.path.insert(2, {str(tmp_path)!r}); import paddle; print(paddle.__name__, paddle.mine)"
    child = f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', {program!r}]).returncode)"
    assert "No module named 'paddle'" in python("-m", "paddle_mps", "-c", child, cwd=tmp_path.parent, status=1)
    (tmp_path / "paddle.py").write_text("mine = 1")
    assert python("-m", "paddle_mps", "-c", child, cwd=tmp_path.parent) == "paddle 1\n"


def test_a_program_on_standard_input(tmp_path: pathlib.Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "paddle_mps", "-", "x"],
        cwd=tmp_path, input=f"{PROGRAM}\nprint(sys.argv[0])", capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert done.stdout == "['x'] [0.0, 2.0]\n-\n"


def test_a_traceback_begins_at_the_program(tmp_path: pathlib.Path) -> None:
    (tmp_path / "script.py").write_text("def f():\n    raise KeyError(3)\nf()\n")
    for arguments in (["script.py"], ["-m", "script"], ["-c", "import script"]):
        said = python("-m", "paddle_mps", *arguments, cwd=tmp_path, status=1).splitlines()
        frames = [line.split('"')[1] for line in said if line.startswith("  File ")]
        assert said[0].startswith("Traceback") and said[-1] == "KeyError: 3"
        assert frames[-2].endswith("script.py") and not [f for f in frames if "runpy" in f or "paddle_mps" in f]
    (tmp_path / "wrong.py").write_text("x = = 1\n")
    assert python("-m", "paddle_mps", "wrong.py", cwd=tmp_path, status=1).startswith('  File "')
