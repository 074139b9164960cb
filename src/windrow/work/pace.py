"""Long loops in pieces, so that Ctrl-C comes through.

Python sees a signal between two calls of kernels, never inside one. So a kernel gets a piece of its
rows at a time. A piece is a small part of a second long, whatever a row costs: each is larger than
the one before until it takes that long. So a loop of millions of rows is a few dozen calls.

Signals go to the main thread. Others that work for it look here whether it was interrupted.
"""

from __future__ import annotations

import threading
import time

#: rows of the first piece
_FIRST = 2**12
#: each piece has so many times the rows of the one before
_GROWTH = 4
#: how long a piece may take before the next one is no larger, in seconds
_LONG = 0.02
#: and before it is smaller
_TOO_LONG = 0.2

_working = threading.local()


class Stopped(BaseException):
    """Raised in a thread whose work nobody waits for any more."""


def work_until(stop: threading.Event | None) -> threading.Event | None:
    """Let this thread's loops end when an event is set; returns the event before."""
    before: threading.Event | None = getattr(_working, "stop", None)
    _working.stop = stop
    return before


class Pace:
    """How far a loop goes until Python sees signals."""

    def __init__(self) -> None:
        self._size = _FIRST
        self._began = time.perf_counter()
        self._end = -1

    def end(self, begin: int, stop: int) -> int:
        """Where the piece ends that begins here; to be asked before each call of a kernel.

        The kernel may go further, or less far where it has no room.
        """
        waited = getattr(_working, "stop", None)
        if waited is not None and waited.is_set():
            raise Stopped
        now = time.perf_counter()
        took, self._began = now - self._began, now
        # A piece that a kernel left because it had no room says nothing of how long one takes.
        if 0 <= self._end <= begin and took < _LONG:
            self._size *= _GROWTH
        elif self._end >= 0 and took > _TOO_LONG:
            self._size = max(self._size // _GROWTH, 1)
        self._end = min(begin + self._size, stop)
        return self._end
