"""Reads a JSON object of Python sources by path, and writes which of its modules each one imports.

Imports within functions count, because they can hide a cycle. Those under `if TYPE_CHECKING` never run;
they count only in the second of the two answers, "typed".
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator


def module_of(path: str) -> str:
    """`paddle_mps/nn/__init__.py` is `paddle_mps.nn`."""
    return path[: -len(".py")].replace("/", ".").replace(".__init__", "")


def statements(node: ast.AST, typed: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements below a node, with or without those for type checkers."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        elif not typed and isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield from statements(other, typed)
        else:
            yield from statements(child, typed)


def targets(found: ast.Import | ast.ImportFrom, package: str) -> Iterator[str]:
    """What a statement may import, the module before what is taken from it."""
    if isinstance(found, ast.Import):
        yield from (name.name for name in found.names)
        return
    parts = package.split(".")
    base = ".".join(parts[: len(parts) - found.level + 1]) if found.level else ""
    base = ".".join(filter(None, (base, found.module)))
    for name in found.names:
        yield f"{base}.{name.name}"
    yield base


def imported(path: str, text: str, modules: set[str], typed: bool) -> list[str]:
    """The modules that a file imports. `from . import x` is the module x, not the package, if there is one."""
    package = module_of(path) if path.endswith("__init__.py") else module_of(path).rpartition(".")[0]
    found = set()
    for statement in statements(ast.parse(text), typed):
        names = list(targets(statement, package))
        taken = [name for name in names if name in modules]
        if isinstance(statement, ast.ImportFrom) and len(taken) == len(names):
            taken = taken[:-1]  # everything that is named is a module, so nothing is taken from the base
        found.update(taken)
    return sorted(found - {module_of(path)})


def main() -> None:
    sources: dict[str, str] = json.load(sys.stdin)
    modules = {module_of(path) for path in sources}
    answer = {
        kind: {module_of(path): imported(path, text, modules, kind == "typed") for path, text in sources.items()}
        for kind in ("run", "typed")
    }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
