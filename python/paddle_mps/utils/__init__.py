"""paddle.utils: `dlpack`, and checks of what is installed."""

from . import dlpack, unique_name
from ._checks import deprecated, require_version, run_check, try_import

__all__ = ["deprecated", "dlpack", "require_version", "run_check", "try_import", "unique_name"]
