"""paddle.incubate: of it, `autograd`."""

from __future__ import annotations

from . import autograd

__all__ = ["autograd"]
