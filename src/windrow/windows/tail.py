"""The newest numbers of a stream."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class Tail:
    """A queue of numbers in one array, so that loops can go over it.

    When there is no room behind the newest, the numbers move to the front of an array with room for
    twice as many; so each moves a constant number of times on average.
    """

    def __init__(self) -> None:
        self._room: Array = np.empty(0, np.int64)
        self._begin = self._end = 0

    @property
    def values(self) -> Array:
        """The numbers, oldest first."""
        return self._room[self._begin : self._end]

    def __len__(self) -> int:
        return self._end - self._begin

    def extend(self, values: Array) -> None:
        """Add numbers at the newest end."""
        if not len(self):
            # Taken as they are: of a whole table there is no need to keep a copy.
            self._room, self._begin, self._end = values, 0, len(values)
            return
        if not len(values):
            return
        if self._end + len(values) > len(self._room):
            held = self.values
            self._room = np.empty(2 * (len(held) + len(values)), held.dtype)
            self._room[: len(held)] = held
            self._begin, self._end = 0, len(held)
        self._room[self._end : self._end + len(values)] = values
        self._end += len(values)

    def drop(self, count: int) -> None:
        """Forget the oldest."""
        self._begin += count
