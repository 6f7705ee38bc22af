"""What a launch asks of each argument: its type, and what of its value the kernel is compiled for.

The answers are pairs: the type as a signature has it ("*fp32", "i32", "constexpr"), and a key, None, "D" (16 divides it)
or the value of a constant.
"""

from __future__ import annotations

import contextlib
from typing import Any

# Names of dtypes as tensors give them, and in signatures.
SHORT = {
    "bool": "u1",
    "int1": "u1",
    "i1": "u1",
    "float8e4nv": "fp8e4nv",
    "float8e5": "fp8e5",
    "float8e4b15": "fp8e4b15",
    "float8_e4m3fn": "fp8e4nv",
    "float8e4b8": "fp8e4b8",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2": "fp8e5",
    "float8e5b16": "fp8e5b16",
    "float8_e5m2fnuz": "fp8e5b16",
    "half": "fp16",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float": "fp32",
    "float32": "fp32",
    "double": "fp64",
    "float64": "fp64",
} | {f"{'u' * u}int{n}": f"{'u' if u else 'i'}{n}" for u in (0, 1) for n in (8, 16, 32, 64)}
KNOWN = frozenset(SHORT.values())
names: dict[Any, str] = {}  # by dtype, most of which are few objects


def short(dtype: Any) -> str:
    """The name of a dtype in signatures.

    Raises:
        KeyError: there is none.
    """
    try:
        return names[dtype]
    except (KeyError, TypeError):
        pass
    text = str(dtype).rsplit(".", 1)[-1]
    made = text if text in KNOWN else SHORT[text]
    with contextlib.suppress(TypeError):  # not hashable
        names[dtype] = made
    return made


def integer(backend: Any, value: int, specialize: bool, align: bool) -> tuple[Any, Any]:
    if specialize and value == 1:
        return "constexpr", 1
    kind = "i32" if -(1 << 31) <= value < 1 << 31 else "u64" if value >= 1 << 63 else "i64"
    return kind, backend.get_int_specialization(value, align=align) if specialize else None


def pointer(backend: Any, value: Any, const: bool, specialize: bool, align: bool) -> tuple[Any, Any]:
    kind = ("*k" if const else "*") + short(value.dtype)
    if not specialize:
        return kind, None
    if getattr(backend, "supports_native_tensor_specialization", True):
        return kind, "D" if align and value.data_ptr() % 16 == 0 else ""
    return kind, backend.get_tensor_specialization(value, align=align)


def native_specialize_impl(
    backend: Any, value: Any, is_const: bool, specialize_value: bool, align: bool
) -> tuple[Any, Any]:
    """The type and key of an argument.

    Raises:
        TypeError: it is nothing that a kernel takes.
    """
    exact = type(value)
    if exact is int:
        return integer(backend, value, specialize_value, align)
    if value is None:
        return "constexpr", None
    if exact is bool:
        return "u1", None
    if exact is float:
        return "fp32", None
    if hasattr(value, "data_ptr"):
        return pointer(backend, value, is_const, specialize_value, align)
    if isinstance(value, tuple):
        pairs = [native_specialize_impl(backend, v, False, True, True) for v in value]  # whatever its parameter says
        kinds, keys = [kind for kind, _ in pairs], [key for _, key in pairs]
        if hasattr(value, "_fields"):
            return exact(*kinds), exact(*keys)
        return tuple(kinds), tuple(keys)
    return other(backend, value, is_const, specialize_value, align)


def other(backend: Any, value: Any, is_const: bool, specialize: bool, align: bool) -> tuple[Any, Any]:
    """Arguments that are objects of Triton's own, whose modules import this one."""
    from triton.language.core import constexpr
    from triton.runtime.jit import JITCallable
    from triton.tools.tensor_descriptor import TensorDescriptor

    if isinstance(value, TensorDescriptor):
        return f"tensordesc<{short(value.base.dtype)}{list(value.block_shape)}>", None
    if isinstance(value, JITCallable):
        return "constexpr", value.cache_key
    if isinstance(value, constexpr):
        return "constexpr", value
    if isinstance(value, bool):
        return "u1", None
    if isinstance(value, int):
        return integer(backend, int(value), specialize, align)
    if isinstance(value, float):
        return "fp32", None
    raise TypeError(f"failed to specialize argument of type: {type(value).__name__}")


def make_tensordesc_args(*given: Any) -> Any:
    """Of launchers that take descriptors whole; ours takes their parts."""
    raise NotImplementedError("tensor descriptors are lowered to pointers: see paddle_mps_triton")
