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


_current = [Generator()]


def generate(key: str) -> str:
    """The key with a number that no name of this key has had: `fc_0`, then `fc_1`."""
    return _current[-1](key)


def switch(new_generator: Generator | None = None, new_para_name_checker: object = None) -> tuple[Generator, None]:
    """Counts with another generator, a new one by default, from now on; returns the one before, which can be given back.

    Args:
        new_para_name_checker: has no effect; Paddle's static programs need it.
    """
    before = _current[-1]
    _current[-1] = Generator() if new_generator is None else new_generator
    return before, None


@contextlib.contextmanager
def guard(new_generator: str | bytes | Generator | None = None) -> Iterator[None]:
    """Within the block names are counted from 0, with a prefix if a text is given."""
    if isinstance(new_generator, (str, bytes)):
        prefix = new_generator.decode() if isinstance(new_generator, bytes) else new_generator
        new_generator = Generator(prefix)
    _current.append(Generator() if new_generator is None else new_generator)
    try:
        yield
    finally:
        _current.pop()


def snake_case(name: str) -> str:
    """The name of a class as layers are named after it: BatchNorm2D is batch_norm2d, PReLU is p_re_lu."""
    words = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", words).lower()
