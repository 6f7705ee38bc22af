"""The programs in docstrings of the package, and those of the documents that promised it: each runs, or has the reason why not."""

from __future__ import annotations

import ast
import doctest
import pathlib
import re
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
from documents import DEVICES, ROOT, blocks, output

sys.path.append(str(ROOT / "tests" / "python"))

import onnx_files

PACKAGES = ["paddle_mps", "paddle_mps_triton"]
PROMISES = "tests/readme/original_api.md"  # what the system that this one stands for promises its users

CODE = re.compile(r"(?:import |from \S+ import |with |for |def |@|>>> |[\w., ()]+ = |[a-z]\w*[.(\[])")
PACKAGE = "import numpy as np\nimport paddle_mps\nimport paddle_mps as paddle\n"

# By module, what a program needs before it; or a reason, in a tuple, why it does not run here.
BEFORE: dict[str, str | tuple[str]] = {
    "paddle_mps": "",
    "paddle_mps._models._progress": "from paddle_mps._models._progress import Progress\n",
    "paddle_mps._kernels._shader": PACKAGE,
    "paddle_mps.onnx": f"{PACKAGE}x = np.zeros((1, 3, 224, 224), 'float32')\n",
    "paddle_mps.onnxruntime": "import numpy as np\nx = np.zeros((1, 3, 224, 224), 'float32')\n",
    "paddle_mps.optimizer.lr": PACKAGE,
    "paddle_mps.profiler": f"{PACKAGE}batches, train = [1, 2, 3], paddle.ones\n",
    "paddle_mps.serve": (
        "the server is a program in Go, and its client no part of the package: tests/serve/test_models.py",
    ),
    "paddle_mps.triton_aot": ("a kernel has to be compiled first: tests/triton/test_documents.py",),
}
METAL_ONLY = {"paddle_mps._kernels._shader"}


def indented(text: str) -> Iterator[str]:
    """The indented parts of a docstring that are programs."""
    for part in re.findall(r"(?:^(?:    .*|)\n?)+", text, re.MULTILINE):
        program = textwrap.dedent(part).strip("\n")
        if not CODE.match(program):
            continue
        try:
            ast.parse(program if ">>>" not in program else "")
        except SyntaxError:
            continue  # the description of a parameter
        yield program + "\n"


def programs() -> list[Any]:
    """All programs of all docstrings."""
    found: list[Any] = []
    for path in sorted(p for package in PACKAGES for p in (ROOT / "python" / package).rglob("*.py")):
        module = ".".join(path.relative_to(ROOT / "python").with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                for program in indented(ast.get_docstring(node) or ""):
                    found.append(pytest.param(module, program, id=f"{module}-{getattr(node, 'name', '')}"))
    return found


def test_programs_are_found() -> None:
    assert list(indented("A text:\n\n    x = f(1)\n    y(x)\n\nArgs:\n    x: what it is.\n    with: a word.\n")) == [
        "x = f(1)\ny(x)\n"
    ]
    assert {p.values[0] for p in programs()} == set(BEFORE)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("module", "program"), programs())
def test_program_of_a_docstring(module: str, program: str, device: str, tmp_path: pathlib.Path) -> None:
    before = BEFORE[module]
    if isinstance(before, tuple):
        pytest.skip(before[0])
    if module in METAL_ONLY and device != "metal":
        pytest.skip("only Metal has shaders")
    shape: list[onnx_files.Dim] = ["N", 3, 224, 224]
    port = [onnx_files.port(name, "float", shape) for name in "xy"]
    nodes = [onnx_files.node("Relu", ["x"], ["y"])]
    (tmp_path / "model.onnx").write_bytes(onnx_files.model(nodes, port[:1], port[1:]))
    if ">>>" in program:
        examples = doctest.DocTestParser().get_examples(program)
        program = "".join(f"print({e.source.strip()})\n" if e.want else e.source for e in examples)
        wanted = "".join(e.want.strip("'\n") + "\n" for e in examples if e.want)
        assert output([sys.executable, "-c", before + program], tmp_path, device) == wanted
        return
    output([sys.executable, "-c", before + program], tmp_path, device)


PADDLE = [block for block in blocks(PROMISES, "python") if "paddle" in block]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("program", PADDLE, ids=["first", "second"])
def test_promised_program(program: str, device: str, tmp_path: pathlib.Path) -> None:
    """Word for word; tests/test_mps_backend.py has those about Triton."""
    assert output([sys.executable, "-c", program], tmp_path, device).strip()


def test_promised_names() -> None:
    """Files that the promises name; the page of the example for servers has its block, whose lines tests/serve/test_examples.py runs."""
    text = (ROOT / PROMISES).read_text(encoding="utf-8")
    names = set(re.findall(r"\btest_mps_\w+\.py\b", text))
    assert len(names) == 6 and all((ROOT / "tests" / name).is_file() for name in names)
    theirs = [line for line in blocks(PROMISES, "bash")[0].splitlines() if line and line[0] != "#"]
    ours = blocks("examples/triton/README.md", "bash")[0]
    assert theirs == [line for line in ours.splitlines() if line in theirs] and len(theirs) == 5
    assert blocks(PROMISES, "")[0].strip() in ours


def test_every_promised_block_is_tried() -> None:
    assert len(blocks(PROMISES)) == len(PADDLE) + 3 + len(blocks(PROMISES, "bash")) + len(blocks(PROMISES, ""))
