"""The environment section: what machine, system, Python, library and devices these are."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from typing import Any

import numpy as np

import paddle_mps as paddle

from .._core._errors import DeviceError
from .._core._library import find, library
from .._core._place import device_name
from .._devices._device import properties_of
from .._devices._random import all_places
from .recorder import Recorder

# Variables that change what the library or Apple's frameworks do.
VARIABLES = re.compile(r"PADDLE_MPS_|MPS_|TRITON_MPS_|MTL_|METAL_|FAKEMETAL_|GODEBUG$|GOMAXPROCS$|OMP_NUM_THREADS$")


def facts() -> dict[str, str]:
    """What a report of a problem should say, by title."""
    return {
        "paddle_mps": paddle.__version__,
        "library": f"{library.pmps_version().decode()} at {find()}",
        "system": system(),
        "machine": f"{platform.machine()}, {processor()}, {os.cpu_count()} CPUs",
        "Python": f"{platform.python_version()} ({platform.python_implementation()}, {platform.machine()}"
        + (", under Rosetta)" if rosetta() else ")"),
        "NumPy": np.__version__,
        **devices(),
        "environment": ", ".join(f"{k}={v}" for k, v in sorted(os.environ.items()) if VARIABLES.match(k))
        or "nothing set",
    }


def system() -> str:
    """The operating system and its build: macOS 15.2 (24C101), Debian GNU/Linux 12."""
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]} ({said('sw_vers', '-buildVersion')})"
    try:
        with open("/etc/os-release", encoding="utf-8") as release:
            name = re.search(r'^PRETTY_NAME="?([^"\n]*)', release.read(), re.MULTILINE)
    except OSError:
        name = None
    return f"{name.group(1) if name else platform.system()}, {platform.system()} {platform.release()}"


def processor() -> str:
    """What the CPU calls itself; on a Mac that names the GPU as well."""
    if sys.platform == "darwin":
        return said("sysctl", "-n", "machdep.cpu.brand_string")
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            name = re.search(r"^model name\s*: (.*)", info.read(), re.MULTILINE)
    except OSError:
        name = None
    return name.group(1) if name else platform.processor() or "unknown processor"


def rosetta() -> bool:
    """Whether an x86-64 Python runs on Apple silicon."""
    return sys.platform == "darwin" and said("sysctl", "-n", "sysctl.proc_translated") == "1"


def said(*command: str) -> str:
    """The output of a program of the system's, "" where there is none."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def devices() -> dict[str, str]:
    """All devices, or why there is no mps."""
    found = {}
    for place in all_places():
        p = properties_of(place)
        family = f", GPU family Apple{p.major}" if p.backend == "metal" else ""
        memory = f"{p.total_memory / 2**30:.1f} GiB, {p.recommended_memory / 2**30:.1f} GiB recommended"
        found[device_name(place)] = f"{p.name}, backend {p.backend}{family}, {memory}"
    if not paddle.is_available():
        try:
            paddle.mps.get_device_properties(0)
        except DeviceError as error:
            found["mps"] = str(error).removeprefix("mps is ")  # which the title says
    return found


def text() -> str:
    """The facts as lines."""
    return "\n".join(f"{title}: {value}" for title, value in facts().items())


def run(record: Recorder, _place: str, _quick: bool) -> None:
    """Records the facts, and the backend of each place, which decides what is run."""
    record.doing("environment")
    record.number("facts", facts())
    backends: dict[str, Any] = {device_name(p): properties_of(p).backend for p in all_places()}
    record.number("backends", backends)
