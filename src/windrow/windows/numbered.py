"""Walks along rows that find the windows of a schedule; and that of windows with numbers.

Rows are sorted by key and time. A window holds rows that follow each other. Windows have names that
grow, and so do their begins and their ends. A walk knows the windows that earlier rows of the same
key have begun, `pending`, and the name of the latest of them. A row brings the windows that hold it
and are later than the latest; it is the first row of each of them. A row that is too late for a
pending window stops it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from windrow.compiler.array_loops import compiled_loop

Array = np.ndarray[Any, Any]

_NONE = np.empty(0, np.int64)


class Walk(ABC):
    """Finds the windows of a schedule that hold some of its rows."""

    @abstractmethod
    def count(self, pending: int = 0, latest: int = 0) -> int:
        """How many windows there are, the pending among them."""

    @abstractmethod
    def fill(
        self, names: Array, firsts: Array, stops: Array, pending: int = 0, latest: int = 0
    ) -> tuple[int, int, int]:
        """Write the windows behind the pending ones.

        Returns how many windows there are, the pending among them; how many of them were stopped,
        while the others have no stop yet; and the name of the latest.
        """

    @abstractmethod
    def all(self, require: Callable[[int], None]) -> tuple[Array, Array, Array]:
        """All windows where all rows are there: their names, firsts and stops.

        `require` refuses so many windows before there is room for them.
        """


@dataclass(frozen=True)
class NumberedWalk(Walk):
    """A walk along rows of which each knows its first and its last window, by number.

    Attributes:
        starts: the rows at which a new key begins (see `key_runs`).
        first, last: of each row; no window holds the row if the last comes before the first.
    """

    starts: Array
    first: Array
    last: Array

    def count(self, pending: int = 0, latest: int = 0) -> int:
        """How many windows there are, the pending among them."""
        return int(self._walk(False, _NONE, _NONE, _NONE, pending, latest)[0])

    def fill(
        self, names: Array, firsts: Array, stops: Array, pending: int = 0, latest: int = 0
    ) -> tuple[int, int, int]:
        """Write the windows behind the pending ones (see `Walk`)."""
        return self._walk(True, names, firsts, stops, pending, latest)

    def all(self, require: Callable[[int], None]) -> tuple[Array, Array, Array]:
        """All windows where all rows are there."""
        room = self.count()
        require(room)
        names, firsts, stops = (np.empty(room, np.int64) for _ in range(3))
        _found, stopped, _latest = self.fill(names, firsts, stops)
        stops[stopped:] = len(self.first)
        return names, firsts, stops

    def _walk(self, *rest: Any) -> tuple[int, int, int]:
        walk = compiled_loop(_numbered)
        return walk(self.starts, self.first, self.last, *rest)  # type: ignore[no-any-return]


def _numbered(
    starts: Array,
    first: Array,
    last: Array,
    fill: bool,
    names: Array,
    firsts: Array,
    stops: Array,
    answer: int,
    latest: int,
) -> tuple[int, int, int]:
    pending = 0
    run = 0
    for row in range(len(first)):
        begins_run = row == starts[run]
        if begins_run:
            run += 1
        if fill:
            while pending < answer and (begins_run or names[pending] < first[row]):
                stops[pending] = row
                pending += 1
        number = first[row]
        if not begins_run:
            number = max(number, latest + 1)
        if not fill:
            answer += max(last[row] + 1 - number, 0)
        while fill and number <= last[row]:
            names[answer] = number
            firsts[answer] = row
            answer += 1
            number += 1
        latest = last[row] if begins_run else max(latest, last[row])
    return answer, pending, latest
