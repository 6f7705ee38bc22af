"""The public functions of all families: what each lists in its `__all__`. Nothing else is public."""

from .._maths._ops import tanh as tanh
from .._maths._ops import tanh_ as tanh_
from ._activation import *  # noqa: F403
from ._attention import *  # noqa: F403
from ._classification import *  # noqa: F403
from ._conv import *  # noqa: F403
from ._dropout import *  # noqa: F403
from ._embedding import *  # noqa: F403
from ._fractional import *  # noqa: F403
from ._generated import *  # noqa: F403
from ._hierarchy import *  # noqa: F403
from ._layout import *  # noqa: F403
from ._losses import *  # noqa: F403
from ._margins import *  # noqa: F403
from ._mixing import *  # noqa: F403
from ._normalization import *  # noqa: F403
from ._patches import *  # noqa: F403
from ._plain import *  # noqa: F403
from ._pool import *  # noqa: F403
from ._resize import *  # noqa: F403
from ._sequences import *  # noqa: F403
from ._similarity import *  # noqa: F403
from ._transducer import *  # noqa: F403
