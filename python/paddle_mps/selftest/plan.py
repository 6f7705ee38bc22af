"""What there is to run: devices, and the sections that say something on each."""

from __future__ import annotations

import dataclasses
import os
import sys


@dataclasses.dataclass(frozen=True)
class Target:
    """A device and the way to it.

    Attributes:
        name: for people, "mps by MPSGraph".
        place: for tensors, "mps".
        backend: "host" or "metal".
        env: what its processes have in their environment besides that of this one.
    """

    name: str
    place: str
    backend: str
    env: dict[str, str]


# The sections of the report in order, and whether each is run on a target.
SECTIONS = ("census", "bring-up", "conformance", "accuracy", "probes", "leaks", "speed")


def wanted(section: str, target: Target) -> bool:
    if section == "census":
        return target.backend == "metal" and "PADDLE_MPS_PREFER" not in target.env
    if section == "bring-up":
        return target.place == "mps" and "PADDLE_MPS_PREFER" not in target.env
    if section in ("leaks", "speed"):
        return "PADDLE_MPS_PREFER" not in target.env
    return True


def base() -> dict[str, str]:
    """What all processes have: on Apple silicon the GPU is asked for, unless the user has said what to use."""
    if sys.platform == "darwin" and "PADDLE_MPS_DEVICE" not in os.environ:
        return {"PADDLE_MPS_DEVICE": "metal"}
    return {}


def targets(backends: dict[str, str]) -> list[Target]:
    """What to check, of the places that a process with `base` found: all of them, MPSGraph also where shaders
    of our own would be preferred, and the emulated device where there is no GPU."""
    cpu, backend = Target("cpu", "cpu", backends["cpu"], base()), backends.get("mps:0")
    if backend is None:
        return [Target("emulated mps", "mps", "host", {"PADDLE_MPS_DEVICE": "host"}), cpu]
    found = [Target("mps" if backend == "metal" else "emulated mps", "mps", backend, base())]
    if backend == "metal" and "PADDLE_MPS_PREFER" not in os.environ:
        found.append(Target("mps by MPSGraph", "mps", backend, {**base(), "PADDLE_MPS_PREFER": "mpsgraph"}))
    return [*found, cpu]
