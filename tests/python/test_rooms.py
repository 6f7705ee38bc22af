"""The rooms of the package: which may import which, what each says of itself, and how families give Tensor its methods."""

from __future__ import annotations

import ast
import pathlib
import pickle
import re
import subprocess
import sys

import pytest

import paddle_mps as paddle
from paddle_mps import _missing

PACKAGE = pathlib.Path(paddle.__file__).parent

_BASE = "_core _devices _calls"
_FAMILIES = "_arrays _maths _indices _randomness _matrices"

# What a room, or a private module beside the rooms, may import. `_version` is open to everyone. A folder or a private module without
# a row fails: a new one gets its row here.
MAY = {
    "_core": "",
    "_devices": "_core",
    "_calls": "_core _devices",
    "_arrays": _BASE,
    "_maths": f"{_BASE} _arrays",
    "_indices": f"{_BASE} _arrays _maths",
    "_randomness": f"{_BASE} _arrays _maths _indices",
    "_matrices": f"{_BASE} _arrays _maths _indices _randomness",
    "_functional": f"{_BASE} {_FAMILIES}",
    "_layers": f"{_BASE} {_FAMILIES} _functional _tensor",
    "_files": "_core _devices",
    "_models": f"{_BASE} _arrays",
    "_kernels": f"{_BASE} _arrays",
    "_missing": "_core _surface",
    "_families": f"_calls {_FAMILIES} _missing",
    "_tensor": f"{_BASE} _arrays _randomness _families",
    "_commands": "_core _arrays _models {public}",
    "_install": "version",
    "_surface": "",
    "_tool": "",
    "_version": "",
    "nn": f"{_BASE} {_FAMILIES} _functional _layers",
    "optimizer": f"{_BASE} {_FAMILIES} _layers regularizer",
    "io": f"{_BASE} _arrays _randomness _install",
}

# Public modules import what they need, but for the commands, and for what only the package itself puts together.
PUBLIC = f"{_BASE} {_FAMILIES} _functional _layers _files _models _kernels _tensor _missing _install {{public}}"
ROOMS = [name for name in MAY if (PACKAGE / name).is_dir()]
MOST = 25  # files of a room; with more it is two ideas


def imports(path: pathlib.Path) -> set[str]:
    """The modules of the package that a module imports when it runs, also within functions."""
    found: set[str] = set()
    package = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts[:-1])

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for child in node.orelse:
                visit(child)
            return
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("paddle_mps")):
            base = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
            base = node.module or "" if not node.level else ".".join(filter(None, (base, node.module)))
            found.update({base} | {f"{base}.{a.name}" for a in node.names})
        if isinstance(node, ast.Import):
            found.update(a.name for a in node.names)
        for inner in ast.iter_child_nodes(node):
            visit(inner)

    visit(ast.parse(path.read_text()))
    return found


def graph() -> dict[str, set[str]]:
    """Which modules of the package import which; a package counts for what its own file does."""
    modules = {}
    for path in PACKAGE.rglob("*.py"):
        if "selftest" not in path.parts:  # it stands on the whole package
            name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
            modules[name.removesuffix(".__init__") if hasattr(str, "removesuffix") else name] = path
    arrows = {name: imports(path) & set(modules) - {name} for name, path in modules.items()}
    for name in arrows:
        # `from . import _x` names the package too, without needing what its file defines.
        arrows[name] -= {"paddle_mps"}
        arrows[name] -= {name.rpartition(".")[0]}
    return arrows


def test_no_module_imports_itself_by_way_of_others() -> None:
    arrows = graph()
    assert len(arrows) > 25 and "paddle_mps._core._objects" in arrows["paddle_mps._calls._call"]
    below: set[str] = set()
    while True:
        ready = {name for name, needs in arrows.items() if name not in below and needs <= below}
        if not ready:
            break
        below |= ready
    left = {name: sorted(needs - below) for name, needs in arrows.items() if name not in below}
    assert not left, f"modules in a circle, or above one: {left}"


def test_imports_stand_on_top() -> None:
    """An import within a function is a circle in disguise."""
    for path in PACKAGE.rglob("*.py"):
        if "selftest" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inner = [n for n in ast.walk(node) if isinstance(n, ast.ImportFrom) and n.level]
                assert not inner, f"{path.name}: {node.name}"


def room_of(module: str) -> str:
    """The room of a module; a module beside the rooms is its own."""
    return [*module.split("."), ""][1] or "paddle_mps"


def test_rooms_import_what_the_table_allows() -> None:
    arrows = graph()
    public = {room_of(name) for name in arrows} - set(MAY) - {"paddle_mps", "_children", "__main__"}
    assert not [name for name in public if name.startswith("_")], "a private module has no room"
    wrong = [
        f"{name} imports {needed}"
        for name, needs in arrows.items()
        if room_of(name) not in ("paddle_mps", "__main__", "_children")
        for needed in sorted(needs)
        if room_of(needed) not in {room_of(name), "_version"}
        and room_of(needed) not in MAY.get(room_of(name), PUBLIC).replace("{public}", " ".join(public | {"nn"})).split()
    ]
    assert not wrong


def test_no_row_of_the_table_allows_a_circle() -> None:
    below: set[str] = set()
    rows = {name: set(may.replace("{public}", "").split()) & set(MAY) for name, may in MAY.items()}
    while ready := {name for name, may in rows.items() if name not in below and may <= below}:
        below |= ready
    assert below == set(MAY)


@pytest.mark.parametrize("room", [room for room in ROOMS if room.startswith("_")])
def test_a_room_says_what_it_holds_and_imports(room: str) -> None:
    """And its own file does nothing else: importing one module of a room does not import the others."""
    tree = ast.parse((PACKAGE / room / "__init__.py").read_text())
    assert len(tree.body) == 1
    said = re.search(r"^Imports: (.+)\.$", ast.get_docstring(tree) or "", re.MULTILINE)
    assert said is not None
    if "{public}" not in MAY[room]:
        assert said[1].replace("no other room", "").split(", ") == (MAY[room].split() or [""])


def test_rooms_have_few_files() -> None:
    count = {room: len(list((PACKAGE / room).glob("*.py"))) for room in ROOMS}
    assert {room: n for room, n in count.items() if n > MOST} == {}


def families() -> list[type]:
    """All families, by name: from the sources, so that one that nothing imports is among them."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and node.name.endswith("Methods"):
                module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
                found.append(getattr(sys.modules[module], node.name))
    return found


def test_no_family_is_forgotten() -> None:
    known = families()
    assert len(known) > 20 and set(known) <= set(paddle.Tensor.__mro__)


def test_no_name_is_a_method_of_two_families() -> None:
    given: dict[str, str] = {}
    for family in [paddle.Tensor, *families()]:
        if family.__name__ == "AbsentMethods":
            continue  # it has every name of Paddle
        for name in vars(family):
            if not name.startswith("__"):
                assert name not in given, f"{name} of {family.__name__} and of {given[name]}"
                given[name] = family.__name__
    assert len(given) > 400


# A name in each module that earlier versions had elsewhere, and that pickles of tensors, shapes, errors or states have.
FORMER = {
    "_core._dtype": "dtype",
    "_core._errors": "UnsupportedError",
    "_core._place": "place",
    "_core._size": "Size",
    "_devices._random": "GeneratorState",
    "_maths._limits": "iinfo",
}


@pytest.mark.parametrize("module", FORMER)
def test_pickles_of_earlier_versions_are_read(module: str) -> None:
    """They name functions and classes by modules that have moved: by a program that has imported nothing, as by this one."""
    assert set(FORMER) == set(_missing.FORMER)
    former = f"paddle_mps.{module.rpartition('.')[2]}"
    text = f"c{former}\n{FORMER[module]}\n.".encode()
    assert pickle.loads(text) is getattr(sys.modules[f"paddle_mps.{module}"], FORMER[module])
    program = f"import pickle; print(pickle.loads({text!r}).__name__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [FORMER[module]]
