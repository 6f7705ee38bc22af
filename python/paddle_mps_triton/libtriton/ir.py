"""`triton._C.libtriton.ir`: the names that Triton's Python files use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._builder import Builder
from ._enums import Atomic as ATOMIC_OP
from ._enums import CacheModifier as CACHE_MODIFIER
from ._enums import DescriptorReduce as DESCRIPTOR_REDUCE_KIND
from ._enums import EvictionPolicy as EVICTION_POLICY
from ._enums import InputPrecision as INPUT_PRECISION
from ._enums import Order as MEM_SEMANTIC
from ._enums import Padding as PADDING_OPTION
from ._enums import PropagateNan as PROPAGATE_NAN
from ._enums import Rounding as ROUNDING_MODE
from ._enums import ScaledType as ScaleDotElemTypeTY
from ._enums import Scope as MEM_SYNC_SCOPE
from ._objects import Block as block
from ._objects import BlockArgument as block_argument
from ._objects import Function as function
from ._objects import FunctionType as function_type
from ._objects import Location as location
from ._objects import Module as module
from ._objects import Operation as OpState
from ._objects import Operation as operation
from ._objects import Region as region
from ._objects import Type as type
from ._objects import Value as value

__all__ = [
    "ATOMIC_OP",
    "CACHE_MODIFIER",
    "DESCRIPTOR_REDUCE_KIND",
    "EVICTION_POLICY",
    "INPUT_PRECISION",
    "MEM_SEMANTIC",
    "MEM_SYNC_SCOPE",
    "PADDING_OPTION",
    "PROPAGATE_NAN",
    "ROUNDING_MODE",
    "GluonOpBuilder",
    "InsertPoint",
    "OpState",
    "ScaleDotElemTypeTY",
    "attribute",
    "block",
    "block_argument",
    "block_type",
    "builder",
    "context",
    "deduce_scale_factor",
    "function",
    "function_type",
    "load_dialects",
    "location",
    "make_attr",
    "module",
    "operation",
    "parse_mlir_module",
    "pass_manager",
    "pointer_type",
    "region",
    "type",
    "value",
]

builder = Builder
block_type = pointer_type = type
InsertPoint = tuple[block, operation]
Loc = location
attribute = str
GluonOpBuilder = None  # kernels written in Gluon are for other GPUs


class context:
    """What types live in; here they live anywhere."""

    def printOpOnDiagnostic(self, value: bool) -> None:
        """Diagnostics are the library's."""

    def printStackTraceOnDiagnostic(self, value: bool) -> None:
        """Diagnostics are the library's."""


class pass_manager:
    """Runs nothing: the library does what passes would."""

    def __init__(self, context: Any = None):
        pass

    def enable_debug(self) -> None:
        """There is nothing to debug."""

    def run(self, module: Any, name: str = "") -> None:
        """The module stays as it is."""


def load_dialects(context: Any) -> None:
    """Operations need not be loaded."""


def make_attr(values: Sequence[int], context: Any) -> str:
    """Integers as an attribute: of tl.multiple_of and its like."""
    texts = [str(int(v)) for v in values]
    inner = texts[0] if len(set(texts)) == 1 else f"[{', '.join(texts)}]"
    return f"dense<{inner}> : tensor<{len(texts)}xi32>"


def deduce_scale_factor(*shapes: Any) -> int:
    """Of tl.dot_scaled, which is refused when the kernel is compiled."""
    return 32


def parse_mlir_module(path: str, context: Any) -> module:
    raise NotImplementedError(
        f"{path}: this Triton has no parser of its IR; `paddle-mps triton compile {path}` compiles it, without Python"
    )
