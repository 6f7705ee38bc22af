"""The bytes of a file that is not trusted.

Every read says how much it wants and is compared with what the file still has before memory is allocated, so
that a small file cannot ask for gigabytes. Every error names the file and the byte at which it was found.
"""

from __future__ import annotations

import os
from io import BufferedReader, BufferedWriter, BytesIO
from typing import Any, Union

import numpy as np

# A payload. Large ones are read into arrays, where the elements stay.
Payload = Union[bytes, "np.ndarray[Any, Any]"]
LARGE = 4096  # bytes; a smaller payload costs less as a bytes object
CHUNK = 1 << 16  # bytes that are read at a time, because most pieces have a few

Readable = Union[BufferedReader, BytesIO]
Writable = Union[BufferedWriter, BytesIO]


class Source:
    """A file from its current position on.

    Attributes:
        at: the position of the next byte, from the beginning of the file.
        size: bytes from the first position to the end of the file.
    """

    __slots__ = ("_chunk", "_file", "_start", "at", "end", "name", "size")

    def __init__(self, file: Readable, name: str) -> None:
        self._file, self.name = file, name
        self.at = file.tell()
        self.end = file.seek(0, os.SEEK_END)
        self.size = self.end - self.at
        self._chunk, self._start = b"", self.at  # what was read last, and its position

    def error(self, what: str, at: int | None = None) -> ValueError:
        """What is wrong at a byte; None: at the next one."""
        return ValueError(f"[load] {self.name}, byte {self.at if at is None else at}: {what}")

    def _claim(self, count: int, what: str) -> None:
        left = self.end - self.at
        if not 0 <= count <= left:
            raise self.error(f"got {what} of {count} bytes; want at most {left}, which the file still has")

    def take(self, count: int, what: str) -> bytes:
        """The next bytes.

        Raises:
            ValueError: the file ends before.
        """
        self._claim(count, what)
        begin = self.at - self._start
        data = self._chunk[begin : begin + count]
        if len(data) != count:
            self._file.seek(self.at)
            self._chunk, self._start = self._file.read(max(count, min(CHUNK, self.end - self.at))), self.at
            data = self._chunk[:count]
            if len(data) != count:  # the file has become shorter meanwhile
                raise self.error(f"the file ends in {what}", self.at + len(data))
        self.at += count
        return data

    def byte(self, what: str) -> int:
        """The next byte."""
        begin = self.at - self._start
        if begin < len(self._chunk):
            self.at += 1
            return self._chunk[begin]
        return self.take(1, what)[0]

    def leave(self) -> None:
        """Puts the file behind what was taken."""
        self._file.seek(self.at)

    def number(self, count: int, what: str) -> int:
        """An unsigned little-endian integer of that many bytes."""
        return int.from_bytes(self.take(count, what), "little")

    def payload(self, count: int, what: str) -> Payload:
        """The next bytes; many as an array, into which they are read without another copy."""
        if count < LARGE:
            return self.take(count, what)
        self._claim(count, what)
        array: np.ndarray[Any, Any] = np.empty(count, np.uint8)
        rest = array.data
        self._file.seek(self.at)
        while rest:
            read = self._file.readinto(rest)
            if not read:
                raise self.error(f"the file ends in {what}")
            self.at += read
            rest = rest[read:]
        return array

    def line(self, limit: int, what: str) -> bytes:
        """The bytes before the next newline, which is skipped."""
        self._file.seek(self.at)
        data = self._file.readline(limit)
        if not data.endswith(b"\n"):
            raise self.error(f"got {what} without an end; want a newline within {limit} bytes")
        self.at += len(data)
        return data[:-1]


__all__ = ["Payload", "Readable", "Source", "Writable"]
