"""paddle.version: the version of PaddlePaddle whose API this package follows. Its own is `paddle_mps.__version__`."""

from __future__ import annotations

from ._version import __version__

full_version = "3.3.1"
major, minor, patch = full_version.split(".")
rc = "0"
hip = None  # the package does not use ROCm


def cuda() -> str:
    """ "False": the package does not use CUDA."""
    return "False"


def cudnn() -> str:
    """ "False": the package does not use cuDNN."""
    return "False"


def nccl() -> str:
    """ "0": the package does not use NCCL."""
    return "0"


def xpu() -> str:
    """ "False": the package does not use Kunlun's devices."""
    return "False"


xpu_xre = xpu_xccl = xpu_xhpc = xpu


def cinn() -> str:
    """ "False": the package does not use Paddle's compiler."""
    return "False"


def mkl() -> str:
    """ "OFF": the package does not use MKL."""
    return "OFF"


def tensorrt() -> str:
    """ "None": the package does not use TensorRT."""
    return "None"


def cuda_archs() -> list[int]:
    """An empty list: the package does not use CUDA."""
    return []


def show() -> None:
    """Prints the versions of PaddlePaddle's API and of this package."""
    print(f"full_version: {full_version}\nmajor: {major}\nminor: {minor}\npatch: {patch}\nrc: {rc}")
    print(f"paddle_mps: {__version__}")


__all__ = [
    "cuda",
    "cuda_archs",
    "cudnn",
    "hip",
    "nccl",
    "show",
    "tensorrt",
    "xpu",
    "xpu_xccl",
    "xpu_xhpc",
    "xpu_xre",
]
