"""paddle.nn: layers, and the functions that they call in `functional`."""

from .._layers._activations import *  # noqa: F403
from .._layers._clipping import *  # noqa: F403
from .._layers._containers import *  # noqa: F403
from .._layers._convolutions import *  # noqa: F403
from .._layers._decoding import *  # noqa: F403
from .._layers._dropouts import *  # noqa: F403
from .._layers._layer import Layer as Layer
from .._layers._losses import *  # noqa: F403
from .._layers._norms import *  # noqa: F403
from .._layers._pads import *  # noqa: F403
from .._layers._parameter import Parameter as Parameter
from .._layers._pools import *  # noqa: F403
from .._layers._products import *  # noqa: F403
from .._layers._recurrent import *  # noqa: F403
from .._layers._shapes import *  # noqa: F403
from .._layers._transformer import *  # noqa: F403
from . import functional as functional
from . import initializer as initializer
from . import utils as utils

Module = Layer

__all__ = [name for name in dir() if not name.startswith("_")]
