"""The function that a program called, for errors of what many functions share: a dtype, a shape, a whole number."""

from __future__ import annotations

import sys
from types import FrameType

PACKAGE = __name__.partition(".")[0]

NESTED = 0x10  # inspect.CO_NESTED, without a module that takes its time to import

# Modules whose functions convert arguments and make calls for others, and those that are programs themselves.
SHARED = {
    f"{PACKAGE}.{name}"
    for name in (
        "_calls._call", "_calls._complex", "_core._builtin", "_core._caller", "_core._convert", "_core._dtype",
        "_core._errors", "_core._place", "_core._worker", "func", "incubate.autograd",
    )
}  # fmt: skip
PROGRAMS = f"{PACKAGE}.selftest"

# What methods with special names are called in errors. An expression is known by its operator, as are `add` and `less_than`.
SPECIAL = {"__getitem__": "index", "__setitem__": "setitem", "__call__": "", "forward": ""}
for _name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
    SPECIAL.update({f"__{kind}{_name}__": "" for kind in ("", "r", "i")})
SPECIAL.update({f"__{_name}__": "" for _name in "eq ne lt le gt ge neg pos abs invert".split()})


def called(default: str) -> str:
    """The name of the function that the program called: the outermost one of this package on the stack.

    A function that calls another one is the one that the program knows. This looks at the stack, which takes microseconds:
    it is for errors only, and spares each conversion an argument.

    Args:
        default: the name if no function of the package is on the stack, as for an operator that is called by itself.
    """
    found = default
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and ours(frame):
        found = name_of(frame) or found
        frame = frame.f_back
    return found


def ours(frame: FrameType) -> bool:
    """Whether a function is one of the package."""
    module = frame.f_globals.get("__name__") or ""
    return module.partition(".")[0] == PACKAGE and not module.startswith(PROGRAMS)


def name_of(frame: FrameType) -> str:
    """The name under which programs know a function; empty if they do not."""
    name = frame.f_code.co_name
    if name == "wrapper":  # of a decorator, which names the function so
        return getattr(frame.f_locals.get("function"), "__name__", "")
    if frame.f_globals["__name__"] in SHARED or name.startswith("<") or frame.f_code.co_flags & NESTED:
        return ""  # what a function defines for itself, as func.grad does, has a name that programs do not know
    if name in ("__init__", "__new__"):
        made = frame.f_locals.get(frame.f_code.co_varnames[0])
        return (made if isinstance(made, type) else type(made)).__name__
    name = SPECIAL.get(name, name)
    return name.strip("_") if name.startswith("__") else "" if name.startswith("_") else name


def axes_text(count: int) -> str:
    """A number of axes in a message: "1 axis", "2 axes"."""
    return f"{count} {'axis' if count == 1 else 'axes'}"


def axis_text(count: int) -> str:
    """What an axis of so many may be, in a message."""
    return "0 or -1" if count == 1 else f"one of the {count} axes"


def dimensions_text(count: int) -> str:
    """A number of dimensions in a message."""
    return f"{count} {'dimension' if count == 1 else 'dimensions'}"
