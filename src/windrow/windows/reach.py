"""How far back a window reaches: the three ways to say which rows an answer holds.

A kind of window turns sorted rows into bounds (see `bounds`). Those have a reach:

    Newest(count)             the newest rows, as many as `count`
      Growing                 all of them: none leaves
    Behind(measure, amount)   the rows whose measure lies less than `amount` behind the newest's
      Younger                 the same by time: the measure only grows
    Counted(counts)           as many rows as are counted for each row

All that is asked of windows follows from the reach, for every kind alike: the oldest row of each
answer, and the oldest row that an answer to come may hold. An answer is known by its stop, the row
behind its newest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from windrow.algebra.arrays import read_only
from windrow.windows import walks
from windrow.windows.key_rows import KeyRows, later
from windrow.windows.key_runs import NEVER
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.tail import Tail

Array = np.ndarray[Any, Any]

#: more rows or ticks than any table has
UNLIMITED = 2**63 - 1
#: before all times
EARLIEST = -(2**63)
_NO_ROWS = np.empty(0, np.int64)


@dataclass
class Past:
    """What a window's answers need to know of earlier batches.

    Attributes:
        begun: where the last run began, before the next batch's first row; None if there was none.
        held: how many rows the window of the last row held.
        measures: those of the rows in the window.
    """

    begun: int | None = None
    held: int = 0
    measures: Tail = field(default_factory=Tail)


@dataclass(frozen=True)
class Firsts:
    """The oldest row of each answer, and what answers to come may hold.

    Attributes:
        firsts: the oldest row of each answer.
        front: the oldest row that an answer to come may hold.
        openings: the rows of this batch at which answers to come may begin.
    """

    firsts: Array
    front: int
    openings: Array = field(default_factory=lambda: _NO_ROWS)


class Reach(ABC):
    """How far back the windows of some rows reach; `runs` are where a window begins anew."""

    @abstractmethod
    def oldest(self, runs: Array, row: int) -> int:
        """The oldest row in the window of one row."""

    @abstractmethod
    def firsts(self, runs: Array, stops: Array) -> Array:
        """The oldest row of each answer, where all rows are there."""

    @abstractmethod
    def follow(
        self, past: Past, rows: SortedRows, runs: Array, stops: Array, stride: int
    ) -> Firsts:
        """The oldest row of each answer, where rows come in batches; the past moves on.

        Answers end a whole number of strides behind the key's first row.
        """

    @abstractmethod
    def fronts(self, runs: Array, rows: KeyRows, frontier: int, waits: bool) -> tuple[Array, Array]:
        """Of each key, the oldest row that answers to come may hold, and until when they may.

        Rows to come are not before the frontier. With `waits`, the answer at a key's last row may
        still be to come.
        """


@dataclass(frozen=True)
class Newest(Reach):
    """The newest rows of a run."""

    count: int = UNLIMITED

    def oldest(self, runs: Array, row: int) -> int:
        """The oldest row in the window of one row."""
        return max(_run_of(runs, row), row - self.count + 1)

    def firsts(self, runs: Array, stops: Array) -> Array:
        """The oldest row of each answer."""
        return walks.newest(runs, stops, self.count)

    def follow(
        self, past: Past, rows: SortedRows, runs: Array, stops: Array, stride: int
    ) -> Firsts:
        """The oldest row of each answer, in batches."""
        if past.begun is not None:
            runs = np.append([past.begun], runs)
        begun = int(runs[-2]) if len(runs) > 1 else 0
        past.begun = begun - rows.size
        front = max(begun, rows.size - self.count)
        return Firsts(self.firsts(runs, stops), front, self._openings(rows, begun, front, stride))

    def _openings(self, rows: SortedRows, begun: int, front: int, stride: int) -> Array:
        """The last run's first row, and the rows so many before the ends of answers to come."""
        # Where a key begins, rows are cut anyway.
        first = np.array([begun] if begun > max(rows.open_start, -1) else [], np.int64)
        if self.count == UNLIMITED:
            return first
        opening = rows.open_start + -self.count % stride
        opening += max(-(-(max(front, 0) - opening) // stride), 0) * stride
        return np.append(first, np.arange(min(opening, rows.size), rows.size, stride))

    def fronts(self, runs: Array, rows: KeyRows, frontier: int, waits: bool) -> tuple[Array, Array]:
        """The rows that the next row sees, and one more if an answer waits."""
        begun = runs[np.searchsorted(runs, rows.stops - 1, "right") - 1]
        fronts = np.maximum(begun, rows.stops - (self.count - 1 + waits))
        return fronts, np.full(rows.count, NEVER)


@dataclass(frozen=True)
class Growing(Newest):
    """All rows of a run so far: none leaves before the window begins anew."""


@dataclass(frozen=True)
class Behind(Reach):
    """The rows whose measure lies less than an amount behind the newest row's.

    A row that has left does not come back, also where the measure does not only grow.
    """

    measure: Array
    amount: Any

    def oldest(self, runs: Array, row: int) -> int:
        """The oldest row in the window of one row."""
        return int(self.firsts(runs, np.array([row + 1]))[0])

    def firsts(self, runs: Array, stops: Array) -> Array:
        """The oldest row of each answer."""
        return walks.less_behind(runs, stops, self.measure, self.amount)[0]

    def follow(
        self, past: Past, rows: SortedRows, runs: Array, stops: Array, stride: int
    ) -> Firsts:
        """The oldest row of each answer, in batches: measures of rows in the window are kept."""
        held = len(past.measures)
        past.measures.extend(self.measure)
        shifted = runs.copy()
        shifted[:-1] += held
        measures = read_only(past.measures.values)
        firsts, first = walks.less_behind(shifted, stops + held, measures, self.amount, held)
        past.measures.drop(first)
        front = first - held
        return Firsts(firsts - held, front, np.arange(max(front, 0), rows.size))

    def fronts(self, runs: Array, rows: KeyRows, frontier: int, waits: bool) -> tuple[Array, Array]:
        """The rows in the window of the last row: whatever comes may be no further ahead."""
        return self.firsts(runs, rows.stops), np.full(rows.count, NEVER)


class Younger(Behind):
    """The rows that are less than some ticks older; `measure` are times."""

    def oldest(self, runs: Array, row: int) -> int:
        """The oldest row in the window of one row."""
        run = _run_of(runs, row)
        limit = max(int(self.measure[row]) - self.amount, EARLIEST)
        return run + int(np.searchsorted(self.measure[run:row], limit, side="right"))

    def fronts(self, runs: Array, rows: KeyRows, frontier: int, waits: bool) -> tuple[Array, Array]:
        """The rows that a row at the frontier would see, until time has passed the last of them."""
        oldest = max(frontier - self.amount + 1, EARLIEST)
        return rows.first_not_before(oldest), later(rows.last_times, self.amount)


@dataclass(frozen=True)
class Counted(Reach):
    """As many rows as are counted for each row; a count of 0 is a window without rows."""

    counts: Array

    def oldest(self, runs: Array, row: int) -> int:
        """The oldest row in the window of one row."""
        return row + 1 - max(int(self.counts[row]), 1)

    def firsts(self, runs: Array, stops: Array) -> Array:
        """The oldest row of each answer."""
        firsts: Array = stops - self.counts[stops - 1]
        return firsts

    def follow(
        self, past: Past, rows: SortedRows, runs: Array, stops: Array, stride: int
    ) -> Firsts:
        """The oldest row of each answer, in batches."""
        counts = np.append([past.held], self.counts)
        past.held = int(counts[-1])
        front = rows.size - past.held
        return Firsts(stops - counts[stops], front, np.arange(max(front, 0), rows.size))

    def fronts(self, runs: Array, rows: KeyRows, frontier: int, waits: bool) -> tuple[Array, Array]:
        """The rows in the window of the last row."""
        return self.firsts(runs, rows.stops), np.full(rows.count, NEVER)


def _run_of(runs: Array, row: int) -> int:
    """The first row of the run that a row is in."""
    return int(runs[np.searchsorted(runs, row, side="right") - 1])
