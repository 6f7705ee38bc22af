"""paddle.utils: only `dlpack`."""

from . import dlpack

__all__ = ["dlpack"]
