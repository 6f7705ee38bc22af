"""The text of a compiled kernel as CUDA C++: words are mapped one by one, and nothing is moved or left out.

| Metal | CUDA |
|---|---|
| `device`, `thread`, `constant` | nothing: pointers say no address space |
| `threadgroup T x[n]` | `__shared__ T x[n]`; of pointers, nothing |
| `constant T &x [[buffer(i)]]` | `const T x`, by value |
| attributes of a position | `blockIdx`, `gridDim`, `threadIdx` |
| `[[max_total_threads_per_threadgroup(n)]]` | `__launch_bounds__(n)` |
| `float4` and other vectors | `vec4<float>` of metal.h |
| `for (ushort ...)`, a loop over registers | the same with `#pragma unroll`: nvcc keeps an array in registers only then |
"""

from __future__ import annotations

import json
import re
from typing import Any

POSITIONS = """
    const vec3<uint> program(blockIdx.x, blockIdx.y, blockIdx.z), programs(gridDim.x, gridDim.y, gridDim.z);
    const uint lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
"""
SCALARS = "bool|half|float|u?char|u?short|u?int|u?long"


def metadata(source: str) -> dict[str, Any]:
    """What the first line of a compiled kernel says of it."""
    found: dict[str, Any] = json.loads(source.partition("\n")[0].removeprefix("// "))
    return found


def parameter(text: str) -> str:
    """A parameter of the kernel; "" for a position, which CUDA has as a variable."""
    text, _, attribute = text.strip().partition(" [[")
    if not attribute.startswith("buffer("):
        return ""
    return re.sub(r"^constant (\w+) &", r"const \1 ", text) if text.startswith("constant") else text


def cuda(source: str) -> str:
    """The kernel in CUDA C++.

    Raises:
        ValueError: a word of Metal's is left that nothing here maps.
    """
    head, _, text = source.partition("\n")
    text = text.replace("#include <metal_stdlib>\nusing namespace metal;\n", '#include "metal.h"\n')
    signature = re.search(
        r"\[\[max_total_threads_per_threadgroup\((\d+)\)\]\]\nkernel void (\w+)\((.*?)\) \{\n", text, re.S
    )
    if signature is None:
        raise ValueError(f"no kernel in a file that begins with {head[:40]!r}")
    threads, name, parameters = signature.groups()
    kept = [p for p in map(parameter, parameters.split(",\n")) if p]
    declared = f'extern "C" __global__ void __launch_bounds__({threads}) {name}(\n    ' + ",\n    ".join(kept) + ") {"
    text = text[: signature.start()] + declared + POSITIONS + text[signature.end() :]
    text = re.sub(r"\bthreadgroup (\w+ \w+\[)", r"__shared__ \1", text)
    text = re.sub(r"\b(device|thread|threadgroup|constant) ", "", text)
    text = re.sub(rf"\b({SCALARS})([234])\b", r"vec\2<\1>", text)
    text = re.sub(r"^inline ", "__device__ inline ", text, flags=re.M)
    text = re.sub(r"^( *)for \(ushort ", r"\1#pragma unroll\n\1for (ushort ", text, flags=re.M)
    if left := re.search(r"\[\[\w+|\b(device|threadgroup|kernel|metal)\b(?!\.h)", text):
        raise ValueError(f"{name}: {left[0]!r} has no counterpart here")
    return head + "\n" + text
