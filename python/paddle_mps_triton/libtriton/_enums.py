"""The words that operations are printed with, under the names by which Triton's Python files ask for them."""

from __future__ import annotations

import enum


class CacheModifier(enum.Enum):
    NONE = "none"
    CA = "ca"
    CG = "cg"
    CS = "cs"
    CV = "cv"
    WB = "wb"
    WT = "wt"


class EvictionPolicy(enum.Enum):
    NORMAL = "evict_normal"
    EVICT_FIRST = "evict_first"
    EVICT_LAST = "evict_last"


class Padding(enum.Enum):
    PAD_ZERO = 1
    PAD_NAN = 2


class Order(enum.Enum):
    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQUIRE_RELEASE = "acq_rel"


class Scope(enum.Enum):
    CTA = "cta"
    GPU = "gpu"
    SYSTEM = "sys"


class Atomic(enum.Enum):
    ADD = "add"
    FADD = "fadd"
    AND = "and"
    OR = "or"
    XOR = "xor"
    XCHG = "exch"
    MAX = "max"
    MIN = "min"
    UMAX = "umax"
    UMIN = "umin"


class DescriptorReduce(enum.Enum):
    ADD = "add"
    MIN = "min"
    MAX = "max"
    INC = "inc"
    DEC = "dec"
    AND = "and"
    OR = "or"
    XOR = "xor"


class Rounding(enum.Enum):
    RTZ = "rtz"
    RTNE = "rtne"


class PropagateNan(enum.IntEnum):
    NONE = 0
    ALL = 0xFFFF


class InputPrecision(enum.Enum):
    IEEE = "ieee"
    TF32 = "tf32"
    TF32x3 = "tf32x3"
    BF16x3 = "bf16x3"
    BF16x6 = "bf16x6"


class ScaledType(enum.Enum):
    E4M3 = "e4m3"
    E5M2 = "e5m2"
    E2M3 = "e2m3"
    E3M2 = "e3m2"
    E2M1 = "e2m1"
    BF16 = "bf16"
    FP16 = "fp16"
