"""paddle.utils.unique_name: numbered names of layers and parameters."""

from .._layers._names import generate, guard, switch

__all__ = ["generate", "guard", "switch"]
