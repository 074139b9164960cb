"""Windows to which rows come back: months end on different days, and clocks go back.

One month before March 28, 23:00 is February 28, 23:00. One month before March 29, 1:00 is February
28, 1:00: rows between the two had left, and are back. So a window keeps rows for as long as they
may come back, and answers over the newest of them:

    kept       [. . . . . . . . . . . .]
    asked            [. . . . . . . . .]     row

Invariants:

1. 1 <= counts <= kept: a window holds its own row.
2. From one row of a run to the next, kept grows by one at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from windrow.algebra.arrays import read_only
from windrow.compiler.array_loops import compiled_loop
from windrow.windows.bounds import Bounding, Bounds, begun_anew, rows_before
from windrow.windows.key_rows import KeyRows, later
from windrow.windows.reach import Firsts, Past, Reach
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.tail import Tail

Array = np.ndarray[Any, Any]
#: from the times of rows to those behind which their windows hold rows, and keep them
Since = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Returning(Reach):
    """The newest rows, as many as are counted for each row, of those that are kept.

    Attributes:
        counts: how many rows each row's window holds.
        kept: how many it keeps, so that rows can come back.
        since: from times to those behind which rows are held, and kept.
        longest: no row is kept for more ticks than this.
    """

    counts: Array
    kept: Array
    since: Since
    longest: int

    def oldest(self, runs: Array, row: int) -> int:
        """The oldest row that the window of one row keeps."""
        return row + 1 - int(self.kept[row])

    def firsts(self, runs: Array, stops: Array) -> Array:
        """The oldest row of each answer."""
        firsts: Array = stops - self.counts[stops - 1]
        return firsts

    def follow(
        self, past: Past, rows: SortedRows, runs: Array, stops: Array, stride: int
    ) -> Firsts:
        """The oldest row of each answer, in batches: an answer is of a row of its batch."""
        if rows.size:
            past.held = int(self.kept[-1])
        front = rows.size - past.held
        return Firsts(self.firsts(runs, stops), front, np.arange(max(front, 0), rows.size))

    def fronts(self, runs: Array, rows: KeyRows, frontier: int, waits: bool) -> tuple[Array, Array]:
        """The rows that a row at the frontier would keep, until none of them may come back."""
        oldest = int(self.since(np.array([frontier]))[1][0]) + 1
        return rows.first_not_before(oldest), later(rows.last_times, self.longest)


class RowsSince(Bounding):
    """The rows behind a time that each row's own time gives, which may go back."""

    def __init__(self, since: Since, longest: int) -> None:
        """What is kept may come back, and is not kept for more ticks than the `longest`."""
        self._since, self._longest = since, longest
        self._timed = np.ones(1, np.bool_)
        #: the times of the rows that are kept of the last run
        self._times = Tail()

    def of(self, rows: SortedRows, held: Array | None = None) -> Bounds:
        """The bounds of the next rows; a key's null times are a run of their own."""
        runs, times = rows.runs, rows.times
        if not (rows.all_timed and self._timed.all()):
            timed, self._timed = rows_before(self._timed, rows.timed)
            runs = begun_anew(runs, timed != rows.timed)
        kept_before = len(self._times)
        self._times.extend(times)
        counts, kept = np.empty((2, rows.size), np.int64)
        first = compiled_loop(_count_since)(
            runs, read_only(self._times.values), kept_before,
            *self._since(times), counts, kept,
        )  # fmt: skip
        self._times.drop(first)
        return Bounds(runs, Returning(counts, kept, self._since, self._longest))


def _count_since(
    starts: Array, times: Array, before: int, asked_since: Array, kept_since: Array,
    counts: Array, kept: Array,
) -> int:  # fmt: skip
    run = 0
    first = 0
    for row in range(len(counts)):
        place = before + row
        if row == starts[run]:
            first = place
            run += 1
        while first < place and times[first] <= kept_since[row]:
            first += 1
        kept[row] = place - first + 1
        low = first
        high = place
        while low < high:
            middle = (low + high) // 2
            if times[middle] <= asked_since[row]:
                low = middle + 1
            else:
                high = middle
        counts[row] = place - low + 1
    return first
