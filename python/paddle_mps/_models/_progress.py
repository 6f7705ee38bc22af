"""A line about work that takes longer than a second, for the commands. It is for people: where the standard error is no terminal,
nothing is written.

    with Progress("compiling") as bar:
        ...
        bar.done(0.5)  # the share that is done, where that is known
"""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TextIO

AFTER = 1.0  # seconds without a line
EVERY = 0.2  # seconds between two
WIDTH = 30  # of the bar


class Progress:
    """Shows a bar until the end of the block: how much is done, or a mark that moves where that is not known.

    Args:
        what: what is being done, such as `compiling`.
        out: where the line goes; None: the standard error.
    """

    def __init__(self, what: str, out: TextIO | None = None) -> None:
        self._what, self._out = what, sys.stderr if out is None else out
        self._share: float | None = None
        self._begun, self._ended = time.monotonic(), threading.Event()
        self._shown = False
        self._thread = threading.Thread(target=self._show, name="paddle_mps progress", daemon=True)

    def __enter__(self) -> Progress:
        if self._out.isatty():
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()
        if self._shown:
            self._out.write("\r\x1b[K")  # the line was for the meantime
            self._out.flush()

    def done(self, share: float) -> None:
        """Says how much is done, from 0 to 1."""
        self._share = min(max(share, 0.0), 1.0)

    def _show(self) -> None:
        """The thread that writes the line anew."""
        wait = AFTER
        while not self._ended.wait(wait):
            wait = EVERY
            self._shown = True
            self._out.write("\r" + self._line(time.monotonic() - self._begun) + "\x1b[K")
            self._out.flush()

    def _line(self, seconds: float) -> str:
        """The line after so many seconds."""
        if self._share is None:
            at = int(seconds / EVERY) % (2 * WIDTH - 2)
            bar = " " * min(at, 2 * WIDTH - 2 - at) + "#"
            return f"{self._what} [{bar:<{WIDTH}}] {seconds:.0f} s"
        return f"{self._what} [{'#' * int(WIDTH * self._share):<{WIDTH}}] {self._share:.0%}, {seconds:.0f} s"
