"""paddle.fft: discrete Fourier transforms on the CPU; see `_fft`, whose text on `norm`, `out` and places holds here."""

from ._maths import _fft
from ._maths._fft import *  # noqa: F403

__all__: list[str] = []
__all__ += _fft.__all__
