"""install: lets `import paddle` give this package, so that programs for PaddlePaddle run unchanged."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # importing the abstract class takes longer than half of this package

PACKAGE = __name__.partition(".")[0]
THEIRS = "paddle"


def install() -> None:
    """Makes `import paddle`, `import paddle.nn.functional` and the like give paddle_mps and its modules.

    It must run before the program imports paddle. Calling it again does nothing. `python -m paddle_mps script.py`
    does this from outside.

    Raises:
        RuntimeError: PaddlePaddle itself is already imported.
    """
    package = sys.modules[PACKAGE]
    found = sys.modules.get(THEIRS, package)
    if found is not package:
        file = getattr(found, "__file__", None)
        raise RuntimeError(f"[install] paddle is already imported, from {file}; want install() before `import paddle`")
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == PACKAGE:
            sys.modules[THEIRS + name[len(PACKAGE) :]] = module
    if not any(isinstance(finder, Alias) for finder in sys.meta_path):
        sys.meta_path.insert(0, Alias())


class Alias(Loader):
    """Imports paddle.X as paddle_mps.X: both names give one module."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, rest = fullname.partition(".")
        if package != THEIRS or not rest or sys.modules.get(THEIRS) is not sys.modules[PACKAGE]:
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(PACKAGE + spec.name[len(THEIRS) :])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Gives the module its own spec again, which the import of another name has replaced."""
        spec = module.__spec__
        if spec is not None and spec.loader is self:
            module.__spec__ = spec.loader_state


__all__ = ["install"]
