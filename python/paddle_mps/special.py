"""paddle.special: functions of paddle under the names of another namespace. `softmax` is that of `paddle`, not of `nn.functional`."""

from __future__ import annotations

from ._maths._arithmetic import softmax
from ._maths._ops import expm1
from ._matrices._statistics import logsumexp

__all__ = ["expm1", "logsumexp", "softmax"]
