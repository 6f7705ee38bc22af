"""Defects that are planted in compiled kernels, to see that the corpus notices them.

The fifteen were chosen from what compilers of this kind get wrong, before it was known which cases notice which. A defect
is a rule that is wrong wherever it applies: a change of the Triton IR before it is compiled, as if two rules were mixed
up, or of the Metal source behind. Nothing of it is in the compiler.

    python tests/triton/planted.py DEFECT [MOST]

runs the cases in whose text the defect shows, and prints the verdict on each as JSON: "pass" means that the case has not
noticed. With a number it ends when one has noticed, or after that many that compile. build.sh's on_mock has the environment.
"""

from __future__ import annotations

import importlib
import json
import pathlib
import re
import sys
from dataclasses import dataclass
from typing import Any

import corpus

run: Any = importlib.import_module("run")  # beside this, which checkers of types take for another one

IR = pathlib.Path(__file__).resolve().parent / "ttir" / "3.9.0"
BARRIER = r" *threadgroup_barrier\(mem_flags::{}\);.*\n"


@dataclass
class Defect:
    """A wrong rule: what a pattern matches is replaced, everywhere or in the first places."""

    name: str
    pattern: str
    replacement: str
    count: int = 0  # 0: everywhere
    ir: bool = False  # in the Triton IR, not in the Metal source

    def plant(self, text: str) -> str:
        return re.sub(self.pattern, self.replacement, text, count=self.count, flags=re.M)


DEFECTS = {
    d.name: d
    for d in [
        Defect("a barrier dropped", BARRIER.format("mem_threadgroup"), "", count=1),
        Defect("a barrier of device memory dropped", BARRIER.format(r"mem_device \| mem_flags::mem_threadgroup"), ""),
        Defect("a shuffle off by one", r"(simd_shuffle_xor\(.*, ushort\()16\)", r"\g<1>17)"),
        Defect("a scan from the wrong side", "simd_shuffle_up", "simd_shuffle_down"),
        Defect("a sign lost in a wider type", r"arith\.extsi", "arith.extui", ir=True),
        Defect("a sign lost in a shift", r"arith\.shrsi", "arith.shrui", ir=True),
        Defect("a mask ignored at a store", r"^( *)if \(\w+(\[\w+\])?\) (\w+\[.*\] = )", r"\1\3"),
        Defect("a mask ignored at a load", r"= \w+(\[\w+\])? \? (\w+\[.*\]) : [^;]*;", r"= \2;"),
        Defect("a reduction's identity wrong", r"\(-INFINITY\)", "0.0f"),
        Defect("a reduction without its last SIMD group", r"k < (\d+)(; k\+\+\) \{\n.*shared)", r"k < \1 - 1\2"),
        Defect("every thread an owner", r"if \(lane == 0 && warp == 0\)", "if (true)"),
        Defect("bfloat16 not rounded", r"\(u \+ 0x7fffu \+ \(u >> 16 & 1u\)\) >> 16", "u >> 16"),
        Defect("elements of a vector swapped", r"\.y;", ".z;"),
        Defect("areas of the pool that overlap", r"\(pool \+ \d+\)", "(pool + 0)"),
        Defect("a loop with one trip too many", r"(for \(int (\w+) = \w+; \2) < ", r"\1 <= "),
    ]
}


def source(name: str, options: dict[str, Any], defect: Defect | None) -> str:
    """The Metal source of a case; "" for one that is refused."""
    from paddle_mps import UnsupportedError
    from paddle_mps._commands._triton_tool import compiled

    text = (IR / f"{name}.ttir").read_text()
    if defect and defect.ir:
        text = defect.plant(text)
    try:
        made = compiled(text, name, options["num_warps"], bool(options.get("allow_f64_as_f32")))
    except (UnsupportedError, ValueError):
        return ""
    return made if defect is None or defect.ir else defect.plant(made)


def shows(defect: Defect) -> list[tuple[str, str]]:
    """Cases whose text has the defect, with that text: the shortest first."""
    found = []
    for name, options in json.loads((IR / "options.json").read_text()).items():
        text = source(name, options, defect)
        if text and text != source(name, options, None):
            found.append((name, text))
    return sorted(found, key=lambda item: (len(item[1]), item[0]))


def verdict(case: corpus.Case, text: str) -> str:
    """What the corpus says of a text for a case; "pass" if it finds nothing wrong."""
    from paddle_mps import mps
    from paddle_mps._kernels import _triton

    launch = case.run()
    try:
        program = _triton.Program(*_triton.unpack(text.encode()))
    except Exception as error:
        return f"{UNCOMPILED}: {str(error)[:200]}"
    try:
        prepared = dict(zip(launch.kernel.arg_names, [(*run.prepare(a), a) for a in launch.args]))
        x, y, z = (*launch.grid, 1, 1)[:3]
        values = [prepared[p["name"]][0] for p in program.params]
        values = [v.base if hasattr(v, "base") else v for v in values]  # of triton.reinterpret
        program.run(x, y, z, values)
        mps.synchronize()
        for _, whole, argument in prepared.values():
            if isinstance(argument, corpus.Out) and (said := run.difference(argument, whole)):
                return f"wrong: {said}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return "pass"


UNCOMPILED, UNENDED = "it does not compile", "it does not end"


def detected(said: str) -> bool:
    """Whether a verdict says that a result was wrong, or that the device has noticed a fault of the kernel. A text that does
    not compile and a case that does not end say nothing about results."""
    return said != "pass" and not said.startswith((UNCOMPILED, UNENDED))


def main() -> int:
    defect, most = DEFECTS[sys.argv[1]], int(sys.argv[2]) if sys.argv[2:] else None
    cases = corpus.load()
    for name, text in shows(defect):
        print(json.dumps([name, "started"]), flush=True)
        said = verdict(cases[name], text)
        print(json.dumps([name, said]), flush=True)
        if most is not None:
            most -= not said.startswith(UNCOMPILED)
            if detected(said) or most == 0:
                break
    return 0


if __name__ == "__main__":
    sys.exit(main())
