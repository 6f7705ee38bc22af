"""install: lets `import paddle` give this package, so that programs for PaddlePaddle run unchanged. And the same for other
packages: see paddle_mps.onnxruntime."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from . import version

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # importing the abstract class takes longer than half of this package

PACKAGE = __name__.partition(".")[0]


def install() -> None:
    """Makes `import paddle`, `import paddle.nn.functional` and the like give paddle_mps and its modules.

    It must run before the program imports paddle. Calling it again does nothing. `python -m paddle_mps script.py`
    does this from outside. `paddle` is a module with the contents of paddle_mps, and with the `__version__` of the PaddlePaddle that this
    package follows, which programs compare with; `paddle_mps.__version__` is our own.

    Raises:
        RuntimeError: PaddlePaddle itself is already imported.
    """
    alias("paddle", PACKAGE, version.full_version)


def alias(theirs: str, ours: str, version: str = "") -> None:
    """Makes the name of a package of others that of a package of ours, with its modules. Calling it again does nothing.

    Args:
        version: of the package of others, if it is another one than that of ours.

    Raises:
        RuntimeError: the package of others is already imported.
    """
    package = sys.modules[ours]
    finder = next((f for f in sys.meta_path if isinstance(f, Alias) and f.theirs == theirs), None)
    if finder is not None and sys.modules.get(theirs) is finder.package:
        return
    found = sys.modules.get(theirs, package)
    if found is not package:
        file = getattr(found, "__file__", None)
        raise RuntimeError(
            f"[install] {theirs} is already imported, from {file}; want install() before `import {theirs}`"
        )
    if version:
        package = ModuleType(ours, package.__doc__)
        vars(package).update(vars(sys.modules[ours]), __version__=version)
    sys.modules[theirs] = package
    for name, module in list(sys.modules.items()):
        if name.startswith(ours + "."):
            sys.modules[theirs + name[len(ours) :]] = module
    if finder is not None:
        sys.meta_path.remove(finder)
    sys.meta_path.insert(0, Alias(theirs, ours, package))


class Alias(Loader):
    """Imports modules of a package of others as those of ours: both names give one module.

    Attributes:
        package: what the name of the package of others gives.
    """

    def __init__(self, theirs: str, ours: str, package: ModuleType) -> None:
        self.theirs, self.ours, self.package = theirs, ours, package

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, rest = fullname.partition(".")
        if package != self.theirs or not rest or sys.modules.get(self.theirs) is not self.package:
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.ours + spec.name[len(self.theirs) :])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Gives the module its own spec again, which the import of another name has replaced."""
        spec = module.__spec__
        if spec is not None and spec.loader is self:
            module.__spec__ = spec.loader_state


__all__ = ["install"]
