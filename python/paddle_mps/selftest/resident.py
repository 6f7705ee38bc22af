"""How much memory this process has, as the system counts it."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys


def resident() -> int:
    """Bytes: on a Mac the footprint, in which the GPU's memory is counted, elsewhere what is resident."""
    if sys.platform == "darwin":
        return footprint() or listed()
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return listed()


class Usage(ctypes.Structure):
    """rusage_info_v0 of <sys/resource.h>."""

    _fields_ = (
        ("uuid", ctypes.c_uint8 * 16),
        *((name, ctypes.c_uint64) for name in ("user", "system", "idle_wakeups", "interrupts", "pageins", "wired")),
        *((name, ctypes.c_uint64) for name in ("resident", "footprint", "started", "exited")),
    )


def footprint() -> int:
    """ri_phys_footprint of proc_pid_rusage, 0 where that fails."""
    usage = Usage()
    failed = ctypes.CDLL(None).proc_pid_rusage(os.getpid(), 0, ctypes.byref(usage))
    return 0 if failed else int(usage.footprint)


def listed() -> int:
    """What ps says."""
    done = subprocess.run(["ps", "-o", "rss=", "-p", str(os.getpid())], capture_output=True, text=True)
    return int(done.stdout or 0) * 1024
