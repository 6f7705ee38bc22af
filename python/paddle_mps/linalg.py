"""paddle.linalg: norms, products, statistics and factorisations of matrices; see `_linalg`."""

from ._matrices import _factorizations, _linalg, _matrix_functions
from ._matrices._factorizations import *  # noqa: F403
from ._matrices._linalg import *  # noqa: F403
from ._matrices._matrix_functions import *  # noqa: F403

__all__: list[str] = []
__all__ += _factorizations.__all__
__all__ += _matrix_functions.__all__
__all__ += [name for name in _linalg.__all__ if name not in __all__]
