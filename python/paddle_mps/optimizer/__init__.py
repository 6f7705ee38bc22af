"""paddle.optimizer: of it, the schedulers of learning rates in `lr`."""

from __future__ import annotations

from . import lr

__all__ = ["lr"]
