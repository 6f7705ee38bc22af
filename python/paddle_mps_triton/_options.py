"""What a launch may set beside its arguments, and what each setting does here."""

from __future__ import annotations

import hashlib
from typing import Any

TARGET = "paddle-mps"  # GPUTarget.backend: unique among plug-ins
WARP = 32  # threads of a SIMD group
MAX_WARPS = 32  # 1,024 threads a threadgroup
MAX_THREADS = MAX_WARPS * WARP
MAX_SHARED = 32 << 10  # bytes of threadgroup memory


class Options:
    """Options of a kernel: an attribute of the object each, because Triton refuses a keyword that is none.

    No dataclass: making one takes as long as importing the rest of the plug-in.
    """

    # Honoured.
    num_warps: int = 4
    debug: bool = False  # tl.device_assert is checked
    enable_fp_fusion: bool = True  # False: a product and a sum round separately
    allow_f64_as_f32: bool = False  # float64 is computed as float32
    max_threads: int = MAX_THREADS  # of a threadgroup; OutOfResources beyond
    shared_memory: int = MAX_SHARED  # bytes of threadgroup memory; OutOfResources beyond
    # Accepted without effect: they tune hardware of other makers.
    num_stages: int = 1
    maxnreg: Any = None
    matrix_instr_nonkdim: int = 0
    waves_per_eu: int = 0
    kpack: int = 1
    schedule_hint: str = ""
    launch_pdl: bool = False
    extern_libs: Any = None
    # Refused unless they have the value given here.
    num_ctas: int = 1
    cluster_dims: tuple[int, ...] = (1, 1, 1)
    launch_cooperative_grid: bool = False
    warp_size: int = WARP
    instrumentation_mode: str = ""
    ir_override: Any = None
    # Read by Triton's front end.
    backend_name: str = TARGET
    arch: str = "metal"
    sanitize_overflow: bool = False
    fpsan_homomorphic_casts: bool = False
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4nv", "fp8e5")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default: int = 0

    def __init__(self, **given: Any) -> None:
        self.__dict__.update({name: getattr(Options, name) for name in Options.__annotations__} | given)

    def __repr__(self) -> str:
        """Part of the key under which Triton keeps a compiled kernel in the process."""
        return f"Options({self.__dict__})"

    def hash(self) -> str:
        """Part of the key under which Triton keeps a compiled kernel on disk."""
        return hashlib.sha256(repr(self).encode()).hexdigest()


FIELDS = frozenset(Options.__annotations__)
ACCEPTED = (
    "num_stages",
    "maxnreg",
    "matrix_instr_nonkdim",
    "waves_per_eu",
    "kpack",
    "schedule_hint",
    "launch_pdl",
    "extern_libs",
)
REFUSED = {name: getattr(Options, name) for name in
           ("num_ctas", "cluster_dims", "launch_cooperative_grid", "warp_size", "instrumentation_mode", "ir_override")}  # fmt: skip
CONFIGURED = {"num_warps": MAX_WARPS, "num_stages": None, "max_threads": MAX_THREADS, "shared_memory": MAX_SHARED}

defaults: dict[str, int] = {}  # what set_kernel_config has set


def configure(**given: int | None) -> None:
    """Sets defaults and limits of all kernels that are compiled from now on; None leaves one alone.

    Raises:
        ValueError: a value is beyond what the hardware has, or no number from 1.
    """
    for name, value in given.items():
        limit = CONFIGURED[name]
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1 or (limit is not None and value > limit):
            raise ValueError(f"[set_kernel_config] {name} is {value!r}; want 1 to {limit or 'any number'}")
        if name == "num_warps" and value & (value - 1):
            raise ValueError(f"[set_kernel_config] num_warps is {value}; want a power of 2")
    defaults.update({name: value for name, value in given.items() if value is not None})


def parse(given: dict[str, Any]) -> Options:
    """The options of a launch. Keywords that are parameters of the kernel are not looked at.

    Raises:
        UnsupportedError: an option has a value that Apple's GPUs have no counterpart for.
    """
    own = {name: value for name, value in given.items() if name in FIELDS and value is not None}
    for name, only in REFUSED.items():
        if name in own and own[name] not in (only, "" if only is None else only):
            value = tuple(own[name]) if isinstance(own[name], list) else own[name]
            if value != only:
                raise unsupported(f"{name}={own[name]!r}; want {only!r}, which is all that Metal has")
    options = Options(**{**defaults, **own})
    warps = options.num_warps
    if warps < 1 or warps & (warps - 1):
        raise unsupported(f"num_warps={warps}; want a power of 2 from 1 to {MAX_WARPS}")
    if isinstance(options.cluster_dims, list):
        options = Options(**{**options.__dict__, "cluster_dims": tuple(options.cluster_dims)})
    return options


def unsupported(words: str) -> Exception:
    """An UnsupportedError; it takes the library of paddle-mps to make one."""
    from paddle_mps import UnsupportedError

    return UnsupportedError(f"[triton] {words}")
