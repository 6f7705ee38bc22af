"""A progress bar on standard error; nothing where that is no terminal."""

from __future__ import annotations

import shutil
import sys
from typing import TextIO

WIDTH = 24


class Bar:
    """One line that is written anew.

    Args:
        out: where; by default standard error.
    """

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = sys.stderr if out is None else out
        self._shown = self._out.isatty()

    def show(self, title: str, share: float, doing: str) -> None:
        """Shows how much of something is done, from 0 to 1, and what is going on."""
        if not self._shown:
            return
        filled = int(WIDTH * min(max(share, 0.0), 1.0))
        line = f"{title:<30} [{'#' * filled}{'.' * (WIDTH - filled)}] {doing}"
        self._out.write("\r" + line[: shutil.get_terminal_size().columns - 1] + "\x1b[K")
        self._out.flush()

    def say(self, line: str) -> None:
        """Writes a line that stays."""
        self._out.write(("\r\x1b[K" if self._shown else "") + line + "\n")
        self._out.flush()
