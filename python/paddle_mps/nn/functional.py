"""paddle.nn.functional: activation functions, layers, convolutions, pools and losses."""

from .._functional._all import *  # noqa: F403
from . import _flash_attention as flash_attention  # noqa: F401  # a submodule in Paddle, and not in __all__ there either

__all__ = [name for name in dir() if not name.startswith("_") and name != "flash_attention"]
