"""The probes section: what devices and their drivers are known to get wrong, each tried on purpose.

A probe is a function of a place that raises AssertionError; its first line says what it tries. Expected
values are integers, or powers of two, wherever they can be: then every device must answer them exactly.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import arithmetic, hardware, huge, layouts, ordering
from .recorder import Recorder

Probe = Callable[[str], None]

PROBES: list[Probe] = [*hardware.PROBES, *arithmetic.PROBES, *ordering.PROBES, *layouts.PROBES]


def run(record: Recorder, place: str, quick: bool) -> None:
    """Tries all probes; with quick, all but the huge ones."""
    probes = PROBES if quick else [*PROBES, *huge.PROBES]
    record.expect(len(probes))
    for probe in probes:
        record.check(probe.__name__.replace("_", " "), lambda probe=probe: explained(probe, place))  # type: ignore[misc]


def explained(probe: Probe, place: str) -> None:
    """Runs a probe, whose failure begins with what it tries."""
    try:
        with np.errstate(all="ignore"):
            probe(place)
    except AssertionError as error:
        what: Any = probe.__doc__
        raise AssertionError(f"{what.splitlines()[0].rstrip('.')}: {error}") from None
