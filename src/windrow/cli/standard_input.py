"""The standard input, which a program can read only once.

A small one is held and read as often as a file would be:

    held = [ all of it ]                   opened() -> held, as often as asked
    held = [ the first bytes ] + the rest  opened() -> held + the rest, once
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from typing import Any, BinaryIO


class StandardInput:
    """The bytes that are piped into the command."""

    def __init__(self) -> None:
        self._held = b""
        self._whole = self._read = False

    def fits(self, size: int) -> bool:
        """Whether it has at most so many bytes; then it can be read again."""
        if not self._whole:
            self._held += _source().read(size + 1 - len(self._held))
            self._whole = len(self._held) <= size
        return self._whole

    def opened(self) -> BinaryIO:
        """All of its bytes, in order."""
        if self._whole:
            return io.BytesIO(self._held)
        if self._read:
            raise OSError(
                0, "it can be read only once, and these statements need it twice; give a file"
            )
        self._read = True
        return Joined(self._held, _source())  # type: ignore[return-value]


def _source() -> Any:
    if sys.stdin is None:
        raise OSError(0, "it is closed")
    return sys.stdin.buffer


class Joined(io.RawIOBase):
    """What was read of a source, and then the rest of it."""

    def __init__(self, head: bytes, source: Any) -> None:
        super().__init__()
        self._head, self._source = memoryview(head), source

    def readable(self) -> bool:
        """It is only read."""
        return True

    def read(self, size: int = -1) -> Any:
        """The next bytes."""
        if not self._head:
            return self._source.read(size)
        found = self._head[:size] if size >= 0 else self._head
        self._head = self._head[len(found) :]
        if len(found) == size:
            return found
        return bytes(found) + self._source.read(size - len(found) if size >= 0 else -1)


def copied(source: Any) -> BinaryIO:
    """The bytes of a source, where they can be read in any order."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115 - whoever reads it closes it
    shutil.copyfileobj(source, copy)
    copy.seek(0)
    return copy
