"""What a launch may set beside its arguments, and what each setting does here."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from typing import Any

TARGET = "paddle-mps"  # GPUTarget.backend: unique among plug-ins
WARP = 32  # threads of a SIMD group
MAX_WARPS = 32  # 1,024 threads a threadgroup
MAX_SHARED = 32 << 10  # bytes of threadgroup memory


@dataclass(frozen=True)
class Options:
    """Options of a kernel; a field each, because Triton refuses a keyword that is none."""

    # Honoured.
    num_warps: int = 4
    debug: bool = False
    enable_fp_fusion: bool = True  # False: a product and a sum round separately
    allow_f64_as_f32: bool = False  # float64 is computed and stored as float32
    max_threads: int = 1024  # of a threadgroup; OutOfResources beyond
    shared_memory: int = MAX_SHARED  # bytes of threadgroup memory; OutOfResources beyond
    # Accepted without effect: they tune hardware of other makers.
    num_stages: int = 1
    maxnreg: Any = None
    matrix_instr_nonkdim: int = 0
    waves_per_eu: int = 0
    kpack: int = 1
    schedule_hint: str = ""
    launch_pdl: bool = False
    ir_override: Any = None
    extern_libs: Any = None
    # Refused unless they have the value given here.
    num_ctas: int = 1
    cluster_dims: tuple[int, ...] = (1, 1, 1)
    launch_cooperative_grid: bool = False
    warp_size: int = WARP
    instrumentation_mode: str = ""
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

    def hash(self) -> str:
        """Part of the key under which Triton keeps a compiled kernel on disk."""
        return hashlib.sha256(repr(self).encode()).hexdigest()


FIELDS = frozenset(f.name for f in fields(Options))
REFUSED = ("num_ctas", "cluster_dims", "launch_cooperative_grid", "warp_size", "instrumentation_mode")


def parse(given: dict[str, Any]) -> Options:
    return Options(**{k: v for k, v in given.items() if k in FIELDS and v is not None})
