"""Long loops in pieces, so that Ctrl-C comes through.

Python sees a signal between two calls of kernels, never inside one. So a kernel gets a piece of its
rows at a time. Pieces grow until one takes 20 ms, whatever a row costs. So a loop of millions of
rows is a few dozen calls.

Signals go to the main thread. Other threads check here whether it was interrupted.
"""

from __future__ import annotations

import threading
import time

#: rows of the first piece
_FIRST = 2**12
#: how many times larger the next piece is
_GROWTH = 4
#: pieces grow while one takes less than so many seconds
_LONG = 0.02
#: pieces shrink when one takes more than so many seconds
_TOO_LONG = 0.2

_working = threading.local()


class Stopped(BaseException):
    """Raised in a thread whose work nobody waits for any more."""


def work_until(stop: threading.Event | None) -> threading.Event | None:
    """End this thread's loops when an event is set; returns the event that was there before."""
    before: threading.Event | None = getattr(_working, "stop", None)
    _working.stop = stop
    return before


class Pace:
    """How far a loop goes before Python sees signals again."""

    def __init__(self) -> None:
        self._size = _FIRST
        self._began = time.perf_counter()
        self._end = -1

    def end(self, begin: int, stop: int) -> int:
        """The end of the piece that begins here; ask before each call of a kernel.

        The kernel may go further, or stop earlier where it has no room.
        """
        waited = getattr(_working, "stop", None)
        if waited is not None and waited.is_set():
            raise Stopped
        now = time.perf_counter()
        took, self._began = now - self._began, now
        # A piece that ended early, for lack of room, says nothing about how long one takes.
        if 0 <= self._end <= begin and took < _LONG:
            self._size *= _GROWTH
        elif self._end >= 0 and took > _TOO_LONG:
            self._size = max(self._size // _GROWTH, 1)
        self._end = min(begin + self._size, stop)
        return self._end
