"""onnxruntime's interface to the models of this package.

    import paddle_mps.onnxruntime as ort

    session = ort.InferenceSession("model.onnx", providers=["MPSExecutionProvider", "CPUExecutionProvider"])
    (y,) = session.run(None, {"x": x})

Names, arguments, results and errors are onnxruntime's. Programs that import onnxruntime run unchanged after `install()`, or
as `python -m paddle_mps --onnxruntime script.py`. docs/onnx.md lists what is different, and which options have no effect.
"""

from __future__ import annotations

from typing import Any

from .. import _install
from .._devices._random import seed as _seed
from .._version import __version__ as paddle_mps_version
from . import capi
from ._binding import IOBinding
from ._model import ModelMetadata, NodeArg
from ._options import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions
from ._providers import force as _force
from ._providers import get_all_providers, get_available_providers, get_device
from ._session import InferenceSession
from ._values import OrtDevice, OrtValue

__version__ = "1.31.1"  # the version of onnxruntime with which this interface was compared

__all__ = [
    "ExecutionMode",
    "ExecutionOrder",
    "GraphOptimizationLevel",
    "IOBinding",
    "InferenceSession",
    "ModelMetadata",
    "NodeArg",
    "OrtDevice",
    "OrtValue",
    "RunOptions",
    "SessionIOBinding",
    "SessionOptions",
    "capi",
    "disable_telemetry_events",
    "enable_telemetry_events",
    "get_all_providers",
    "get_available_providers",
    "get_build_info",
    "get_device",
    "get_version_string",
    "has_collective_ops",
    "install",
    "paddle_mps_version",
    "preload_dlls",
    "set_default_logger_severity",
    "set_default_logger_verbosity",
    "set_seed",
]

SessionIOBinding = IOBinding


def install(provider: str | None = None) -> None:
    """Makes `import onnxruntime` and its modules give this one. It must run before the program imports onnxruntime.

    Args:
        provider: where all sessions run, whatever the program asks for: `MPSExecutionProvider` for programs that name only the
            CPU. None: as they ask.

    Raises:
        RuntimeError: onnxruntime itself is already imported.
        ValueError: the machine has no such provider.
    """
    _force(provider)
    _install.alias("onnxruntime", __name__)


def get_version_string() -> str:
    """The version of onnxruntime whose interface this is."""
    return __version__


def get_build_info() -> str:
    """What this is, for reports of problems."""
    return f"paddle_mps {paddle_mps_version} with the interface of onnxruntime {__version__}"


def set_default_logger_severity(severity: int) -> None:
    """Without effect: MPS_VERBOSE is about messages.

    Raises:
        RuntimeError: there is no such severity.
    """
    if severity not in range(5):
        raise RuntimeError("Invalid logging severity. 0:Verbose, 1:Info, 2:Warning, 3:Error, 4:Fatal")


def set_default_logger_verbosity(verbosity: int) -> None:
    """Without effect."""


def set_seed(seed: int) -> None:
    """Seeds the generators from which operators such as RandomNormal draw."""
    _seed(int(seed))


def disable_telemetry_events() -> None:
    """Does nothing: there is no telemetry."""


def enable_telemetry_events() -> None:
    """Does nothing: there is no telemetry."""


def has_collective_ops() -> bool:
    """False."""
    return False


def preload_dlls(cuda: bool = True, cudnn: bool = True, msvc: bool = True, directory: str | None = None) -> None:
    """Does nothing: there are no libraries to load."""


def __getattr__(name: str) -> Any:
    """Says what is missing, and where to read about it."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise AttributeError(f"module {__name__!r} has no {name}; docs/onnx.md lists what of onnxruntime is there")
