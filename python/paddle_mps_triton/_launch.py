"""Launches of compiled kernels: the plan of a signature is made once, and a launch is one call of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from paddle_mps._core._errors import exception
from paddle_mps._kernels import _triton


def program(file: bytes) -> _triton.Program:
    """The pipeline of what the last stage made."""
    source, metadata = _triton.unpack(file)
    return _triton.Program(source, metadata)


def launcher(source: Any, metadata: Any) -> Callable[..., None]:
    """Triton's launcher of one compiled kernel.

    A function is made for the signature, which takes each argument where it lies: a loop over arguments would cost more
    than all else. Tuples and descriptors, which are several arguments, take the loop.
    """
    kinds = list(source.signature.values())
    kept = [i for i, kind in enumerate(kinds) if kind != "constexpr"]
    if any(isinstance(kind, (tuple, list)) or str(kind).startswith("tensordesc") for kind in kinds):
        return nested(kinds, kept)
    packed = getattr(metadata, "packed", False)  # numbers are one argument behind the pointers
    pointers = [
        (n, i)
        for n, i in enumerate(i for i in kept if kinds[i].startswith("*") or not packed)
        if kinds[i].startswith("*")
    ]
    handles = "\n            ".join(f"words[{_triton.WORDS * n}] = a{i}._handle" for n, i in pointers)
    numbers = "".join(f", a{i}" for i in kept if not kinds[i].startswith("*"))
    text = f"""
def launch(x, y, z, stream, program, packed, launch, enter, leave{"".join(f", a{i}" for i in range(len(kinds)))}):
    if enter is not None:
        enter(launch)
    try:
        frame = program.pop()
    except IndexError:
        frame = program.frame()
    words = frame.words
    try:
            {handles or "pass"}
            program.pack(frame.memory, program.at, x * program.threads, y, z{numbers})
    except UNUSUAL:
        program.push(frame)
        program.unusual(x, y, z, [{", ".join(f"a{i}" for i in kept)}])
    else:
        error = program.start(frame.args, program.count, frame.grid, *program.rest)
        program.push(frame)
        if error:
            raise exception(error)
    if leave is not None:
        leave(launch)
"""
    made: dict[str, Any] = {"UNUSUAL": _triton.UNUSUAL, "exception": exception}
    exec(text, made)
    launch: Callable[..., None] = made["launch"]
    return launch


def nested(kinds: list[Any], kept: list[int]) -> Callable[..., None]:
    """The launcher of a kernel with arguments that are several."""

    def launch(
        x: int,
        y: int,
        z: int,
        stream: Any,
        program: _triton.Program,
        packed: Any,
        data: Any,
        enter: Any,
        leave: Any,
        *args: Any,
    ) -> None:
        if enter is not None:
            enter(data)
        program.run(x, y, z, [v for i in kept for v in flat(args[i], kinds[i])])
        if leave is not None:
            leave(data)

    return launch


def flat(value: Any, kind: Any) -> Iterator[Any]:
    """The arguments that one of Python's is for the compiled kernel: elements of tuples, parts of descriptors."""
    if isinstance(kind, (tuple, list)):
        for v, k in zip(value, kind):
            yield from flat(v, k)
    elif kind == "constexpr":
        return
    elif kind.startswith("tensordesc"):
        yield value.base
        yield from value.shape
        yield from value.strides
        yield value.padding == "nan"
        if hasattr(value, "round_f32_to_tf32"):  # since 3.7
            yield value.round_f32_to_tf32
        yield from value.shape
        yield from value.strides
    else:
        yield value
