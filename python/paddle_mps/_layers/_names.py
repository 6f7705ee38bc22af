"""Names of layers and parameters: a key and how often it was used, as `linear_0.w_0`.

Files of optimizers are keyed by the names of parameters, so the numbers have to be those that Paddle gives in the same program.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator


class Generator:
    """Counts keys, with a prefix before each name."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.counts: dict[str, int] = {}

    def __call__(self, key: str) -> str:
        number = self.counts.get(key, 0)
        self.counts[key] = number + 1
        return f"{self.prefix}{key}_{number}"


class Taken:
    """The names that parameters have had."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __call__(self, name: str) -> bool:
        """Whether a parameter has had this name, which it has from now on."""
        known = name in self.names
        self.names.add(name)
        return known


_current = [Generator()]
_taken = [Taken()]


def generate(key: str) -> str:
    """The key with a number that no name of this key has had: `fc_0`, then `fc_1`."""
    return _current[-1](key)


def take(name: str) -> None:
    """Gives a name to a parameter. What optimizers keep has the name too, so two parameters of one would share it.

    Raises:
        ValueError: a parameter has it already.
    """
    if _taken[-1](name):
        raise ValueError(
            f"[create_parameter] a parameter is named {name!r} already; want another name, or None for one with a number"
        )


def switch(
    new_generator: Generator | None = None, new_para_name_checker: Taken | None = None
) -> tuple[Generator, Taken]:
    """Counts with another generator, a new one by default, from now on; returns what was in use, which can be given back.

    Args:
        new_para_name_checker: the names that parameters have had; none by default.
    """
    before = _current[-1], _taken[-1]
    _current[-1] = Generator() if new_generator is None else new_generator
    _taken[-1] = Taken() if new_para_name_checker is None else new_para_name_checker
    return before


@contextlib.contextmanager
def guard(new_generator: str | bytes | Generator | None = None) -> Iterator[None]:
    """Within the block names are counted from 0, with a prefix if a text is given, and no name is taken."""
    if isinstance(new_generator, (str, bytes)):
        prefix = new_generator.decode() if isinstance(new_generator, bytes) else new_generator
        new_generator = Generator(prefix)
    _current.append(Generator() if new_generator is None else new_generator)
    _taken.append(Taken())
    try:
        yield
    finally:
        _current.pop()
        _taken.pop()


def snake_case(name: str) -> str:
    """The name of a class as layers are named after it: BatchNorm2D is batch_norm2d, PReLU is p_re_lu."""
    words = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", words).lower()
