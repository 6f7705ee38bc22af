"""paddle.nn: for now the functions of paddle.nn.functional."""

from . import functional

__all__ = ["functional"]
