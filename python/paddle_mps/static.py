"""paddle.static: only `InputSpec`. There is no static graph mode; `paddle.jit` makes programs of functions."""

from .jit import InputSpec

__all__ = ["InputSpec"]
